import { renderElapsed } from '../../base/elapsed.ts';
import { parseInstant } from '../../base/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Palette } from '../../diagnostics/render.ts';
import { resolveSubject, summaryOfFiles } from '../../lifecycle/resume-subject.ts';
import { lifecycleStateOf } from '../../lifecycle/transition.ts';
import { viewOfFiles, type WorkerView } from '../../lifecycle/worker-view.ts';
import type { Platform } from '../../platform/platform.ts';
import { operatorTarget } from '../../runtime/agents/agent-resume.ts';
import { displayPath } from '../../store/state-root.ts';
import { counted } from '../counted.ts';
import { EXIT } from '../exit-codes.ts';
import { type Operator, runAsOperator } from '../operator.ts';
import { paletteFor } from '../palette.ts';
import { UsageError } from '../parse-options.ts';
import { renderMessages } from '../transcript-text.ts';

export interface ShowOptions {
  readonly json?: string | true | undefined;
  /** The whole transcript, nothing cut. */
  readonly full?: string | true | undefined;
  /** How many of the last messages; 20 by default. */
  readonly last?: string | true | undefined;
}

const DEFAULT_LAST = 20;

/** `harn workers show`: the head and the transcript of one worker. @returns the exit code */
export function showCommand(platform: Platform, worker: string, options: ShowOptions): Promise<number> {
  const last = options.full === true ? Number.POSITIVE_INFINITY : lastOf(options.last);
  return runAsOperator(platform, options, async (operator) => {
    const view = await readView(operator, worker);
    const palette = await paletteFor(platform, 'stdout');
    const messages = messagesOf(view);
    const shown = last === 0 ? [] : messages.slice(-last);
    const hidden = messages.length - shown.length;
    return {
      exitCode: EXIT.success,
      text: `${header(platform, view, palette)}${hidden === 0 ? '' : `\n${earlier(hidden)}`}${renderMessages(shown, {
        firstNumber: hidden + 1,
        palette,
        isFull: options.full === true,
      })}`,
      data: viewJson(operator, view),
    };
  });
}

function lastOf(value: string | true | undefined): number {
  if (value === undefined) return DEFAULT_LAST;
  const count = Number(value);
  if (!/^\d+$/.test(String(value)) || !Number.isSafeInteger(count))
    throw new UsageError(`--last: ${String(value)} is no count of messages`);
  return count;
}

/** A journal that its owner folds while it is read is gone the next moment, and the snapshot then holds all. */
async function readView({ host, lifecycle }: Operator, worker: string): Promise<WorkerView> {
  for (let attempt = 1; ; attempt++) {
    const { files, target } = resolveSubject(lifecycle, operatorTarget(host, worker));
    if (files === undefined) throw new Error(`${target} is not read from its files`);
    try {
      return viewOfFiles(lifecycle, files, target);
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
}

function messagesOf({ state }: WorkerView): readonly Json[] {
  return Array.isArray(state.transcript?.messages) ? state.transcript.messages : [];
}

function earlier(count: number): string {
  return `… ${counted(count, 'earlier message')}; --full shows everything\n`;
}

/** Everything but the transcript, one fact a line; what is not there has no line. */
function header(platform: Platform, view: WorkerView, palette: Palette): string {
  const { record, status, files } = view;
  const { suspension, program } = record;
  const since = (text: string | null | undefined): string | undefined => timeText(platform, text);
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['name', `${record.name} (${record.mode})`],
    ['state', status],
    ['created', since(record.created_at)],
    ['parked', status === 'suspended' ? since(suspension?.suspended_at) : undefined],
    ['ended', since(record.finished_at)],
    ['reason', reasonOf(view)],
    ['owner', status === 'suspended' ? (suspension?.resume_by_mechanism ?? undefined) : undefined],
    ['waits', status === 'awaiting' ? since(record.awaiting_started_at) : undefined],
    [
      'runs in',
      lifecycleStateOf(status) === 'running' && files.claim !== undefined ? `pid ${files.claim.pid} on ${files.claim.host}` : undefined,
    ],
    ['parent', record.parent_worker_id ?? undefined],
    ['work', workText(view)],
    ['script', isJsonObject(program) && typeof program.script_path === 'string' ? program.script_path : undefined],
    ['snapshot', displayPath(platform.files.cwd(), files.snapshotPath)],
  ];
  const lines = facts.flatMap(([name, value]) => (value === undefined ? [] : [`${name.padEnd(9)} ${value}\n`]));
  return `${palette.bold(record.id)}\n${lines.join('')}`;
}

function reasonOf({ record, status }: WorkerView): string | undefined {
  if (status === 'failed' || status === 'cancelled') return record.rejected?.reason ?? record.latest_error ?? undefined;
  return record.suspension?.reason;
}

function workText({ state }: WorkerView): string {
  const { loop } = state;
  const count = (name: string): number => (typeof loop[name] === 'number' ? loop[name] : 0);
  const cost = count('cost_usd');
  return [
    counted(count('iterations_completed'), 'turn'),
    counted(count('llm_calls'), 'model call'),
    `${count('input_tokens')} input and ${count('output_tokens')} output tokens`,
    ...(cost === 0 ? [] : [`$${cost.toFixed(4)}`]),
  ].join(', ');
}

function timeText({ clock }: Platform, text: string | null | undefined): string | undefined {
  const instant = text === null || text === undefined ? undefined : parseInstant(text);
  return instant === undefined ? undefined : `${text} (${renderElapsed(Math.max(0, clock.now() - instant))} ago)`;
}

function viewJson({ lifecycle }: Operator, { files, state, record }: WorkerView): JsonObject {
  const { transcript: _, ...summary } = summaryOfFiles(lifecycle, files);
  const { program } = record;
  const scriptPath = isJsonObject(program) ? (program.script_path ?? null) : null;
  return {
    worker: { ...summary, task: record.task, history: record.history },
    script_path: scriptPath,
    loop: state.loop,
    transcript: state.transcript,
  };
}
