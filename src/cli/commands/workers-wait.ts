import { folderFacts } from '../../lifecycle/list-workers.ts';
import { snapshotPathOfTarget } from '../../lifecycle/resume-subject.ts';
import { FIRST_PAUSE_MS, longerPause } from '../../lifecycle/wait-elsewhere.ts';
import { readWorkerHead, type WorkerHead } from '../../lifecycle/worker-head.ts';
import type { Platform } from '../../platform/platform.ts';
import { operatorTarget } from '../../runtime/agents/agent-resume.ts';
import { snapshotError } from '../../store/snapshot-error.ts';
import { workerFileSet } from '../../store/worker-folder.ts';
import { STATUSES } from '../../store/worker-status.ts';
import { EXIT, exitCodeOfSignal } from '../exit-codes.ts';
import { type Operator, type OperatorOutcome, runAsOperator } from '../operator.ts';
import { UsageError } from '../parse-options.ts';
import { listingJson } from '../worker-json.ts';
import { hasLivingScript } from '../worker-text.ts';

export interface WaitOptions {
  readonly json?: string | true | undefined;
  /** States to wait for; by default the worker has to be over. */
  readonly until?: string | true | undefined;
  /** Seconds. */
  readonly timeout?: string | true | undefined;
}

const ENDED = ['done', 'closed'];
const STATES: ReadonlySet<string> = new Set([...STATUSES, ...ENDED]);

/**
 * `harn workers wait`: comes back when a worker has reached a state, whichever process brings it there.
 *
 * @returns the exit code: 1 when the time is up, when the state can no longer be reached, and for a failed worker
 */
export function waitCommand(platform: Platform, worker: string, options: WaitOptions): Promise<number> {
  const states = statesIn(options.until);
  const timeoutMs = timeoutIn(options.timeout);
  return runAsOperator(platform, options, async (operator) => {
    const snapshotPath = snapshotPathOfTarget(operator.lifecycle, operatorTarget(operator.host, worker));
    const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : platform.clock.monotonicMs() + timeoutMs;
    const stop = stopBySignal(platform);
    let isFirst = true;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = longerPause(pauseMs)) {
      const head = await readHead(operator, snapshotPath, worker);
      if (isReached(head, states))
        return outcome(operator, head, options.until === undefined && head.status === 'failed' ? 'failed' : undefined);
      if (ENDED.includes(head.lifecycleState)) return outcome(operator, head, 'unreachable');
      if (isFirst && options.json !== true) platform.stdio.err(waitingNote(head));
      isFirst = false;
      const leftMs = deadline - platform.clock.monotonicMs();
      if (leftMs <= 0) return outcome(operator, head, 'timeout');
      if (stop.aborted) return { ...outcome(operator, head, 'signal'), exitCode: exitCodeOfSignal(stop.reason) };
      // A signal ends the pause, and is looked at after the next look at the worker.
      await platform.clock.sleep(Math.min(pauseMs, leftMs), stop).catch(() => undefined);
    }
  });
}

function statesIn(text: string | true | undefined): readonly string[] {
  if (typeof text !== 'string') return ENDED;
  const states = text.split(',').map((word) => word.trim());
  const unknown = states.find((state) => !STATES.has(state));
  if (unknown !== undefined)
    throw new UsageError(`--until: ${unknown || 'an empty word'} is no state; there are ${[...STATES].join(', ')}`);
  return states;
}

function timeoutIn(text: string | true | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (!/^\d+(\.\d+)?$/.test(String(text)) || !Number.isFinite(seconds))
    throw new UsageError(`--timeout: ${String(text)} is no number of seconds`);
  return seconds * 1000;
}

async function readHead({ platform, lifecycle }: Operator, snapshotPath: string, target: string): Promise<WorkerHead> {
  const found = workerFileSet(platform.files, snapshotPath);
  if (!found.hasSnapshot && !found.hasJournal)
    throw snapshotError('missing', 'the files of the worker are gone', { target, path: snapshotPath });
  const facts = await folderFacts(platform, lifecycle.locations, [found]);
  const head = readWorkerHead(platform, found, facts);
  if (head.kind !== 'worker') throw snapshotError('malformed', head.problem, { target, path: head.path });
  return head;
}

function isReached({ status, lifecycleState }: WorkerHead, states: readonly string[]): boolean {
  return states.includes(status) || states.includes(lifecycleState);
}

/** Whoever waits for something that nobody will bring about should know it. */
function waitingNote(head: WorkerHead): string {
  const what = whatEndsIt(head);
  return what === undefined ? '' : `harn: ${head.id} is ${head.status}; waiting until ${what}\n`;
}

function whatEndsIt(head: WorkerHead): string | undefined {
  const { status, suspension } = head;
  if (status === 'running') return undefined;
  if (status === 'awaiting') {
    const ending = hasLivingScript(head) ? 'the script that started it gives it more work' : 'somebody closes it';
    return `${ending}; nobody else can wake it`;
  }
  const attendance = suspension?.attendance ?? 'open';
  return {
    open: 'somebody resumes or closes it',
    unattended: 'somebody resumes or closes it, since the process that should wake it is gone',
    attended: 'it is woken',
    elsewhere: 'it is woken',
  }[attendance];
}

/** @returns aborted by SIGINT or SIGTERM, with the name of the signal as its reason */
function stopBySignal({ processes }: Platform): AbortSignal {
  const stop = new AbortController();
  processes.onSignal((signal) => stop.abort(signal));
  return stop.signal;
}

function outcome(
  { platform }: Operator,
  head: WorkerHead,
  problem: 'failed' | 'unreachable' | 'timeout' | 'signal' | undefined,
): OperatorOutcome {
  const data = { worker: listingJson(platform, head, undefined) };
  const text = `${head.status}\n`;
  if (problem === undefined) return { exitCode: EXIT.success, text, data };
  const message = {
    failed: `${head.id} failed${head.reason === undefined ? '' : `: ${head.reason}`}`,
    unreachable: `${head.id} is ${head.status} and stays so`,
    timeout: `${head.id} is still ${head.status}`,
    signal: `stopped waiting; ${head.id} is still ${head.status}`,
  }[problem];
  return { exitCode: EXIT.failure, text, notes: `harn: ${message}\n`, data, error: { code: problem, message, details: {} } };
}
