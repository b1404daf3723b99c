import { isInt, normalInt, power, toDouble } from '../arithmetic.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { compareValues, isTruthy } from '../equality.ts';
import { runtimeError, typeError } from '../errors.ts';
import { RandomGenerator } from '../rng.ts';
import { Float, type Value } from '../value.ts';

/** A function of one double; anything but a number gives nil. */
function real(doc: string, fn: (x: number) => number): Builtin {
  return {
    signature: '(value: int | float | any) -> float | nil',
    doc,
    call: (_c, _d, value) => {
      const x = toDouble(value);
      return x === undefined ? undefined : new Float(fn(x));
    },
  };
}

/** Rounding to an int. */
function rounding(doc: string, fn: (x: number) => number): Builtin {
  return {
    signature: '(value: int | float | any) -> int | nil',
    doc,
    call: (_c, _d, value) => {
      if (isInt(value)) return value;
      return value instanceof Float ? toInt(fn(value.value)) : undefined;
    },
  };
}

function toInt(x: number): number | bigint {
  if (!Number.isFinite(x)) throw runtimeError('cannot convert non-finite float to int');
  if (x >= 2 ** 63 || x < -(2 ** 63)) throw runtimeError('float is outside the representable int range');
  return normalInt(BigInt(x));
}

function absolute(value: Value): Value {
  if (typeof value === 'number') return value < 0 ? -value : value;
  if (value instanceof Float) return new Float(Math.abs(value.value));
  if (!isInt(value)) return undefined;
  if (value >= 0) return value;
  // The smallest int has no positive counterpart.
  return BigInt(value) === -(2n ** 63n) ? new Float(2 ** 63) : normalInt(-BigInt(value));
}

/** The smaller (-1) or larger (1) of exactly two numbers. */
function extreme(doc: string, sign: -1 | 1): Builtin {
  return {
    signature: '(a: int | float | any, b: int | float | any) -> int | float | nil',
    doc,
    call: (_c, _d, a, b) => {
      const x = toDouble(a);
      const y = toDouble(b);
      if (x === undefined || y === undefined) return undefined;
      const best = compareValues(b, a) * sign > 0 ? b : a;
      return isInt(a) && isInt(b) ? best : new Float(toDouble(best) as number);
    },
  };
}

/** Ints that overflow, and negative exponents, go to float. */
function pow(a: Value, b: Value): Value {
  const x = toDouble(a);
  const y = toDouble(b);
  if (x === undefined || y === undefined) return undefined;
  if (isInt(a) && isInt(b) && b >= 0 && Math.abs(x ** y) < 2 ** 63) return power(a, b);
  return new Float(x ** y);
}

function sign(value: Value): Value {
  const x = toDouble(value);
  if (x === undefined) return undefined;
  return Number.isNaN(x) ? value : Math.sign(x) + 0;
}

function predicate(doc: string, test: (x: number) => boolean): Builtin {
  return { signature: '(value: any) -> bool', doc, call: (_c, _d, value) => value instanceof Float && test(value.value) };
}

// ---- random numbers ----

/** Splits off an optional leading generator. */
function source(context: Context, args: readonly Value[]): { readonly next: () => number; readonly rest: readonly Value[] } {
  const [first, ...rest] = args;
  if (first instanceof RandomGenerator) return { next: () => first.next(), rest };
  return { next: () => context.run.platform.random.float(), rest: args };
}

function randomInt(next: () => number, low: Value, high: Value): Value {
  if (!isInt(low) || !isInt(high) || low > high) return undefined;
  return normalInt(BigInt(low) + BigInt(Math.floor(next() * (Number(high) - Number(low) + 1))));
}

function shuffle(next: () => number, items: readonly Value[]): Value[] {
  const result = [...items];
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [result[i], result[j]] = [result[j], result[i]];
  }
  return result;
}

// ---- statistics ----

function doubles(items: Value): number[] {
  return Array.isArray(items) ? items.map(toDouble).filter((x): x is number => x !== undefined) : [];
}

const mean = (xs: readonly number[]): number => (xs.length === 0 ? 0 : xs.reduce((sum, x) => sum + x, 0) / xs.length);

function variance(xs: readonly number[], isSample: boolean): number {
  const center = mean(xs);
  const count = xs.length - (isSample ? 1 : 0);
  return count <= 0 ? 0 : xs.reduce((sum, x) => sum + (x - center) ** 2, 0) / count;
}

/** Interpolates linearly between the closest ranks. */
function percentile(xs: readonly number[], percent: number): number {
  const sorted = xs.toSorted((a, b) => a - b);
  if (sorted.length === 0) return 0;
  const rank = (Math.min(100, Math.max(0, percent)) / 100) * (sorted.length - 1);
  const low = sorted[Math.floor(rank)] as number;
  const high = sorted[Math.ceil(rank)] as number;
  return low + (high - low) * (rank - Math.floor(rank));
}

function statistic(signature: string, doc: string, compute: (xs: readonly number[], second: Value) => number): Builtin {
  return { signature, doc, call: (_c, _d, items, second) => new Float(compute(doubles(items), second)) };
}

