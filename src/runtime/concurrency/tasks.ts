import { ControlledClock } from '../../platform/controlled-clock.ts';
import type { Outcome } from '../../tasks/outcome.ts';
import { Task } from '../../tasks/task.ts';
import { waitForPromise } from '../../tasks/wait.ts';
import { settle } from '../call.ts';
import { ExitRequest } from '../caught.ts';
import type { Context, Run } from '../context.ts';
import { failureText } from '../failure.ts';
import { errResult, okResult } from '../result.ts';
import { cancelledError, childContext, releaseOutput, taskTree } from '../task-context.ts';
import { Handle, type Value } from '../value.ts';
import { syncLocks } from './sync.ts';

/**
 * Tasks of a script that run on their own (spec/language.md 10.2): `spawn`, its handle, and the end of all tasks with the
 * end of the run. `parallel` is in parallel.ts. Emitted code calls `spawnTask(c, d, body)`; whoever runs a script calls
 * `await endTasks(run)` once, after the entry has ended.
 */

/** The body of a task as emitted: `(c, d, item) => value or promise`. */
export type TaskBody = (context: Context, depth: number, item?: Value) => unknown;

/** Starts a task that runs on its own. @returns its handle */
export function spawnTask(context: Context, _depth: number, body: TaskBody): Value {
  const tree = taskTree(context.run);
  const taskId = `${context.taskId}:spawn:${++tree.facts(context.taskId).spawnCount}`;
  const { taskGroupId } = context;
  const outputBuffer: string[] = [];
  // The task begins later; what its parent changes until then is not for it.
  const values = new Map(context.values);
  const spawned = spawnedTasks(context.run);
  const task = Task.start(tree.scopeOf(context.signal), (scope) => {
    tree.register(scope);
    const child = childContext(context, { taskId, taskName: 'spawn', taskGroupId, signal: scope.signal, outputBuffer, values });
    return runTask(child, () => body(child, 0));
  });
  return spawned.add(task, taskId, outputBuffer);
}

/** The value of a task, or its error; its output appears now. A second time nil. Other values are returned as they are. */
export async function awaitTask(context: Context, value: Value): Promise<Value> {
  if (!(value instanceof TaskHandle)) return value;
  if (value.isTaken) return undefined;
  value.isTaken = true;
  let outcome: Outcome<Value>;
  try {
    outcome = await waitForPromise(context.signal, value.task.settled);
  } catch (reason) {
    value.isTaken = false;
    throw reason;
  }
  releaseOutput(context, value.output);
  if (outcome.kind === 'failed') throw outcome.error;
  return outcome.value;
}

/** Drops a task: it unwinds without further output, and nobody hears of its outcome. */
export function cancelTask(value: Value): void {
  if (!(value instanceof TaskHandle)) return;
  value.isTaken = true;
  value.task.cancel(cancelledError());
}

/**
 * Asks a task to end (`is_cancelled()` turns true in it) and waits for that.
 *
 * @returns `Ok(value)` when it ended in time, else an `Err` with what happened
 */
export async function cancelGracefully(context: Context, value: Value, timeoutMs: number): Promise<Value> {
  if (!(value instanceof TaskHandle)) return okResult(value);
  if (value.isTaken) return okResult(undefined);
  value.isTaken = true;
  taskTree(context.run).facts(value.taskId).cancelRequested = true;
  const outcome = await withinTime(context, value.task.settled, timeoutMs);
  if (outcome === undefined) {
    value.task.cancel(cancelledError());
    return errResult('cancel_graceful: timeout, task forcefully aborted');
  }
  releaseOutput(context, value.output);
  return outcome.kind === 'done' ? okResult(outcome.value) : errResult(failureText(outcome.error));
}

/**
 * Cancels what still runs when the entry has ended and waits for it to unwind. Tells on stderr about tasks that failed
 * and that nobody awaited, which would otherwise be lost without a trace.
 */
