import { ChannelHandle } from './concurrency/channel.ts';
import type { Context, Run } from './context.ts';
import { dictEntries, dictOf } from './dict.ts';
import { runtimeError, typeError } from './errors.ts';
import type { MaybeAsync } from './maybe-async.ts';
import { cleanupContext } from './task-context.ts';
import { Dict, END, Iter, Pair, Producer, type Pulled, RangeValue, SetValue, type Source, typeOf, type Value } from './value.ts';

/**
 * Everything that gives values one at a time. There are two views of the same kinds: `for` sees a dict as `{key, value}`
 * entries and nothing in a string (spec/language.md 6.2), `iter(...)` sees pairs and code points (7.6).
 */

/**
 * What a `for` loop walks over: a list to index, or a source to pull from. Values that cannot be iterated are an
 * empty list.
 */
export function forSource(value: Value): readonly Value[] | Source {
  if (Array.isArray(value)) return value as readonly Value[];
  if (value instanceof SetValue) return [...value.items.values()];
  if (value instanceof Dict)
    return dictEntries(value).map(([key, item]) =>
      dictOf([
        ['key', key],
        ['value', item],
      ]),
    );
  if (value instanceof RangeValue) return new RangeSource(value);
  if (value instanceof Iter || value instanceof Producer || value instanceof ChannelHandle) return value;
  return [];
}

/**
 * Tells what `forSource` gave that the loop was left; a loop that ran to the end may say so too.
 *
 * @returns a promise when the clean-up of a producer waits; the loop is left when it resolves
 */
export function abandon(source: readonly Value[] | Source): void | Promise<void> {
  return 'abandon' in source ? source.abandon?.() : undefined;
}

/** The source behind `iter(value)`; undefined when the value is not iterable. An iter stands for itself. */
export function iterSource(value: Value): Source | undefined {
  if (Array.isArray(value)) return new ListSource(value as readonly Value[]);
  if (value instanceof Iter || value instanceof Producer || value instanceof ChannelHandle) return value;
  if (value instanceof SetValue) return new ListSource([...value.items.values()]);
  if (value instanceof Dict) return new ListSource(dictEntries(value).map(([key, item]) => new Pair(key, item)));
  if (typeof value === 'string') return new ListSource([...value]);
  if (value instanceof RangeValue) return new RangeSource(value);
  return undefined;
}

/** @throws type error `iter: value of type T is not iterable` */
export function requireSource(value: Value): Source {
  const source = iterSource(value);
  if (source === undefined) throw typeError(`iter: value of type ${typeOf(value)} is not iterable`);
  return source;
}

/** `iter(value)`; an iter is returned as it is. */
export function iterOf(value: Value): Iter {
  return value instanceof Iter ? value : new Iter(requireSource(value));
}

/** All that is left of a source. */
export async function drain(context: Context, depth: number, source: Source): Promise<Value[]> {
  const values: Value[] = [];
  for (let item = await source.pull(context, depth); item !== END; item = await source.pull(context, depth)) values.push(item);
  return values;
}

export class ListSource implements Source {
  readonly #items: readonly Value[];
  #position = 0;

  constructor(items: readonly Value[]) {
    this.#items = items;
  }

  pull(): Pulled {
    return this.#position < this.#items.length ? this.#items[this.#position++] : END;
  }
}

class RangeSource implements Source {
  readonly #last: number;
  #next: number;

  constructor(range: RangeValue) {
    this.#next = range.start;
    this.#last = range.isExclusive ? range.end - 1 : range.end;
  }

  pull(): Pulled {
    return this.#next <= this.#last ? this.#next++ : END;
  }
}

/** A source whose steps may wait and must not overlap: a pull that comes too early is served after the one before. */
export abstract class SerialSource implements Source {
  #last: Promise<void> | undefined;

  abstract next(context: Context, depth: number): MaybeAsync<Pulled>;

  pull(context: Context, depth: number): MaybeAsync<Pulled> {
    const pulled = this.#last === undefined ? this.next(context, depth) : this.#last.then(() => this.next(context, depth));
    if (pulled instanceof Promise) this.#remember(pulled);
    return pulled;
  }

