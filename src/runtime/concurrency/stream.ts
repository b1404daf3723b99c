import type { CancelScope } from '../../tasks/cancel-scope.ts';
import { Fifo } from '../../tasks/fifo.ts';
import { outcomeOf } from '../../tasks/outcome.ts';
import { waitFor } from '../../tasks/wait.ts';
import type { Context } from '../context.ts';
import { forSource, iterSource, SerialSource, stepSource } from '../iterate.ts';
import { AGAIN, andThen, type MaybeAsync, until } from '../maybe-async.ts';
import { cancelledError, deriveContext, taskTree } from '../task-context.ts';
import { Dict, END, Producer, type Pulled, type Source, type Value } from '../value.ts';

/**
 * What the `stream.*` functions are made of (spec/language.md 12.4). An operator owns its sources: at its end, at an error
 * and when it is abandoned, it abandons them, so that a stream far up the chain stops its tasks.
 */
export type Step = (context: Context, depth: number) => MaybeAsync<Pulled>;

export function streamOf(sources: readonly Source[], step: Step): Producer {
  return new Producer('stream', new OperatorSource(sources, step));
}

/** Anything that can be iterated, as `for` sees it; strings give their code points. Undefined for other kinds. */
export function streamSource(value: Value): Source | undefined {
  if (!(value instanceof Dict)) return iterSource(value);
  const entries = forSource(value) as readonly Value[];
  return iterSource(entries);
}

class OperatorSource extends SerialSource {
  readonly #sources: readonly Source[];
  readonly #step: Step;

  constructor(sources: readonly Source[], step: Step) {
    super();
    this.#sources = sources;
    this.#step = step;
  }

  next(context: Context, depth: number): MaybeAsync<Pulled> {
    const outcome = outcomeOf(() => this.#step(context, depth));
    return andThen(outcome, (ended) => {
      if (ended.kind === 'done' && ended.value !== END) return ended.value;
      return andThen(this.abandon(), () => {
        if (ended.kind === 'failed') throw ended.error;
        return END;
      });
    });
  }

  abandon(): void | Promise<void> {
    const waits: Promise<void>[] = [];
    for (const source of this.#sources) {
      const wait = source.abandon?.();
      if (wait instanceof Promise) waits.push(wait);
    }
    return waits.length === 0 ? undefined : Promise.all(waits).then(() => undefined);
  }
}

/** What became of one pull that goes on beside others. */
interface Arrival {
  readonly index: number;
  readonly outcome: { readonly kind: 'done'; readonly value: Pulled } | { readonly kind: 'failed'; readonly error: unknown };
}

/**
 * Pulls from several sources at the same time. Each source has at most one pull in flight, under a scope of its own, so
 * that closing withdraws what still waits: a value that arrives in a channel later is then not lost to a pull that
 * nobody listens to any more.
 */
class ConcurrentPulls {
  readonly #sources: readonly Source[];
  readonly #scopes: (CancelScope | undefined)[];
  readonly #arrived: Arrival[] = [];
  #wake: (() => void) | undefined;

  constructor(sources: readonly Source[]) {
    this.#sources = sources;
    this.#scopes = sources.map(() => undefined);
  }