export async function endTasks(run: Run): Promise<void> {
  const tree = taskTree(run);
  const spawned = spawnedTasks(run);
  for (const handle of spawned.unawaited()) {
    const { outcome, scope } = handle.task;
    if (outcome?.kind !== 'failed' || scope.isCancelled) continue;
    run.output.err(`warning: ${handle.name} failed and was never awaited: ${failureText(outcome.error)}\n`);
  }
  // Frozen time would never end the wait for a task that ignores its signal.
  if (run.platform.clock instanceof ControlledClock) run.platform.clock.unmock();
  tree.scopeOf(run.signal).cancelChildren(cancelledError());
  if (tree.hasBackground) await withinRealTime(run, tree.background());
  run.end(cancelledError());
  tree.interrupts.close();
}

/** `spawn { … }` (spec/language.md 10.2). */
class TaskHandle extends Handle {
  readonly typeName = 'task_handle';
  readonly name: string;
  readonly taskId: string;
  readonly task: Task<Value>;
  readonly output: readonly string[];
  /** True once somebody has the outcome, or gave it up. */
  isTaken = false;

  constructor(name: string, taskId: string, task: Task<Value>, output: readonly string[]) {
    super();
    this.name = name;
    this.taskId = taskId;
    this.task = task;
    this.output = output;
  }

  display(): string {
    return `<task:${this.name}>`;
  }

  override isEqualTo(other: Handle): boolean {
    return other instanceof TaskHandle && other.taskId === this.taskId;
  }
}

/** The spawned tasks of a run. */
class SpawnedTasks {
  readonly #run: Run;
  readonly #handles = new Set<TaskHandle>();
  #count = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  add(task: Task<Value>, taskId: string, output: readonly string[]): TaskHandle {
    const handle = new TaskHandle(`vm_task_${++this.#count}`, taskId, task, output);
    this.#handles.add(handle);
    taskTree(this.#run).track(
      task.settled.then((outcome) => {
        if (handle.isTaken || outcome.kind === 'done') this.#handles.delete(handle);
      }),
    );
    return handle;
  }

  unawaited(): TaskHandle[] {
    return [...this.#handles].filter((handle) => !handle.isTaken);
  }
}

const SPAWNED_TASKS = Symbol('spawned tasks');

function spawnedTasks(run: Run): SpawnedTasks {
  return run.service(SPAWNED_TASKS, (owner) => new SpawnedTasks(owner));
}

/** Runs the body of a task; what the task held when it failed is given back. */
export function runTask(child: Context, body: () => unknown): Value | Promise<Value> {
  const tree = taskTree(child.run);
  tree.facts(child.taskId);
  const end = (): void => tree.forget(child.taskId);
  const fail = (error: unknown): never => {
    // `exit` ends the run at once, in whatever task it is called.
    if (error instanceof ExitRequest) child.run.end(error);
    syncLocks(child.run).releaseAllOf(child.taskId);
    end();
    throw error;
  };
  let answer: Value | Promise<Value>;
  try {
    answer = settle(child, 0, body());
  } catch (error) {
    return fail(error);
  }
  if (!(answer instanceof Promise)) {
    end();
    return answer;
  }
  return answer.then((value) => {
    end();
    return value;
  }, fail);
}

/** The promise's answer, or undefined when it takes longer. */
export async function withinTime<T>(context: Context, promise: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  const limit = taskTree(context.run).openScope(context);
  try {
    const timeUp = context.run.platform.clock.sleep(timeoutMs, limit.signal).then(() => undefined);
    return await waitForPromise(context.signal, Promise.race([promise, timeUp]));
  } finally {
    limit.cancel(cancelledError());
    limit.close();
  }
}

/** How long the end of a run waits for cancelled tasks; one that ignores its signal must not hang the process. */
const UNWINDING_MS = 1_000;

async function withinRealTime(run: Run, promise: Promise<unknown>): Promise<void> {
  const { clock } = run.platform;
  let stop = (): void => {};
  const timeUp = new Promise<void>((resolve) => {
    stop = clock.timer(UNWINDING_MS, resolve);
  });
  await Promise.race([promise, timeUp]);
  stop();
}
