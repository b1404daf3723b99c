import { add } from '../arithmetic.ts';
import { callValue } from '../call.ts';
import type { Context } from '../context.ts';
import { dictOf } from '../dict.ts';
import { compareValues, isTruthy, structuralKey } from '../equality.ts';
import { typeError } from '../errors.ts';
import { iterOf, ListSource, requireSource, stepSource } from '../iterate.ts';
import { AGAIN, andThen, type MaybeAsync, until } from '../maybe-async.ts';
import {
  END,
  Float,
  type HarnFunction,
  Iter,
  isCallable,
  Pair,
  type Producer,
  type Pulled,
  SetValue,
  type Source,
  typeOf,
  type Value,
} from '../value.ts';

/**
 * Methods of `iter`, `generator` and `stream` (spec/language.md 7.6, 7.7). The lazy ones answer a new iter that pulls from
 * the receiver itself, so that two adapters over one iter share its elements. Draining ones stay synchronous as long
 * as the source and the callback do.
 */
export type IterMethod = (context: Context, depth: number, receiver: Iter, args: readonly Value[]) => MaybeAsync<Value>;

export const ITER_METHODS: Readonly<Record<string, IterMethod>> = {
  iter: (_c, _d, it) => it,
  map: (_c, _d, it, [fn]) => lazy(mapping(it, callback('map', fn))),
  filter: (_c, _d, it, [fn]) => lazy(filtering(it, callback('filter', fn))),
  flat_map: (_c, _d, it, [fn]) => lazy(flatMapping(it, callback('flat_map', fn))),
  take: (_c, _d, it, [n]) => taking(it, count('take', n)),
  skip: (_c, _d, it, [n]) => lazy(skipping(it, count('skip', n))),
  take_while: (_c, _d, it, [fn]) => lazy(takingWhile(it, callback('take_while', fn))),
  skip_while: (_c, _d, it, [fn]) => lazy(skippingWhile(it, callback('skip_while', fn))),
  zip: (_c, _d, it, [other]) => lazy(zipping(it, requireSource(other))),
  enumerate: (_c, _d, it) => lazy(enumerating(it)),
  chain: (_c, _d, it, [other]) => lazy(chaining(it, requireSource(other))),
  chunks: (_c, _d, it, [n]) => lazy(chunking(it, size('chunks', 'chunk', n))),
  windows: (_c, _d, it, [n]) => lazy(windowing(it, size('windows', 'window', n))),

  to_list: (c, d, it) => {
    const items: Value[] = [];
    return andThen(
      each(c, d, it, (item) => void items.push(item)),
      () => items,
    );
  },
  to_set: (c, d, it) => {
    const items = new Map<string, Value>();
    const keep = (item: Value): void => {
      const key = structuralKey(item);
      if (!items.has(key)) items.set(key, item);
    };
    return andThen(each(c, d, it, keep), () => new SetValue(items));
  },
  to_dict: (c, d, it) => {
    const entries: [string, Value][] = [];
    const keep = (item: Value): void => {
      if (!(item instanceof Pair)) throw typeError(`iter.to_dict: expected pair, got ${typeOf(item)}`);
      if (typeof item.first !== 'string') throw typeError(`iter.to_dict: expected string key, got ${typeOf(item.first)}`);
      entries.push([item.first, item.second]);
    };
    return andThen(each(c, d, it, keep), () => dictOf(entries));
  },
  count: (c, d, it) => {
    let total = 0;
    return andThen(
      each(c, d, it, () => void total++),
      () => total,
    );
  },
  sum: (c, d, it) => {
    let total: Value = 0;
    const addItem = (item: Value): void => {
      if (typeof item !== 'number' && typeof item !== 'bigint' && !(item instanceof Float)) {
        throw typeError(`iter.sum: expected number, got ${typeOf(item)}`);
      }
      total = add(total, item);
    };
    return andThen(each(c, d, it, addItem), () => total);
  },
  min: (c, d, it) => extreme(c, d, it, (item, best) => compareValues(item, best) < 0),
  max: (c, d, it) => extreme(c, d, it, (item, best) => compareValues(item, best) > 0),
  reduce: (c, d, it, [init, fn]) => {
    if (!isCallable(fn)) throw typeError('iter.reduce: expected (init, fn)');
    let total = init;
    const fold = (item: Value): MaybeAsync<void> =>
      andThen(callValue(c, d, fn, total, item), (next) => {
        total = next;
      });
    return andThen(each(c, d, it, fold), () => total);
  },
  first: (c, d, it) => andThen(it.pull(c, d), (item) => (item === END ? undefined : item)),
  last: (c, d, it) => {
    let last: Value;
    const keep = (item: Value): void => {
      last = item;
    };
    return andThen(each(c, d, it, keep), () => last);
  },
  any: (c, d, it, [fn]) => andThen(search(c, d, it, callback('any', fn), true), (found) => found !== END),
  all: (c, d, it, [fn]) => andThen(search(c, d, it, callback('all', fn), false), (found) => found === END),
  find: (c, d, it, [fn]) => andThen(search(c, d, it, callback('find', fn), true), (found) => (found === END ? undefined : found)),
  for_each: (c, d, it, [fn]) => {
    const act = callback('for_each', fn);
    return each(c, d, it, (item) => andThen(callValue(c, d, act, item), () => undefined));
  },
};

