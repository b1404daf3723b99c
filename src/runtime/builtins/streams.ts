import type { Builtin, BuiltinGroup } from '../builtin.ts';
import { callValue } from '../call.ts';
import {
  broadcastStream,
  debounceStream,
  interleaveStreams,
  mergeStreams,
  raceStreams,
  streamOf,
  streamSource,
  throttleStream,
} from '../concurrency/stream.ts';
import type { Context } from '../context.ts';
import { dictGet } from '../dict.ts';
import { durationMs } from '../duration.ts';
import { isTruthy } from '../equality.ts';
import { runtimeError, typeError } from '../errors.ts';
import { AGAIN, andThen, type MaybeAsync, until } from '../maybe-async.ts';
import { zipping } from '../methods/iterate-methods.ts';
import { Dict, END, type HarnFunction, isCallable, type Pulled, type Source, typeOf, type Value } from '../value.ts';

const DEFAULT_COLLECT_MAX = 10_000;

export const streamBuiltins: BuiltinGroup = {
  name: 'streams',
  title: 'Streams',
  errors: [
    { text: 'Runtime error: stream.collect: max cap N exceeded', when: 'more elements than allowed' },
    { text: 'Runtime error: stream.interleave: expected at least two sources', when: '`stream.interleave`' },
    { text: 'Type error: stream.NAME: value of type T is not iterable', when: 'a source that is something else' },
    { text: 'Type error: stream.NAME: expected callable, got T', when: 'a function that is something else' },
    { text: 'Type error: stream.NAME: expected an int of at least N, got V', when: 'a count' },
  ],
  builtins: {
    'stream.map': overElements('The results of fn for each element.', 'map', (source, fn) =>
      streamOf([source], (c, d) => andThen(source.pull(c, d), (item) => (item === END ? END : callValue(c, d, fn, item)))),
    ),
    'stream.filter': overElements('The elements for which fn is true.', 'filter', (source, fn) =>
      streamOf([source], (c, d) =>
        until<Pulled>(() =>
          andThen(source.pull(c, d), (item) => {
            if (item === END) return END;
            return andThen(callValue(c, d, fn, item), (answer) => (isTruthy(answer) ? item : AGAIN));
          }),
        ),
      ),
    ),
    'stream.tap': overElements('The elements themselves; fn is called with each on its way.', 'tap', (source, fn) =>
      streamOf([source], (c, d) =>
        andThen(source.pull(c, d), (item) => (item === END ? END : andThen(callValue(c, d, fn, item), () => item))),
      ),
    ),
    'stream.take_until': overElements('The elements before the first for which fn is true.', 'take_until', (source, fn) =>
      streamOf([source], (c, d) =>
        andThen(source.pull(c, d), (item) => {
          if (item === END) return END;
          return andThen(callValue(c, d, fn, item), (answer) => (isTruthy(answer) ? END : item));
        }),
      ),
    ),
    'stream.scan': {
      signature: '(src: any, init: any, callback: fn(any, any) -> any) -> Stream<any>',
      doc: 'The running results of a fold, without the initial value.',
      call: (_context, _depth, src, init, fn) => {
        const source = sourceArgument('scan', src);
        const fold = callableArgument('scan', fn);
        let total = init;
        return streamOf([source], (c, d) =>
          andThen(source.pull(c, d), (item) => {
            if (item === END) return END;
            return andThen(callValue(c, d, fold, total, item), (next) => {
              total = next;
              return next;
            });
          }),
        );
      },
    },
    'stream.fold': {
      signature: '(src: any, init: any, callback: fn(any, any) -> any) -> any',
      doc: 'Combines all elements: fn(total, element), beginning with init.',
      colour: 'async',
      call: async (context, depth, src, init, fn) => {
        const fold = callableArgument('fold', fn);
        let total = init;
        await consume(context, depth, sourceArgument('fold', src), async (item) => {
          total = await callValue(context, depth, fold, total, item);
          return true;
        });
        return total;
      },
    },
    'stream.collect': {
      signature: '(src: any, max: int | dict = 10000) -> list',
      doc: 'All elements as a list. More than max (an int, or {max}) is an error.',
      colour: 'async',
      call: async (context, depth, src, max) => {
        const limit = collectLimit(max);
        const items: Value[] = [];
        await consume(context, depth, sourceArgument('collect', src), (item) => {
          if (items.length >= limit) throw runtimeError(`stream.collect: max cap ${limit} exceeded`);
          items.push(item);
          return true;
        });
        return items;
      },
    },
    'stream.first': {
      signature: '(src: any) -> any',
      doc: 'The first element, or nil. The stream ends with that.',
      colour: 'async',
      call: async (context, depth, src) => {
        let first: Value;
        await consume(context, depth, sourceArgument('first', src), (item) => {
          first = item;
          return false;
        });
        return first;
      },
    },
    'stream.take': {
      signature: '(src: any, n: int) -> Stream<any>',
      doc: 'The first n elements.',
      call: (_context, _depth, src, n) => {
        const source = sourceArgument('take', src);
        let left = countArgument('take', n, 0);
        return streamOf([source], (c, d) => (left-- > 0 ? source.pull(c, d) : END));
      },
    },
    'stream.zip': {
      signature: '(a: any, b: any) -> Stream<pair>',
      doc: 'Pairs of the elements of two sources, ending with the shorter.',
      call: (_context, _depth, a, b) => {
        const sources: [Source, Source] = [sourceArgument('zip', a), sourceArgument('zip', b)];
        return streamOf(sources, zipping(...sources));
      },
    },
    'stream.merge': {
      signature: '(...sources: any) -> Stream<any>',
      doc: 'The elements of several sources, taken in turn from those that are ready. Give the sources, or one list of them.',
      call: (_context, _depth, ...sources) => mergeStreams(sourceArguments('merge', sources)),
    },
    'stream.race': {
      signature: '(...sources: any) -> Stream<any>',
      doc: 'The elements of whichever source delivers first. Give the sources, or one list of them.',
      call: (_context, _depth, ...sources) => raceStreams(sourceArguments('race', sources)),
    },
    'stream.interleave': {
      signature: '(...sources: any) -> Stream<any>',
      doc: 'One element of each source in turn; at least two sources.',
      call: (_context, _depth, ...sources) => {
        const list = sourceArguments('interleave', sources);
        if (list.length < 2) throw runtimeError('stream.interleave: expected at least two sources');
        return interleaveStreams(list);
      },
    },
    'stream.broadcast': {
      signature: '(src: any, n: int) -> list<Stream<any>>',
      doc: 'A list of n streams that each see every element.',
      call: (_context, _depth, src, n) => broadcastStream(sourceArgument('broadcast', src), countArgument('broadcast', n, 1)),
    },
    'stream.throttle': {
      signature: '(src: any, per_second: int) -> Stream<any>',
      doc: 'The elements, at most so many a second.',
      call: (_context, _depth, src, perSecond) => throttleStream(sourceArgument('throttle', src), countArgument('throttle', perSecond, 1)),
    },
    'stream.debounce': {
      signature: '(src: any, window_ms: int | duration) -> Stream<any>',
      doc: 'The last element before each pause of the given length.',
      call: (_context, _depth, src, windowMs) => debounceStream(sourceArgument('debounce', src), durationMs(windowMs) ?? 0),
    },
  },
};

