import type { CancelScope } from '../../tasks/cancel-scope.ts';
import { Channel, CLOSED } from '../../tasks/channel.ts';
import { fanOut, firstFailure } from '../../tasks/fan-out.ts';
import type { Outcome } from '../../tasks/outcome.ts';
import { isInt } from '../arithmetic.ts';
import { caughtValue } from '../caught.ts';
import type { Context } from '../context.ts';
import { dictOf } from '../dict.ts';
import { runtimeError } from '../errors.ts';
import { failureText } from '../failure.ts';
import { drain, forSource } from '../iterate.ts';
import { errResult, isErr, okResult, payloadOf } from '../result.ts';
import { cancelledError, childContext, deriveContext, releaseOutput, taskTree } from '../task-context.ts';
import { CALL, END, Producer, type Pulled, type Source, typeOf, type Value } from '../value.ts';
import { runTask, type TaskBody } from './tasks.ts';

/**
 * The four forms of `parallel`, and `parallel_race` (spec/language.md 10.1). Emitted code calls
 * `await parallelCount(c, d, n, limit, body)`, `parallelEach`, `parallelSettle`, and `parallelStream`, which answers at
 * once. `limit` is the value of `max_concurrent`, undefined without one.
 */
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

function resultOf(outcome: Outcome<Value>): Value {
  if (outcome.kind === 'done') return okResult(outcome.value);
  // Throws on what no script may catch: `exit`, and defects of our own.
  caughtValue(outcome.error);
  return errResult(failureText(outcome.error));
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