export type ProducerMethod = (context: Context, depth: number, receiver: Producer) => MaybeAsync<Value>;

export const PRODUCER_METHODS: Readonly<Record<string, ProducerMethod>> = {
  next: (c, d, producer) =>
    andThen(producer.pull(c, d), (item) =>
      dictOf([
        ['done', item === END],
        ['value', item === END ? undefined : item],
      ]),
    ),
  iter: (_c, _d, producer) => iterOf(producer),
};

// ---- arguments ----

function callback(method: string, value: Value): HarnFunction {
  if (isCallable(value)) return value;
  throw typeError(`iter.${method}: expected callable`);
}

function count(method: string, value: Value): number {
  if (typeof value === 'number' && value >= 0) return value;
  if (typeof value === 'bigint' && value >= 0n) return Number.MAX_SAFE_INTEGER;
  throw typeError(`iter.${method}: expected non-negative int`);
}

function size(method: string, what: string, value: Value): number {
  if (typeof value === 'number' && value >= 1) return value;
  throw typeError(`iter.${method}: ${what} size must be positive`);
}

// ---- draining ----

/** Hands every element that is left to `visit`. */
function each(context: Context, depth: number, source: Source, visit: (item: Value) => MaybeAsync<void>): MaybeAsync<undefined> {
  return until(() =>
    andThen(source.pull(context, depth), (item) => (item === END ? undefined : andThen(visit(item), (): typeof AGAIN => AGAIN))),
  );
}

/** The first element for which the callback's truth is `wanted`; `END` when there is none. */
function search(context: Context, depth: number, source: Source, fn: HarnFunction, wanted: boolean): MaybeAsync<Pulled> {
  return until<Pulled>(() =>
    andThen(source.pull(context, depth), (item) => {
      if (item === END) return END;
      return andThen(callValue(context, depth, fn, item), (answer) => (isTruthy(answer) === wanted ? item : AGAIN));
    }),
  );
}

function extreme(context: Context, depth: number, source: Source, isBetter: (item: Value, best: Value) => boolean): MaybeAsync<Value> {
  let best: Pulled = END;
  const compare = (item: Value): void => {
    if (best === END || isBetter(item, best)) best = item;
  };
  return andThen(each(context, depth, source, compare), () => (best === END ? undefined : best));
}

// ---- lazy adapters ----

type Step = (context: Context, depth: number) => MaybeAsync<Pulled>;