  /** Starts a pull from a source, unless one is in flight. */
  start(context: Context, depth: number, index: number): void {
    if (this.#scopes[index] !== undefined || this.#arrived.some((arrival) => arrival.index === index)) return;
    const source = this.#sources[index] as Source;
    const scope = taskTree(context.run).openScope(context);
    this.#scopes[index] = scope;
    const inner = deriveContext(context, { signal: scope.signal });
    const settled = andThen(
      outcomeOf(() => source.pull(inner, depth)),
      (outcome) => {
        this.#scopes[index] = undefined;
        scope.close();
        this.#arrived.push({ index, outcome });
        this.#wake?.();
      },
    );
    if (settled instanceof Promise) taskTree(context.run).track(settled);
  }

  /** The next pull that has ended, in the order of their ends. */
  next(context: Context): MaybeAsync<Arrival> {
    const first = this.#arrived.shift();
    if (first !== undefined) return first;
    const arrival = waitFor<void>(context.signal, (wake) => {
      this.#wake = wake;
      return () => {
        this.#wake = undefined;
      };
    });
    return arrival.then(() => {
      this.#wake = undefined;
      return this.#arrived.shift() as Arrival;
    });
  }

  /** True when a pull that ended waits to be taken. */
  get hasArrival(): boolean {
    return this.#arrived.length > 0;
  }

  /** Withdraws the pulls in flight, all or all but one. */
  close(except?: number): void {
    for (const [index, scope] of this.#scopes.entries()) {
      if (index !== except) scope?.cancel(cancelledError());
    }
  }
}

function outcomeValue({ outcome }: Arrival): Pulled {
  if (outcome.kind === 'failed') throw outcome.error;
  return outcome.value;
}

/** A stream over concurrent pulls: they are withdrawn before the sources are abandoned. */
function concurrentStream(sources: readonly Source[], pulls: ConcurrentPulls, step: Step): Producer {
  const withdrawing: Source = { pull: () => END, abandon: () => pulls.close() };
  return streamOf([withdrawing, ...sources], step);
}

/**
 * Elements of all sources, one of each ready source in turn. A round starts a pull everywhere; what is ready is given in
 * the order of the sources, and a source that keeps the others waiting is left behind until it delivers.
 */
export function mergeStreams(sources: readonly Source[]): Producer {
  const pulls = new ConcurrentPulls(sources);
  const open = new Set(sources.keys());
  return concurrentStream(sources, pulls, (context, depth) =>
    until<Pulled>(() => {
      if (!pulls.hasArrival) for (const index of open) pulls.start(context, depth, index);
      if (open.size === 0) return END;
      return andThen(pulls.next(context), (arrival) => {
        const value = outcomeValue(arrival);
        if (value !== END) return value;
        open.delete(arrival.index);
        return AGAIN;
      });
    }),
  );
}

/** All elements of the source that delivers first; a source that ends without an element is out of the race. */
export function raceStreams(sources: readonly Source[]): Producer {
  const pulls = new ConcurrentPulls(sources);
  const running = new Set(sources.keys());
  let winner: Source | undefined;
  return concurrentStream(sources, pulls, (context, depth) => {
    if (winner !== undefined) return winner.pull(context, depth);
    return until<Pulled>(() => {
      if (running.size === 0) return END;
      for (const index of running) {
        if (!pulls.hasArrival) pulls.start(context, depth, index);
      }
      return andThen(pulls.next(context), (arrival) => {
        const value = outcomeValue(arrival);
        running.delete(arrival.index);
        if (value === END) return AGAIN;
        pulls.close(arrival.index);
        winner = sources[arrival.index];
        return value;
      });
    });
  });
}

/** One element of each source in turn; a source that has ended is skipped. */
export function interleaveStreams(sources: readonly Source[]): Producer {
  const queue = [...sources];
  return streamOf(sources, (context, depth) =>
    until<Pulled>(() => {
      const source = queue.shift();
      if (source === undefined) return END;
      return andThen(source.pull(context, depth), (item) => {
        if (item === END) return AGAIN;
        queue.push(source);
        return item;
      });
    }),
  );
}

/** `count` streams that each see every element; what the slowest has not seen yet is kept. */
export function broadcastStream(source: Source, count: number): Producer[] {
  const queues = Array.from({ length: count }, () => new Fifo<Value>());
  const listening = new Set(queues);
  const upstream = stepSource((context, depth) =>
    andThen(source.pull(context, depth), (item) => {
      if (item !== END) for (const queue of listening) queue.push(item);
      return item;
    }),
  );
  return queues.map((queue) => {
    const leaving: Source = {
      pull: () => END,
      abandon: () => {
        listening.delete(queue);
        return listening.size === 0 ? source.abandon?.() : undefined;
      },
    };
    return streamOf([leaving], (context, depth) =>
      until<Pulled>(() => {
        if (queue.size > 0) return queue.shift();
        return andThen(upstream.pull(context, depth), (item) => (item === END && queue.size === 0 ? END : AGAIN));
      }),
    );
  });
}

/** At most `perSecond` elements a second: each waits until its turn has come. */
export function throttleStream(source: Source, perSecond: number): Producer {
  const gapMs = 1000 / perSecond;
  let freeAtMs = Number.NEGATIVE_INFINITY;
  return streamOf([source], (context, depth) =>
    andThen(source.pull(context, depth), async (item) => {
      if (item === END) return END;
      const { clock } = context.run.platform;
      const waitMs = freeAtMs - clock.monotonicMs();
      if (waitMs > 0) await clock.sleep(waitMs, context.signal);
      freeAtMs = clock.monotonicMs() + gapMs;
      return item;
    }),
  );
}

/** The last element before each pause of `windowMs`, and the last of all. */
export function debounceStream(source: Source, windowMs: number): Producer {
  const pulls = new ConcurrentPulls([source]);
  let hasEnded = false;
  return concurrentStream([source], pulls, async (context, depth) => {
    let latest: Pulled = END;
    while (!hasEnded) {
      pulls.start(context, depth, 0);
      const arrival = latest === END ? await pulls.next(context) : await nextWithin(context, pulls, windowMs);
      if (arrival === undefined) return latest;
      const value = outcomeValue(arrival);
      if (value === END) hasEnded = true;
      else latest = value;
    }
    return latest;
  });
}

/** The next arrival, or undefined when nothing arrives for `ms`. */
async function nextWithin(context: Context, pulls: ConcurrentPulls, ms: number): Promise<Arrival | undefined> {
  if (pulls.hasArrival) return pulls.next(context);
  const tree = taskTree(context.run);
  const scope = tree.openScope(context);
  const timeUp = cancelledError();
  const stop = context.run.platform.clock.timer(ms, () => scope.cancel(timeUp));
  try {
    return await pulls.next(deriveContext(context, { signal: scope.signal }));
  } catch (error) {
    if (error === timeUp) return undefined;
    throw error;
  } finally {
    stop();
    scope.close();
  }
}
