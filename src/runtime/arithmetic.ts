import { mergeDicts } from './dict.ts';
import { bareError, runtimeError, typeError } from './errors.ts';
import { Dict, Float, textOf, typeOf, type Value } from './value.ts';

/**
 * Arithmetic (spec/language.md 3.2). Emitted code handles small integers and proven floats itself and comes here for
 * the rest: safe integers beyond 32 bits, 64-bit wrapping by way of bigint, floats, text, lists, dicts, and errors.
 */
const MAX = Number.MAX_SAFE_INTEGER;

/** Wraps to 64 bits and narrows to a number when it is safe. */
export function normalInt(value: bigint): number | bigint {
  const wrapped = BigInt.asIntN(64, value);
  return wrapped >= -9007199254740991n && wrapped <= 9007199254740991n ? Number(wrapped) : wrapped;
}

export function isInt(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** An int or float as a double; undefined for everything else. */
export function toDouble(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (value instanceof Float) return value.value;
  return typeof value === 'bigint' ? Number(value) : undefined;
}

export function add(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    return sum >= -MAX && sum <= MAX ? sum : normalInt(BigInt(a) + BigInt(b));
  }
  if (typeof a === 'string' && typeof b === 'string') return a + b;
  if (Array.isArray(a) && Array.isArray(b)) return a.concat(b);
  if (isInt(a) && isInt(b)) return normalInt(BigInt(a) + BigInt(b));
  const x = toDouble(a);
  const y = toDouble(b);
  if (x !== undefined && y !== undefined) return new Float(x + y);
  const left = asText(a);
  const right = asText(b);
  if (left !== undefined && right !== undefined && (typeof a === 'string' || typeof b === 'string')) return left + right;
  if (a instanceof Dict && b instanceof Dict) return mergeDicts(a, b);
  const error = typeError(`Cannot add ${typeOf(a)} and ${typeOf(b)}`);
  throw left === undefined && right === undefined ? error : Object.assign(error, { help: 'write one text: `"n is ${n}"`' });
}

/** Strings, and diagnostic values beside a string. */
function asText(value: Value): string | undefined {
  if (typeof value === 'string') return value;
  return value instanceof Dict ? textOf(value) : undefined;
}

export function subtract(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b;
    return difference >= -MAX && difference <= MAX ? difference : normalInt(BigInt(a) - BigInt(b));
  }
  if (isInt(a) && isInt(b)) return normalInt(BigInt(a) - BigInt(b));
  const x = toDouble(a);
  const y = toDouble(b);
  if (x !== undefined && y !== undefined) return new Float(x - y);
  throw typeError(`Cannot subtract ${typeOf(b)} from ${typeOf(a)}`);
}

export function multiply(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    return product >= -MAX && product <= MAX ? product + 0 : normalInt(BigInt(a) * BigInt(b));
  }
  if (isInt(a) && isInt(b)) return normalInt(BigInt(a) * BigInt(b));
  const x = toDouble(a);
  const y = toDouble(b);
  if (x !== undefined && y !== undefined) return new Float(x * y);
  if (typeof a === 'string' && isInt(b)) return repeat(a, b);
  if (typeof b === 'string' && isInt(a)) return repeat(b, a);
  throw typeError(`Cannot multiply ${typeOf(a)} and ${typeOf(b)}`);
}

function repeat(text: string, count: number | bigint): string {
  if (count < 1) return '';
  if (BigInt(text.length) * BigInt(count) > 536_870_888n) throw runtimeError('string repetition is too long');
  return text.repeat(Number(count));
}

export function divide(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number' && b !== 0) return Math.trunc(a / b) + 0;
  if (isInt(a) && isInt(b)) {
    if (b === 0) throw bareError('Division by zero');
    return normalInt(BigInt(a) / BigInt(b));
  }
  const x = toDouble(a);
  const y = toDouble(b);
  if (x !== undefined && y !== undefined) return new Float(x / y);
  throw runtimeError(`Cannot divide ${typeOf(a)} by ${typeOf(b)}`);
}

export function modulo(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number' && b !== 0) return (a % b) + 0;
  if (isInt(a) && isInt(b)) {
    if (b === 0) throw bareError('Division by zero');
    return normalInt(BigInt(a) % BigInt(b));
  }
  const x = toDouble(a);
  const y = toDouble(b);
  if (x !== undefined && y !== undefined) return new Float(floatModulo(x, y));
  throw runtimeError(`Cannot modulo ${typeOf(a)} by ${typeOf(b)}`);
}

/** C `fmod`; a zero divisor throws, as it does for ints. */
export function floatModulo(x: number, y: number): number {
  if (y === 0) throw bareError('Division by zero');
  return x % y;
}

export function power(a: Value, b: Value): Value {
  if (isInt(a) && isInt(b)) {
    if (b >= 0 && b <= 4_294_967_295) return wrappingPower(BigInt(a), BigInt(b));
    return new Float(Number(a) ** Number(b));
  }
  const x = toDouble(a);
  const y = toDouble(b);
  if (x !== undefined && y !== undefined) return new Float(x ** y);
  throw typeError(`Cannot exponentiate ${typeOf(a)} by ${typeOf(b)}`);
}

/** By squaring modulo 2^64, so that a large exponent costs 32 steps and no memory. */
function wrappingPower(base: bigint, exponent: bigint): number | bigint {
  let result = 1n;
  let factor = BigInt.asIntN(64, base);
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = BigInt.asIntN(64, result * factor);
    factor = BigInt.asIntN(64, factor * factor);
  }
  return normalInt(result);
}

export function negate(value: Value): Value {
  if (typeof value === 'number') return 0 - value;
  if (typeof value === 'bigint') return normalInt(-value);
  if (value instanceof Float) return new Float(-value.value);
  throw runtimeError(`Cannot negate value of type ${typeOf(value)}`);
}

const OPERATIONS = { '+': add, '-': subtract, '*': multiply, '/': divide, '%': modulo } as const;

/**
 * The operand of an operation whose other side is a float, as a double. Anything but a number fails with the text
 * of that operation.
 */
export function operandToDouble(value: Value, operator: keyof typeof OPERATIONS, isLeft: boolean): number {
  if (value instanceof Float) return value.value;
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  const other = new Float(0);
  OPERATIONS[operator](isLeft ? value : other, isLeft ? other : value);
  throw new Error(`a ${typeOf(value)} was accepted beside a float by ${operator}`);
}