function lazy(step: Step): Iter {
  return new Iter(stepSource(step));
}

function mapping(upstream: Source, fn: HarnFunction): Step {
  return (c, d) => andThen(upstream.pull(c, d), (item) => (item === END ? END : callValue(c, d, fn, item)));
}

function filtering(upstream: Source, fn: HarnFunction): Step {
  return (c, d) => search(c, d, upstream, fn, true);
}

/** Expands each result of the callback, which has to be iterable. */
function flatMapping(upstream: Source, fn: HarnFunction): Step {
  let inner: Source = new ListSource([]);
  return (c, d) =>
    until<Pulled>(() =>
      andThen(inner.pull(c, d), (item) => {
        if (item !== END) return item;
        return andThen(upstream.pull(c, d), (outer) => {
          if (outer === END) return END;
          return andThen(callValue(c, d, fn, outer), (result): typeof AGAIN => {
            inner = requireSource(result);
            return AGAIN;
          });
        });
      }),
    );
}

/** Exhausted as soon as the last element was given, not at the pull after it (spec/language.md 4.2). */
function taking(upstream: Source, limit: number): Iter {
  let left = limit;
  const iter = lazy((c, d) =>
    andThen(upstream.pull(c, d), (item) => {
      if (--left === 0) iter.exhausted = true;
      return item;
    }),
  );
  iter.exhausted = limit === 0;
  return iter;
}

function skipping(upstream: Source, number: number): Step {
  let left = number;
  return (c, d) =>
    until<Pulled>(() =>
      andThen(upstream.pull(c, d), (item) => {
        if (item === END || left === 0) return item;
        left--;
        return AGAIN;
      }),
    );
}

function takingWhile(upstream: Source, fn: HarnFunction): Step {
  return (c, d) =>
    andThen(upstream.pull(c, d), (item) => {
      if (item === END) return END;
      return andThen(callValue(c, d, fn, item), (answer) => (isTruthy(answer) ? item : END));
    });
}

function skippingWhile(upstream: Source, fn: HarnFunction): Step {
  let isSkipping = true;
  return (c, d) => {
    if (!isSkipping) return upstream.pull(c, d);
    return andThen(search(c, d, upstream, fn, false), (item) => {
      isSkipping = false;
      return item;
    });
  };
}

/** Pairs of two sources, ending with the shorter. */
export function zipping(left: Source, right: Source): Step {
  return (c, d) =>
    andThen(left.pull(c, d), (first) => {
      if (first === END) return END;
      return andThen(right.pull(c, d), (second) => (second === END ? END : new Pair(first, second)));
    });
}

function enumerating(upstream: Source): Step {
  let index = 0;
  return (c, d) => andThen(upstream.pull(c, d), (item) => (item === END ? END : new Pair(index++, item)));
}

function chaining(first: Source, second: Source): Step {
  let isInFirst = true;
  return (c, d) => {
    if (!isInFirst) return second.pull(c, d);
    return andThen(first.pull(c, d), (item) => {
      if (item !== END) return item;
      isInFirst = false;
      return second.pull(c, d);
    });
  };
}

function chunking(upstream: Source, chunkSize: number): Step {
  return (c, d) => {
    const chunk: Value[] = [];
    return until<Pulled>(() =>
      andThen(upstream.pull(c, d), (item) => {
        if (item === END) return chunk.length > 0 ? chunk : END;
        chunk.push(item);
        return chunk.length === chunkSize ? chunk : AGAIN;
      }),
    );
  };
}

function windowing(upstream: Source, windowSize: number): Step {
  let window: readonly Value[] = [];
  return (c, d) =>
    until<Pulled>(() =>
      andThen(upstream.pull(c, d), (item) => {
        if (item === END) return END;
        window = [...(window.length === windowSize ? window.slice(1) : window), item];
        return window.length === windowSize ? window : AGAIN;
      }),
    );
}