  #remember(pulled: Promise<Pulled>): void {
    const settled = (): void => {
      if (this.#last === last) this.#last = undefined;
    };
    const last: Promise<void> = pulled.then(settled, settled);
    this.#last = last;
  }
}

/** A source out of one function. */
export function stepSource(step: (context: Context, depth: number) => MaybeAsync<Pulled>): Source {
  return new StepSource(step);
}

class StepSource extends SerialSource {
  readonly #step: (context: Context, depth: number) => MaybeAsync<Pulled>;

  constructor(step: (context: Context, depth: number) => MaybeAsync<Pulled>) {
    super();
    this.#step = step;
  }

  next(context: Context, depth: number): MaybeAsync<Pulled> {
    return this.#step(context, depth);
  }
}

/** The body of a generator or stream as emitted: a JavaScript generator, asynchronous when the body can wait. */
export type ProducerBody = (context: Context) => Generator<Value, unknown, void> | AsyncGenerator<Value, unknown, void>;

/**
 * A generator or stream over an emitted body (spec/language.md 5.7). The body starts at the first pull. It gets a context
 * that always stands for the task that pulls: its waits end with that task's deadline, its output goes where that
 * task writes. Emitted code is `producer(c, 'stream', async function* (c) { … })`.
 */
export function producer(context: Context, kind: 'generator' | 'stream', body: ProducerBody): Producer {
  return new Producer(kind, new BodySource(context, body));
}

class BodySource extends SerialSource {
  readonly #context: PullContext;
  readonly #body: ProducerBody;
  /** Undefined until the body has begun. */
  #generator: ReturnType<ProducerBody> | undefined;
  #isBusy = false;

  constructor(context: Context, body: ProducerBody) {
    super();
    this.#context = new PullContext(context);
    this.#body = body;
  }

  next(context: Context): MaybeAsync<Pulled> {
    if (this.#isBusy) throw runtimeError('a generator cannot pull from itself');
    this.#context.puller = context;
    this.#generator ??= this.#body(this.#context);
    this.#isBusy = true;
    let result: MaybeAsync<IteratorResult<Value, unknown>>;
    try {
      result = this.#generator.next();
    } catch (error) {
      this.#isBusy = false;
      throw error;
    }
    if (!(result instanceof Promise)) {
      this.#isBusy = false;
      return pulledFrom(result);
    }
    return result.then(pulledFrom).finally(() => {
      this.#isBusy = false;
    });
  }

  /** Runs the `finally` and `defer` blocks of a body that has begun. */
  abandon(): void | Promise<void> {
    if (this.#generator === undefined) return undefined;
    this.#context.puller = cleanupContext(this.#context.puller);
    const ended = this.#generator.return(undefined);
    return ended instanceof Promise ? ended.then(() => undefined) : undefined;
  }
}

function pulledFrom(result: IteratorResult<Value, unknown>): Pulled {
  return result.done === true ? END : result.value;
}

/** Stands for the context of whoever pulls at the moment. */
class PullContext implements Context {
  puller: Context;

  constructor(puller: Context) {
    this.puller = puller;
  }

  get run(): Run {
    return this.puller.run;
  }
  get taskId(): string {
    return this.puller.taskId;
  }
  get parent(): Context | undefined {
    return this.puller.parent;
  }
  get taskName(): string {
    return this.puller.taskName;
  }
  get taskGroupId(): string | undefined {
    return this.puller.taskGroupId;
  }
  get signal(): AbortSignal {
    return this.puller.signal;
  }
  get values(): Map<string, Value> {
    return this.puller.values;
  }
  get agent(): unknown {
    return this.puller.agent;
  }
  get cancelRequested(): boolean {
    return this.puller.cancelRequested;
  }
  set cancelRequested(value: boolean) {
    this.puller.cancelRequested = value;
  }
  get outputBuffer(): string[] | undefined {
    return this.puller.outputBuffer;
  }
  set outputBuffer(value: string[] | undefined) {
    this.puller.outputBuffer = value;
  }
}
