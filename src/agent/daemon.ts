import { renderInstant } from '../base/instant.ts';
import type { JsonObject } from '../base/json.ts';
import type { LoopEnd, ParkRequest } from '../lifecycle/activation.ts';
import { parseAwaitResumption } from '../lifecycle/await-resumption.ts';
import type { FileStat } from '../platform/platform.ts';
import { emitEvent, type Loop, recordStep } from './loop-context.ts';
import { feedbackMessage } from './loop-record.ts';
import { buildLoopResult, type EndFacts } from './loop-result.ts';
import { commitPark, park } from './park.ts';
import { AWAIT_RESUMPTION, parkAudit, requestConditions } from './self-park.ts';

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
}

/** What came of idling: a wake (the loop goes on), a park, or the end by the watchdog. */
export type IdleOutcome =
  | { readonly kind: 'woken' }
  | { readonly kind: 'parked'; readonly end: LoopEnd }
  | { readonly kind: 'ended'; readonly end: EndFacts };

const REASON = 'daemon idle';
const MS_PER_MINUTE = 60_000;
const POLLS_MS = [100, 500, 1000, 2000];

export async function idleDaemon(loop: Loop, daemon: DaemonOptions): Promise<IdleOutcome> {
  if (loop.live.inbox.hasWaiting()) return { kind: 'woken' };
  const request = idleRequest(daemon);
  const verdict = await loop.activation.approveSelfPark(request);
  const mayPark = verdict.decision === 'allow';
  if (mayPark) emitIdleAudit(loop, request);
  await loop.live.callbacks.hook?.('session_idle', { session_id: loop.activation.sessionId });
  if (mayPark && !canWake(daemon)) return { kind: 'parked', end: await parkIdle(loop, request, daemon) };
  return waitForWake(loop, daemon);
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

function canWake({ wakeIntervalMs, watchPaths, eventTopic }: DaemonOptions): boolean {
  return wakeIntervalMs !== undefined || watchPaths.length > 0 || eventTopic !== undefined;
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
async function parkIdle(loop: Loop, request: ParkRequest, daemon: DaemonOptions): Promise<LoopEnd> {
  const { transcript, counters } = loop.progress;
  const parked = await commitPark(loop, request, loop.progress, daemonBlock(daemon));
  if (parked.kind !== 'parked') return parked;
  const { suspension } = parked;
  const path = typeof suspension.snapshot_path === 'string' ? suspension.snapshot_path : undefined;
  const end = { status: 'idle', stop_reason: 'idle' };
  const facts = { format: loop.frame.format, sentinel: undefined, data: null, daemonState: 'idle', daemonSnapshotPath: path, suspension };
  return { ...parked, result: buildLoopResult(end, transcript, counters, facts) };
}

/** The six keys of a daemon's queue and sources (11.4). Events wait in the queue of the daemon itself, not in the loop. */
function daemonBlock({ wakeIntervalMs, watchPaths, queueCapacity }: DaemonOptions): JsonObject {
  return {
    pending_event_count: 0,
    queued_event_count: 0,
    inflight_event: null,
    wake_interval_ms: wakeIntervalMs ?? null,
    watch_paths: watchPaths,
    event_queue_capacity: queueCapacity,
  };
}

async function waitForWake(loop: Loop, daemon: DaemonOptions): Promise<IdleOutcome> {
  const { clock } = loop.world;
  const startedMs = clock.monotonicMs();
  const seen = fileStates(loop, daemon.watchPaths);
  for (let attempt = 0; ; attempt++) {
    if (daemon.watchdogAttempts !== undefined && attempt >= daemon.watchdogAttempts) return tripped(loop, attempt, startedMs);
    const pollMs = POLLS_MS[Math.min(attempt, POLLS_MS.length - 1)] ?? 0;
    const leftMs = daemon.wakeIntervalMs === undefined ? pollMs : daemon.wakeIntervalMs - (clock.monotonicMs() - startedMs);
    await pauseUntilChange(loop, Math.max(0, Math.min(pollMs, leftMs)));
    const asked = loop.activation.atBoundary('B2');
    const parked = asked === undefined ? undefined : await park(loop, asked);
    if (parked !== undefined) return { kind: 'parked', end: parked };
    if (loop.live.inbox.hasWaiting()) return { kind: 'woken' };
    const changed = changedPaths(seen, fileStates(loop, daemon.watchPaths));
    if (changed.length > 0) return woken(loop, `Daemon wake: watched paths changed: ${changed.join(', ')}.`);
    if (daemon.wakeIntervalMs !== undefined && clock.monotonicMs() - startedMs >= daemon.wakeIntervalMs) {
      return woken(loop, `Daemon timer wake fired at ${renderInstant(clock.now())}.`);
    }
  }
}

function woken(loop: Loop, content: string): IdleOutcome {
  recordStep(loop, { t: 'in', added: [feedbackMessage({ kind: 'daemon_wake', content })] });
  emitEvent(loop, { type: 'feedback_injected', kind: 'daemon_wake', content });
  return { kind: 'woken' };
}

function tripped(loop: Loop, attempts: number, startedMs: number): IdleOutcome {
  const elapsedMs = Math.round(loop.world.clock.monotonicMs() - startedMs);
  emitEvent(loop, { type: 'daemon_watchdog_tripped', attempts, elapsed_ms: elapsedMs });
  return { kind: 'ended', end: { status: 'watchdog', stop_reason: 'watchdog' } };
}

/** Ends early at a suspend request, a close, a message or a wake. */
async function pauseUntilChange(loop: Loop, ms: number): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([loop.signal, over.signal]);
  const quietly = (wait: Promise<void>): Promise<void> => wait.catch(() => undefined);
  await Promise.race([quietly(loop.world.clock.sleep(ms, signal)), quietly(loop.activation.changed(signal))]);
  over.abort();
  loop.signal.throwIfAborted();
}

type FileState = Pick<FileStat, 'modifiedAt' | 'sizeBytes'> | undefined;

function fileStates(loop: Loop, paths: readonly string[]): ReadonlyMap<string, FileState> {
  return new Map(paths.map((path): [string, FileState] => [path, loop.world.files.stat(path)]));
}

function changedPaths(before: ReadonlyMap<string, FileState>, now: ReadonlyMap<string, FileState>): string[] {
  return [...now].flatMap(([path, state]) => {
    const old = before.get(path);
    return old?.modifiedAt === state?.modifiedAt && old?.sizeBytes === state?.sizeBytes ? [] : [path];
  });
}
