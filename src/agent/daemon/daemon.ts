import type { JsonObject } from '../../base/json.ts';
import type { LoopEnd, ParkRequest } from '../../lifecycle/activation.ts';
import { parseAwaitResumption } from '../../lifecycle/await-resumption.ts';
import { emitEvent, type Loop, recordStep } from '../loop-context.ts';
import { feedbackMessage } from '../loop-record.ts';
import { buildLoopResult, type EndFacts } from '../loop-result.ts';
import { writeLoopState } from '../loop-state.ts';
import { commitPark, park } from '../park.ts';
import { AWAIT_RESUMPTION, parkAudit, requestConditions } from '../self-park.ts';
import { messageCalls, messageText, userMessage } from '../transcript/message.ts';
import { consolidate } from '../turn-compaction.ts';
import { runHook } from '../turn-hooks.ts';
import { daemonFacts } from './daemon-block.ts';
import type { WakeSources } from './daemon-sources.ts';

/**
 * A loop that idles instead of ending (spec/agents.md 11.2). With something to wake it the loop waits in this
 * process, at boundary B2; with nothing it parks, and whoever resumes it is its wake.
 */
export interface DaemonOptions {
  readonly wakeIntervalMs: number | undefined;
  readonly watchPaths: readonly string[];
  readonly eventTopic: string | undefined;
  /** Idle polls without a wake before the loop gives up; undefined waits forever. */
  readonly watchdogAttempts: number | undefined;
  readonly queueCapacity: number;
  /** Compaction before each idle, however little there is. */
  readonly consolidates: boolean;
}

/** What came of idling: a wake (the loop goes on), a park, or the end by the watchdog. */
export type IdleOutcome =
  | { readonly kind: 'woken' }
  | { readonly kind: 'parked'; readonly end: LoopEnd }
  | { readonly kind: 'ended'; readonly end: EndFacts };

const REASON = 'daemon idle';
const MS_PER_MINUTE = 60_000;
const POLLS_MS = [100, 500, 1000, 2000];

/**
 * Whether an activation begins with an idle instead of a turn: the daemon was restored rather than woken, and either
 * nothing was left to do, or what it was at work on comes again from its queue.
 */
export function beginsIdle(loop: Loop): boolean {
  const { sources, activation, progress } = loop;
  if (sources === undefined) return false;
  const { port, isRestored } = sources;
  settleConsumed(loop, sources);
  if (!isRestored && activation.resume?.isRecovery !== true) return false;
  port.putBack();
  const last = progress.transcript.messages.at(-1);
  const isAtRest = last?.role === 'assistant' && messageCalls(last).length === 0;
  return port.next?.redelivered === true || (isRestored && isAtRest);
}

export async function idleDaemon(loop: Loop, daemon: DaemonOptions, sources: WakeSources): Promise<IdleOutcome> {
  settleConsumed(loop, sources);
  sources.startTimer();
  if (deliverNext(loop, sources)) return { kind: 'woken' };
  if (daemon.consolidates || loop.live.callbacks.consolidate !== undefined) await consolidate(loop);
  const request = idleRequest(daemon);
  const verdict = await loop.activation.approveSelfPark(request);
  const mayPark = verdict.decision === 'allow';
  if (mayPark) {
    if (sources.canWake) saveIdle(loop, request, 'idle');
    emitIdleAudit(loop, request);
  }
  await runHook(loop, 'session_idle');
  if (mayPark && !sources.canWake) return { kind: 'parked', end: await parkIdle(loop, request) };
  return waitForWake(loop, daemon, sources);
}

/** An event leaves the queue only when the turn that ended the work for it is in the journal (11.3). */
export function settleConsumed(loop: Loop, { port }: WakeSources): void {
  const { consumed_event: seq } = loop.progress.counters;
  if (seq !== undefined) port.settle(seq);
}

/** The daemon's own file, where it has one: as if it had parked here, or as it ended. */
export function saveIdle(loop: Loop, request: ParkRequest | undefined, state: string): void {
  const { progress, activation } = loop;
  if (loop.sources?.port.file === undefined) return;
  const completed = progress.counters.iterations_completed;
  activation.saveDaemon(request, writeLoopState(progress), {
    iterationsCompleted: completed,
    turn: completed === 0 ? undefined : completed - 1,
    ...daemonFacts(loop, progress, state),
  });
}

function idleRequest({ wakeIntervalMs, eventTopic }: DaemonOptions): ParkRequest {
  const conditions: JsonObject = {
    ...(wakeIntervalMs === undefined
      ? {}
      : { timeout: { duration_minutes: Math.max(1, Math.ceil(wakeIntervalMs / MS_PER_MINUTE)), on_timeout: 'resume_with_input' } }),
    ...(eventTopic === undefined ? {} : { on_event: eventTopic }),
  };
  const request = parseAwaitResumption(REASON, Object.keys(conditions).length === 0 ? undefined : conditions);
  return { reason: request.reason, initiator: 'self', ...requestConditions(request) };
}

function emitIdleAudit(loop: Loop, request: ParkRequest): void {
  emitEvent(loop, {
    type: 'tool_call_audit',
    tool_call_id: `daemon_idle:${loop.progress.counters.iterations_completed - 1}`,
    tool_name: AWAIT_RESUMPTION,
    audit: parkAudit({ status: 'daemon_idle', reason: REASON, workerId: loop.activation.workerId, conditions: request.conditions }),
  });
}

