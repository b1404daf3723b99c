import { ControlledClock } from '../platform/controlled-clock.ts';
import type { CancelScope } from '../tasks/cancel-scope.ts';
import { Channel, CLOSED } from '../tasks/channel.ts';
import { fanOut, firstFailure } from '../tasks/fan-out.ts';
import type { Outcome } from '../tasks/outcome.ts';
import { Task } from '../tasks/task.ts';
import { waitForPromise } from '../tasks/wait.ts';
import { isInt } from './arithmetic.ts';
import { settle } from './call.ts';
import { caughtValue, ExitRequest } from './caught.ts';
import type { Context, Run } from './context.ts';
import { dictOf } from './dict.ts';
import { runtimeError } from './errors.ts';
import { failureText } from './failure.ts';
import { drain, forSource } from './iterate.ts';
import { syncLocks } from './sync.ts';
import { cancelledError, childContext, deriveContext, releaseOutput, taskTree } from './task-context.ts';
import { CALL, END, EnumValue, Handle, Producer, type Pulled, type Source, typeOf, type Value } from './value.ts';

/**
 * Tasks of a script (spec/language.md 10.1, 10.2): the four forms of `parallel`, `spawn` and its handle. What emitted
 * code calls:
 *
 * - `await parallelCount(c, d, n, limit, body)`, `parallelEach`, `parallelSettle`; `parallelStream` answers at once.
 *   `limit` is the value of `max_concurrent`, undefined without one. `body` is `(c, d, item) => value or promise`.
 * - `spawnTask(c, d, body)` with `body` as `(c, d) => value or promise`.
 * - for the rest of the chapter: `enterMutex`, `leaveMutex` in sync.ts, `selectCases` in channel.ts, `enterDeadline` in
 *   deadline.ts, `producer`, `forSource`, `abandon` in iterate.ts, `rootContext`,
 *   `cleanupContext` (for `finally` and `defer` of a task that is being cancelled) in task-context.ts.
 * - `await endTasks(run)` once, after the entry has ended.
 */
export type TaskBody = (context: Context, depth: number, item?: Value) => unknown;

export async function parallelCount(context: Context, depth: number, count: Value, limit: Value, body: TaskBody): Promise<Value> {
  const most = concurrencyLimit(limit);
  if (!isInt(count)) return undefined;
  const items = Array.from({ length: Math.max(0, Number(count)) }, (_, index) => index);
  return joinAll(context, await new TaskGroup(context, 'parallel', items, body).run(depth, most));
}

export async function parallelEach(context: Context, depth: number, items: Value, limit: Value, body: TaskBody): Promise<Value> {
  const most = concurrencyLimit(limit);
  const list = await itemsOf(context, depth, items);
  if (list === undefined) return undefined;
  return joinAll(context, await new TaskGroup(context, 'parallel each', list, body).run(depth, most));
}

/** `{results, succeeded, failed}` with a Result for each item. */
export async function parallelSettle(context: Context, depth: number, items: Value, limit: Value, body: TaskBody): Promise<Value> {
  const most = concurrencyLimit(limit);
  const list = await itemsOf(context, depth, items);
  if (list === undefined) return undefined;
  const outcomes = await new TaskGroup(context, 'parallel settle', list, body).run(depth, most);
  if (context.signal.aborted) throw context.signal.reason;
  const failed = outcomes.filter((outcome) => outcome.kind === 'failed').length;
  return dictOf([
    ['results', outcomes.map(resultOf)],
    ['succeeded', outcomes.length - failed],
    ['failed', failed],
  ]);
}

/** A stream of the values in the order in which they get ready. The tasks begin when the current task first waits. */
export function parallelStream(context: Context, depth: number, items: Value, limit: Value, body: TaskBody): Value {
  const most = concurrencyLimit(limit);
  const source = forSource(items);
  if (Array.isArray(source) && source.length === 0 && !isIterable(items)) return undefined;
  return new Producer('stream', new CompletionSource(context, depth, source, most, body));
}

