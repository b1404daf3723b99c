import type { HarnError } from '../../base/harn-error.ts';
import type { Instant } from '../../base/instant.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Palette } from '../../diagnostics/render.ts';
import { nextTick, scheduleProblem } from '../../lifecycle/cron.ts';
import { folderFacts } from '../../lifecycle/list-workers.ts';
import { snapshotPathOfTarget } from '../../lifecycle/resume-subject.ts';
import { readWorkerHead, type WorkerHead } from '../../lifecycle/worker-head.ts';
import type { Platform } from '../../platform/platform.ts';
import { operatorTarget } from '../../runtime/agents/agent-resume.ts';
import { judgeResume, type ProgramReport, type ResumeVerdict, refusalReason, refusalText } from '../../runtime/agents/resume-verdict.ts';
import { snapshotError } from '../../store/snapshot-error.ts';
import { displayPath } from '../../store/state-root.ts';
import { workerFileSet } from '../../store/worker-folder.ts';
import { EXIT } from '../exit-codes.ts';
import { type Operator, type OperatorOutcome, runAsOperator } from '../operator.ts';
import { paletteFor } from '../palette.ts';
import { quoteForShell } from '../park-hint.ts';
import { textDifference } from '../text-difference.ts';
import { wakeLines } from '../wake-text.ts';
import { listingJson } from '../worker-json.ts';
import { ageText, processText } from '../worker-text.ts';
import { wrapText } from '../wrap.ts';

export interface WhyOptions {
  readonly json?: string | true | undefined;
  readonly suspension?: string | true | undefined;
}

/**
 * `harn workers why`: what will wake a worker, when and by whom, what changed in its script, and whether a resume would
 * be accepted now. Asks nobody and changes nothing. @returns the exit code: 1 when a resume would be refused
 */
export function whyCommand(platform: Platform, worker: string, options: WhyOptions): Promise<number> {
  return runAsOperator(platform, options, async (operator) => {
    const suspensionId = typeof options.suspension === 'string' ? options.suspension : undefined;
    const facts = await gather(operator, worker, suspensionId);
    return { ...(await explained(operator, facts)), exitCode: facts.verdict.refusal === undefined ? EXIT.success : EXIT.failure };
  });
}

interface Facts {
  readonly head: WorkerHead;
  readonly scheduledAt: Instant | undefined;
  /** Records of its topic that came after the park. */
  readonly waitingRecords: number;
  readonly verdict: ResumeVerdict;
}

async function gather({ platform, host, lifecycle }: Operator, worker: string, suspensionId: string | undefined): Promise<Facts> {
  const target = operatorTarget(host, worker, suspensionId);
  const snapshotPath = snapshotPathOfTarget(lifecycle, target);
  const found = workerFileSet(platform.files, snapshotPath);
  const facts = await folderFacts(platform, lifecycle.locations, [found]);
  const head = readWorkerHead(platform, found, facts);
  if (head.kind !== 'worker') throw snapshotError('malformed', head.problem, { target: worker, path: head.path });
  const { topic, trigger } = head.suspension ?? {};
  const schedule = trigger?.schedule === undefined ? undefined : { expression: trigger.schedule, timezone: trigger.timezone };
  const isTicking = schedule !== undefined && trigger?.isArmed === true && scheduleProblem(schedule) === undefined;
  return {
    head,
    scheduledAt: isTicking ? nextTick(schedule, platform.clock.now()) : undefined,
    waitingRecords: topic === undefined ? 0 : Math.max(0, (lifecycle.eventLog.latest(topic.name) ?? 0) - topic.fromCursor),
    verdict: await judgeResume(host, target),
  };
}

async function explained({ platform }: Operator, facts: Facts): Promise<Omit<OperatorOutcome, 'exitCode'>> {
  const palette = await paletteFor(platform, 'stdout');
  const { head, verdict, scheduledAt, waitingRecords } = facts;
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ['Wake', wakeLines(head, { scheduledAt, waitingRecords, now: platform.clock.now(), host: platform.system.hostname, palette })],
    ['Script', verdict.program === undefined || isOver(head) ? [] : scriptLines(platform, verdict.program, palette)],
    ['Resume now', verdictLines(platform, facts, palette)],
  ];
  const text = sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `\n${palette.bold(title)}\n${lines.map(sectionLine).join('')}`)
    .join('');
  return { text: `${stateText(platform, head, palette)}${text}`, data: factsJson(platform, facts), error: verdictError(verdict.refusal) };
}

function isOver({ lifecycleState }: WorkerHead): boolean {
  return lifecycleState === 'done' || lifecycleState === 'closed';
}

/** Sentences are wrapped; what is indented is to be read or copied as it is. */
function sectionLine(line: string): string {
  return line.startsWith('  ') ? `  ${line}\n` : wrapText(line, { first: '  ', rest: '    ' });
}