function overElements(doc: string, name: string, create: (source: Source, fn: HarnFunction) => Value): Builtin {
  return {
    signature: '(src: any, callback: fn(any) -> any) -> Stream<any>',
    doc,
    call: (_context, _depth, src, fn) => create(sourceArgument(name, src), callableArgument(name, fn)),
  };
}

/** Pulls until the end, or until `visit` answers false, and then lets go of the source. */
async function consume(context: Context, depth: number, source: Source, visit: (item: Value) => MaybeAsync<boolean>): Promise<void> {
  try {
    for (let item = await source.pull(context, depth); item !== END; item = await source.pull(context, depth)) {
      if (!(await visit(item))) return;
    }
  } finally {
    await source.abandon?.();
  }
}

function sourceArgument(name: string, value: Value): Source {
  const source = streamSource(value);
  if (source === undefined) throw typeError(`stream.${name}: value of type ${typeOf(value)} is not iterable`);
  return source;
}

/** Sources given one by one, or as one list; a list with an element that is no source is a source itself. */
function sourceArguments(name: string, values: readonly Value[]): Source[] {
  const [only] = values;
  if (values.length === 1 && Array.isArray(only)) {
    const listed = (only as readonly Value[]).map(streamSource);
    if (listed.every((source) => source !== undefined)) return listed;
  }
  return values.map((value) => sourceArgument(name, value));
}

function callableArgument(name: string, value: Value): HarnFunction {
  if (isCallable(value)) return value;
  throw typeError(`stream.${name}: expected callable, got ${typeOf(value)}`);
}

function countArgument(name: string, value: Value, least: number): number {
  if (typeof value === 'number' && value >= least) return value;
  throw typeError(`stream.${name}: expected an int of at least ${least}, got ${typeof value === 'number' ? value : typeOf(value)}`);
}

function collectLimit(max: Value): number {
  const limit = max instanceof Dict ? dictGet(max, 'max') : max;
  return limit === undefined ? DEFAULT_COLLECT_MAX : countArgument('collect', limit, 0);
}