/** Starts a task that runs on its own. @returns its handle */
export function spawnTask(context: Context, _depth: number, body: TaskBody): Value {
  const tree = taskTree(context.run);
  const taskId = `${context.taskId}:spawn:${++tree.facts(context.taskId).spawnCount}`;
  const { taskGroupId } = context;
  const outputBuffer: string[] = [];
  const spawned = spawnedTasks(context.run);
  const task = Task.start(tree.scopeOf(context.signal), (scope) => {
    tree.register(scope);
    const child = childContext(context, { taskId, taskName: 'spawn', taskGroupId, signal: scope.signal, outputBuffer });
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
  if (!(value instanceof TaskHandle)) return ok(value);
  if (value.isTaken) return ok(undefined);
  value.isTaken = true;
  taskTree(context.run).facts(value.taskId).cancelRequested = true;
  const outcome = await withinTime(context, value.task.settled, timeoutMs);
  if (outcome === undefined) {
    value.task.cancel(cancelledError());
    return err('cancel_graceful: timeout, task forcefully aborted');
  }
  releaseOutput(context, value.output);
  return outcome.kind === 'done' ? ok(outcome.value) : err(failureText(outcome.error));
}

/**
 * Runs `call` for every item; the first plain value or `Ok` payload wins, and the others are cancelled.
 *
 * @throws `parallel_race: all N task(s) failed: …` when nobody wins
 */
export async function parallelRace(
  context: Context,
  depth: number,
  items: readonly Value[],
  limit: Value,
  call: TaskBody,
): Promise<{ readonly won: true; readonly value: Value } | { readonly won: false; readonly losses: readonly Outcome<Value>[] }> {
  const group = new TaskGroup(context, 'parallel race', items, call);
  let winner: { readonly index: number; readonly value: Value } | undefined;
  const outcomes = await group.run(depth, concurrencyLimit(limit), (index, outcome) => {
    if (winner !== undefined || outcome.kind === 'failed' || isErr(outcome.value)) return;
    winner = { index, value: payloadOf(outcome.value) };
    group.scope.cancel(cancelledError());
  });
  if (context.signal.aborted) throw context.signal.reason;
  return winner === undefined ? { won: false, losses: outcomes } : { won: true, value: winner.value };
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
  await withinRealTime(run, tree.background());
  run.end(cancelledError());
  tree.interrupts.close();
}

/** `spawn { … }` (spec/language.md 10.2). */
export class TaskHandle extends Handle {
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

/** The tasks of one `parallel`: they share a scope and a group id, and each has its own output. */
class TaskGroup {
  readonly scope: CancelScope;
  readonly #body: TaskBody;
  readonly #items: readonly Value[];
  readonly #children: readonly Context[];
  readonly #context: Context;

  constructor(context: Context, taskName: string, items: readonly Value[], body: TaskBody) {
    const tree = taskTree(context.run);
    this.scope = tree.openScope(context);
    this.#context = context;
    this.#items = items;
    this.#body = body;
    const groupId = `${context.taskId}:parallel:${++tree.facts(context.taskId).parallelCount}`;
    const { signal } = this.scope;
    this.#children = items.map((_, index) =>
      childContext(context, { taskId: `${groupId}:${index}`, taskName, taskGroupId: groupId, signal, outputBuffer: [] }),
    );
  }

  /** Runs all tasks to their end and then shows their output in source order. */
  async run(depth: number, limit: number, onOutcome?: (index: number, outcome: Outcome<Value>) => void): Promise<Outcome<Value>[]> {
    const outcomes = await this.start(depth, limit, onOutcome);
    for (const index of this.#children.keys()) releaseOutput(this.#context, this.outputOf(index));
    return outcomes;
  }

  start(depth: number, limit: number, onOutcome?: (index: number, outcome: Outcome<Value>) => void): Promise<Outcome<Value>[]> {
    const body = (index: number): Value | Promise<Value> => {
      const child = this.#children[index] as Context;
      return runTask(child, () => this.#body(child, depth + CALL, this.#items[index]));
    };
    return fanOut(this.scope, { count: this.#items.length, limit, body, ...(onOutcome === undefined ? {} : { onOutcome }) });
  }

  outputOf(index: number): readonly string[] {
    return this.#children[index]?.outputBuffer ?? [];
  }
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

/** `parallel each … as stream`: pulls take outcomes in the order in which they happened. */
class CompletionSource implements Source {
  readonly #ready = new Channel<{ readonly outcome: Outcome<Value>; readonly output: readonly string[] }>(Number.POSITIVE_INFINITY);
  readonly #scope: CancelScope;
  readonly #ended: Promise<void>;

  constructor(context: Context, depth: number, items: readonly Value[] | Source, limit: number, body: TaskBody) {
    const tree = taskTree(context.run);
    this.#scope = tree.openScope(context);
    this.#ended = this.#run(context, depth, items, limit, body);
    tree.track(this.#ended);
  }

  pull(context: Context): Pulled | Promise<Pulled> {
    const ready = this.#ready.receive(context.signal);
    return ready instanceof Promise ? ready.then((item) => this.#deliver(context, item)) : this.#deliver(context, ready);
  }

  abandon(): Promise<void> {
    this.#scope.cancel(cancelledError());
    return this.#ended;
  }

  async #run(context: Context, depth: number, items: readonly Value[] | Source, limit: number, body: TaskBody): Promise<void> {
    await undefined;
    const inner = deriveContext(context, { signal: this.#scope.signal });
    try {
      const list = 'pull' in items ? await drain(inner, depth, items) : items;
      const group = new TaskGroup(inner, 'parallel each', list, body);
      await group.start(depth, limit, (index, outcome) => this.#ready.trySend({ outcome, output: group.outputOf(index) }));
    } catch (error) {
      this.#ready.trySend({ outcome: { kind: 'failed', error }, output: [] });
    }
    this.#ready.close();
    this.#scope.close();
  }

  #deliver(context: Context, item: { outcome: Outcome<Value>; output: readonly string[] } | typeof CLOSED): Pulled {
    if (item === CLOSED) return END;
    releaseOutput(context, item.output);
    if (item.outcome.kind === 'done') return item.outcome.value;
    this.#scope.cancel(cancelledError());
    throw item.outcome.error;
  }
}

function joinAll(context: Context, outcomes: readonly Outcome<Value>[]): Value {
  if (context.signal.aborted) throw context.signal.reason;
  const failure = firstFailure(outcomes);
  if (failure !== undefined) throw failure.error;
  return outcomes.map((outcome) => (outcome.kind === 'done' ? outcome.value : undefined));
}

/** nil, 0 and negative numbers mean no limit. */
function concurrencyLimit(limit: Value): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  if (!isInt(limit)) throw runtimeError(`parallel max_concurrent must be an int; got ${typeOf(limit)}`);
  return limit <= 0 ? Number.POSITIVE_INFINITY : Number(limit);
}

/** The elements of anything that `for` walks over; undefined for other kinds. */
async function itemsOf(context: Context, depth: number, value: Value): Promise<readonly Value[] | undefined> {
  const source = forSource(value);
  if ('pull' in source) return drain(context, depth, source);
  return isIterable(value) ? source : undefined;
}

function isIterable(value: Value): boolean {
  return ['list', 'set', 'dict', 'range', 'iter', 'generator', 'stream', 'channel'].includes(typeOf(value));
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

function resultOf(outcome: Outcome<Value>): Value {
  if (outcome.kind === 'done') return ok(outcome.value);
  // Throws on what no script may catch: `exit`, and defects of our own.
  caughtValue(outcome.error);
  return err(failureText(outcome.error));
}

function ok(value: Value): EnumValue {
  return new EnumValue('Result', 'Ok', [value]);
}

function err(value: Value): EnumValue {
  return new EnumValue('Result', 'Err', [value]);
}

export function isErr(value: Value): boolean {
  return value instanceof EnumValue && value.enumName === 'Result' && value.variant === 'Err';
}

/** The payload of a Result, any other value as it is. */
export function payloadOf(value: Value): Value {
  return value instanceof EnumValue && value.enumName === 'Result' ? value.fields[0] : value;
}