function stateText({ clock, system }: Platform, head: WorkerHead, palette: Palette): string {
  const { suspension, reason } = head;
  const elapsed = ageText(head.since, clock.now());
  const age = head.since === undefined ? '' : isOver(head) ? ` ${elapsed} ago` : ` for ${elapsed}`;
  const turn = suspension?.turn === undefined ? '' : `, after turn ${suspension.turn + 1}`;
  const by = { self: 'by itself', parent: 'by its parent', operator: 'by an operator', triggered: 'by a trigger' }[
    suspension?.initiator ?? ''
  ];
  const runner =
    head.runner === undefined ? '' : ` (${processText(head.runner, system.hostname)}${head.runner.liveness === 'alive' ? '' : ', gone'})`;
  const lines = [
    `${palette.bold(head.id)} ${STATE_WORDS[head.status]}${age}${by === undefined ? '' : `, parked ${by}`}${turn}${runner}`,
    ...(reason === undefined ? [] : [`reason: ${reason.replaceAll(/\p{Cc}+/gu, ' ')}`]),
  ];
  return lines.map((line) => wrapText(line, { first: '', rest: '  ' })).join('');
}

const STATE_WORDS: Readonly<Record<WorkerHead['status'], string>> = {
  running: 'runs',
  awaiting: 'waits for its next trigger',
  suspended: 'is suspended',
  interrupted: 'was interrupted',
  completed: 'was completed',
  failed: 'failed',
  cancelled: 'was closed',
};

/** Differences longer than this are cut; the files are at hand for more. */
const SHOWN_DIFFERENCE = 40;

function scriptLines(platform: Platform, { modules, tools, lostCallbacks }: ProgramReport, palette: Palette): string[] {
  const lines = modules.flatMap(({ path, state, foundAt, texts }): string[] => {
    const moved = foundAt === undefined ? '' : `, now ${displayPath(platform.files.cwd(), foundAt)}`;
    if (state === 'same') return [`${path}: unchanged${moved}`];
    if (state === 'embedded') return [`${path}: ${palette.warning('the file is gone')}, the snapshot holds its text`];
    if (state === 'lost') return [`${path}: ${palette.error('the file is gone, and the snapshot does not hold its text')}`];
    if (texts === undefined) return [`${path}: ${palette.warning('changed')}${moved}; the snapshot does not hold the text that it had`];
    const { added, removed, lines: changes } = textDifference(texts.before, texts.now);
    const left = changes.length - SHOWN_DIFFERENCE;
    return [
      `${path}: ${palette.warning('changed')}${moved} (+${added} -${removed})`,
      ...changes.slice(0, SHOWN_DIFFERENCE).map((line) => `  ${line.replaceAll(/[^\P{Cc}\t]/gu, '')}`),
      ...(left > 0 ? [`  … ${left} more lines`] : []),
    ];
  });
  const problems = tools.flatMap(({ name, state, capture }): string[] => {
    if (state === 'fits') return [];
    if (state === 'gone') return [`tool ${name}: ${palette.error('no longer declared')}`];
    if (state === 'parameters') return [`tool ${name}: ${palette.error('takes other parameters now')}`];
    const why = capture === undefined ? 'its handler was not saved' : `${capture} could not be saved`;
    return [`tool ${name}: ${palette.warning('answers every call with an error')}, ${why}`];
  });
  const fitting = tools.filter(({ state }) => state === 'fits').map(({ name }) => name);
  return [
    ...lines,
    ...(fitting.length === 0 ? [] : [`tools that fit: ${fitting.join(', ')}`]),
    ...problems,
    ...lostCallbacks.map((slot) => `${slot}: ${palette.warning('not active after a resume')}, what it captured could not be saved`),
  ];
}

function verdictLines(platform: Platform, { head, verdict }: Facts, palette: Palette): string[] {
  const { refusal } = verdict;
  if (refusal !== undefined) {
    const reason = refusalReason(refusal);
    const isCoded = refusal.code.startsWith('HARN-');
    return [
      `${palette.error(isCoded ? `refused with ${refusal.code}` : 'refused')}${reason === undefined ? '' : ` (${reason})`}`,
      refusalText(refusal).replaceAll('\n', ' '),
      ...(isCoded ? [`harn explain ${refusal.code} says what to do`] : []),
    ];
  }
  const { files } = platform;
  const command = `harn run --resume ${quoteForShell(displayPath(files.cwd(), head.snapshotPath))}`;
  return [verdict.hasHooks ? 'accepted, unless a pre_resume hook of harn.toml denies it' : 'accepted', `  ${command}`];
}

function verdictError(refusal: HarnError | undefined): OperatorOutcome['error'] {
  return refusal === undefined ? undefined : { code: refusal.code, message: refusal.message, details: refusal.data };
}

function factsJson(platform: Platform, { head, scheduledAt, waitingRecords, verdict }: Facts): JsonObject {
  const { refusal, program } = verdict;
  return {
    worker: listingJson(platform, head, scheduledAt),
    waiting_records: waitingRecords,
    program:
      program === undefined
        ? null
        : {
            modules: program.modules.map(({ path, state, foundAt, texts }) => ({
              path,
              state,
              found_at: foundAt ?? null,
              difference: texts === undefined ? null : { ...textDifference(texts.before, texts.now) },
            })),
            tools: program.tools.map(({ name, state, capture }) => ({ name, state, lost_capture: capture ?? null })),
            lost_callbacks: program.lostCallbacks,
          },
    resume: {
      accepted: refusal === undefined,
      hooks: verdict.hasHooks,
      code: refusal?.code ?? null,
      reason: refusal === undefined ? null : (refusalReason(refusal) ?? null),
      command: refusal === undefined ? `harn run --resume ${quoteForShell(displayPath(platform.files.cwd(), head.snapshotPath))}` : null,
    },
  };
}