/** Numbers (spec/language.md 12.10). */
export const MATH: BuiltinGroup = {
  name: 'math',
  title: 'Numbers',
  errors: [
    { text: 'Runtime error: cannot convert non-finite float to int', when: '`floor`, `ceil`, `round` of an infinity or NaN' },
    { text: 'Runtime error: float is outside the representable int range', when: 'the same three' },
    { text: 'Type error: rng_seed(seed): seed must be an integer', when: '`rng_seed`' },
  ],
  builtins: {
    abs: {
      signature: '(value: int | float | any) -> int | float | nil',
      doc: 'The absolute value; the smallest int becomes a float.',
      call: (_c, _d, value) => absolute(value),
    },
    min: extreme('The smaller of two numbers; a float when one of them is.', -1),
    max: extreme('The larger of two numbers; a float when one of them is.', 1),
    floor: rounding('Rounds down to an int.', Math.floor),
    ceil: rounding('Rounds up to an int.', Math.ceil),
    round: rounding('Rounds to the nearest int, halves away from zero.', (x) => Math.sign(x) * Math.round(Math.abs(x))),
    pow: {
      signature: '(base: int | float | any, exponent: int | float | any) -> int | float | nil',
      doc: 'A power; goes to float where an int would overflow.',
      call: (_c, _d, a, b) => pow(a, b),
    },
    sin: real('Sine of an angle in radians.', Math.sin),
    cos: real('Cosine of an angle in radians.', Math.cos),
    tan: real('Tangent of an angle in radians.', Math.tan),
    asin: real('Arc sine in radians.', Math.asin),
    acos: real('Arc cosine in radians.', Math.acos),
    atan: real('Arc tangent in radians.', Math.atan),
    atan2: {
      signature: '(y: int | float | any, x: int | float | any) -> float | nil',
      doc: 'The angle of a point in radians.',
      call: (_c, _d, y, x) => {
        const [a, b] = [toDouble(y), toDouble(x)];
        return a === undefined || b === undefined ? undefined : new Float(Math.atan2(a, b));
      },
    },
    log2: real('Logarithm to the base 2.', Math.log2),
    log10: real('Logarithm to the base 10.', Math.log10),
    ln: real('Natural logarithm.', Math.log),
    exp: real('The exponential function.', Math.exp),
    sign: {
      signature: '(value: int | float | any) -> int | float | nil',
      doc: '-1, 0 or 1; NaN stays NaN.',
      call: (_c, _d, value) => sign(value),
    },
    is_nan: predicate('True for the float NaN.', Number.isNaN),
    is_infinite: predicate('True for an infinite float.', (x) => Math.abs(x) === Number.POSITIVE_INFINITY),
    rng_seed: {
      signature: '(seed: int | any) -> rng',
      doc: 'A random generator; equal seeds give equal sequences.',
      call: (_c, _d, seed) => {
        if (!isInt(seed)) throw typeError('rng_seed(seed): seed must be an integer');
        return new RandomGenerator(BigInt(seed));
      },
    },
    random: {
      signature: '(rng: any = nil) -> float',
      doc: 'A float in [0, 1).',
      call: (c, _d, ...args) => new Float(source(c, args).next()),
    },
    random_int: {
      signature: '(...bounds: any) -> int | nil',
      doc: 'An int between two bounds, both included; nil when they are the wrong way round.',
      call: (c, _d, ...args) => {
        const { next, rest } = source(c, args);
        return randomInt(next, rest[0], rest[1]);
      },
    },
    random_choice: {
      signature: '(...args: any) -> any',
      doc: 'One element of a list; nil of an empty one.',
      call: (c, _d, ...args) => {
        const { next, rest } = source(c, args);
        const [items] = rest;
        return Array.isArray(items) && items.length > 0 ? (items as Value[])[Math.floor(next() * items.length)] : undefined;
      },
    },
    random_shuffle: {
      signature: '(...args: any) -> list',
      doc: 'The elements of a list in random order.',
      call: (c, _d, ...args) => {
        const { next, rest } = source(c, args);
        return Array.isArray(rest[0]) ? shuffle(next, rest[0]) : [];
      },
    },
    mean: statistic('(items: list | any) -> float', 'The arithmetic mean; 0.0 of nothing.', mean),
    median: statistic('(items: list | any) -> float', 'The middle value.', (xs) => percentile(xs, 50)),
    variance: statistic(
      '(items: any, sample: any = false) -> float',
      'The variance; of a sample when the second argument is true.',
      (xs, sample) => variance(xs, isTruthy(sample)),
    ),
    stddev: statistic('(items: list | any, sample: any = false) -> float', 'The standard deviation.', (xs, sample) =>
      Math.sqrt(variance(xs, isTruthy(sample))),
    ),
    percentile: statistic('(items: list | any, percent: any) -> float', 'A percentile, interpolated between ranks.', (xs, percent) =>
      percentile(xs, toDouble(percent) ?? 0),
    ),
  },
};