/** The caller gets the result of a loop that is idle, and the Suspension in it (13.23). */
async function parkIdle(loop: Loop, request: ParkRequest): Promise<LoopEnd> {
  const { transcript, counters } = loop.progress;
  const parked = await commitPark(loop, request, loop.progress, 'idle');
  if (parked.kind !== 'parked') return parked;
  const { suspension } = parked;
  const path = typeof suspension.snapshot_path === 'string' ? suspension.snapshot_path : undefined;
  const end = { status: 'idle', stop_reason: 'idle' };
  const facts = {
    format: loop.frame.format,
    sentinel: undefined,
    data: null,
    daemonState: 'idle',
    daemonSnapshotPath: loop.sources?.port.file?.shown ?? path,
    suspension,
  };
  return { ...parked, result: buildLoopResult(end, transcript, counters, facts) };
}

async function waitForWake(loop: Loop, daemon: DaemonOptions, sources: WakeSources): Promise<IdleOutcome> {
  const { clock } = loop.world;
  const startedMs = clock.monotonicMs();
  const bell = new Bell();
  const unfollow = sources.watched.follow(() => bell.ring());
  let isResumed = false;
  loop.activation.onWake((input) => {
    if (!isResumed) deliverResume(loop, input);
    isResumed = true;
    bell.ring();
  });
  try {
    for (let attempt = 0; ; attempt++) {
      if (daemon.watchdogAttempts !== undefined && attempt >= daemon.watchdogAttempts) return tripped(loop, attempt, startedMs);
      const pollMs = POLLS_MS[Math.min(attempt, POLLS_MS.length - 1)] ?? 0;
      sources.backoffMs = pollMs;
      await pauseUntilChange(loop, Math.min(pollMs, sources.timerLeftMs ?? pollMs), bell);
      const asked = loop.activation.atBoundary('B2');
      const parked = asked === undefined ? undefined : await park(loop, asked, 'idle');
      if (parked !== undefined) return { kind: 'parked', end: parked };
      if (isResumed || deliverNext(loop, sources)) return { kind: 'woken' };
    }
  } finally {
    loop.activation.onWake(undefined);
    unfollow();
  }
}

/** Takes the first waiting thing and puts it before the model. Synchronous: nothing may come between it and a pause. */
function deliverNext(loop: Loop, sources: WakeSources): boolean {
  const wake = sources.take();
  if (wake === undefined) return false;
  // The next turn takes from the inbox by itself.
  if (wake.kind === 'inbox') return true;
  // A crash after the delivery leaves the message behind: the same event is then not told twice in a row.
  if (wake.kind === 'event' && isLastMessage(loop, wake.marker)) return true;
  tellWake(loop, wake.content);
  return true;
}

function isLastMessage(loop: Loop, marker: string): boolean {
  const last = loop.progress.transcript.messages.at(-1);
  return last?.role === 'user' && messageText(last).includes(marker);
}

/** A resume of a daemon that waits here (11.1): its input, or word of it. */
function deliverResume(loop: Loop, input: string | undefined): void {
  if (input === undefined) tellWake(loop, 'Daemon wake: resumed.');
  else recordStep(loop, { t: 'in', added: [{ kind: 'host_input', message: userMessage(input) }] });
}

function tellWake(loop: Loop, content: string): void {
  recordStep(loop, { t: 'in', added: [feedbackMessage({ kind: 'daemon_wake', content })] });
  emitEvent(loop, { type: 'feedback_injected', kind: 'daemon_wake', content });
}

function tripped(loop: Loop, attempts: number, startedMs: number): IdleOutcome {
  const elapsedMs = Math.round(loop.world.clock.monotonicMs() - startedMs);
  emitEvent(loop, { type: 'daemon_watchdog_tripped', attempts, elapsed_ms: elapsedMs });
  return { kind: 'ended', end: { status: 'watchdog', stop_reason: 'watchdog' } };
}

/** Lets a pause end early; a ring between two pauses ends the next one at once. */
class Bell {
  #isRung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  heard(): Promise<void> {
    if (this.#isRung) {
      this.#isRung = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#isRung = false;
        resolve();
      };
    });
  }
}

/** Ends early at a suspend request, a close, a message or a wake. */
async function pauseUntilChange(loop: Loop, ms: number, bell: Bell): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([loop.signal, over.signal]);
  const quietly = (wait: Promise<void>): Promise<void> => wait.catch(() => undefined);
  await Promise.race([quietly(rest(loop, ms, signal)), quietly(loop.activation.changed(signal)), bell.heard()]);
  over.abort();
  loop.signal.throwIfAborted();
}

/** The script waits for a root loop, so that time under its control goes on; a worker beside it must not make it go on. */
function rest({ activation, world: { clock } }: Loop, ms: number, signal: AbortSignal): Promise<void> {
  if (activation.mode === 'top_level_agent') return clock.sleep(ms, signal);
  return new Promise((resolve) => {
    const cancel = clock.timer(ms, resolve);
    signal.addEventListener('abort', () => cancel(), { once: true });
  });
}
