import type { JsonObject } from '../../base/json.ts';
import type { Context, Run } from '../context.ts';
import { thrownText } from '../errors.ts';
import type { Value } from '../value.ts';
import type { LoopPlace } from './agent-context.ts';
import { agentServices } from './agent-services.ts';

/** Which background work of a run is under way (spec/agents.md 2.8), and for which loop. */
export interface AsyncWork {
  /** What runs: a tool, a function, an operation. */
  readonly operation: string;
  /** The same in more words: a command line, a path. */
  readonly descriptor: string;
  readonly timeoutMs: number | undefined;
  readonly run: (context: Context) => Value | Promise<Value>;
}

export interface AsyncHandle {
  readonly id: string;
  /** The loop that started it; nobody hears of the end of what a script started outside of any. */
  readonly owner: LoopPlace | undefined;
  readonly work: AsyncWork;
  readonly startedAt: string;
  readonly startedMs: number;
  readonly abort: AbortController;
}

const HANDLES = Symbol('async handles');

interface Handles {
  readonly running: Map<string, AsyncHandle>;
  /** All that this process ever started. */
  readonly ids: Set<string>;
}

function handlesOf(run: Run): Handles {
  return run.service(HANDLES, (owner) => {
    // A worker that ended has no next model call.
    agentServices(owner).events.subscribeAll((event) => {
      if (event.type !== 'worker_update' || typeof event.worker_id !== 'string') return;
      if (event.status === 'completed' || event.status === 'failed' || event.status === 'cancelled')
        cancelHandlesOf(owner, event.worker_id);
    });
    return { running: new Map(), ids: new Set() };
  });
}

export function addHandle(run: Run, handle: AsyncHandle): void {
  const { running, ids } = handlesOf(run);
  running.set(handle.id, handle);
  ids.add(handle.id);
}

/** @returns false when it was cancelled before */
export function endHandle(run: Run, id: string): boolean {
  return handlesOf(run).running.delete(id);
}

export function isOwnHandle(run: Run, id: string): boolean {
  return handlesOf(run).ids.has(id);
}

export function startedFacts({ id, startedAt, work }: AsyncHandle): JsonObject {
  return { handle_id: id, started_at: startedAt, status: 'running', command_or_op_descriptor: work.descriptor };
}

/** @returns false when it has ended already, or never was */
export function cancelAsyncWork(run: Run, id: string): boolean {
  const { running } = handlesOf(run);
  const handle = running.get(id);
  if (handle === undefined) return false;
  running.delete(id);
  handle.abort.abort(thrownText(`${handle.work.operation} was cancelled`));
  return true;
}

/** The end of a session ends what it started. */
export function cancelHandlesOf(run: Run, workerId: string): void {
  for (const { id, owner } of [...handlesOf(run).running.values()]) if (owner?.workerId === workerId) cancelAsyncWork(run, id);
}

/** What of a worker's work still runs, as its snapshot notes it. */
export function runningHandles(run: Run, workerId: string): JsonObject[] {
  return [...handlesOf(run).running.values()].filter(({ owner }) => owner?.workerId === workerId).map(startedFacts);
}
