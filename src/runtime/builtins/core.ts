import { toDouble } from '../arithmetic.ts';
import type { BuiltinGroup } from '../builtin.ts';
import { ExitRequest } from '../caught.ts';
import { dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { equals, isTruthy } from '../equality.ts';
import { ERROR_CATEGORIES, errorCategory } from '../error-category.ts';
import { categoryError, runtimeError, thrown, thrownText } from '../errors.ts';
import { writeOutput } from '../output.ts';
import { setItems } from '../sets.ts';
import { lengthOf } from '../support.ts';
import { EnumValue, enumValue, Float, SetValue, typeOf, type Value } from '../value.ts';

const ok = (value: Value): EnumValue => enumValue('Result', 'Ok', [value]);
const err = (value: Value): EnumValue => enumValue('Result', 'Err', [value]);
const isResult = (value: Value, variant: string): value is EnumValue =>
  value instanceof EnumValue && value.enumName === 'Result' && value.variant === variant;

/** Output, conversion, assertions and results (spec/language.md 12.1). */
export const CORE: BuiltinGroup = {
  name: 'core',
  title: 'Output, conversion, assertions, results',
  errors: [
    {
      text: 'Assertion failed',
      when: '`assert` without a message; `assert_eq` adds `: expected B, got A`, `assert_ne` adds `: values should not be equal: A`',
    },
    { text: 'assert_eq requires at least 2 arguments', when: '`assert_eq`, `assert_ne`' },
    { text: 'Runtime error: unwrap called on Err: E', when: '`unwrap`' },
    { text: 'Runtime error: unwrap_err called on non-Err', when: '`unwrap_err`' },
    { text: 'Runtime error: unreachable code was reached: V', when: '`unreachable`' },
    { text: '{category, message}', when: '`throw_error` throws this dict; a category that is not known becomes `generic`' },
  ],
  builtins: {
    log: {
      signature: '(value: any) -> nil',
      doc: 'Prints `[harn] ` and the value on a line of its own.',
      call: (c, _d, value) => void writeOutput(c, `[harn] ${display(value)}\n`),
    },
    print: {
      signature: '(value: any) -> nil',
      doc: 'Prints the value without a newline.',
      call: (c, _d, value) => void writeOutput(c, display(value)),
    },
    println: {
      signature: '(value: any = "") -> nil',
      doc: 'Prints the value and a newline. Without an argument it prints an empty line.',
      call: (c, _d, ...args) => void writeOutput(c, args.length === 0 ? '\n' : `${display(args[0])}\n`),
    },
    type_of: {
      signature: '(value: any) -> string',
      doc: 'The name of the kind of a value, such as `"int"` or `"dict"`.',
      call: (_c, _d, value) => typeOf(value),
    },
    to_string: { signature: '(value: any) -> string', doc: 'The text that println would show.', call: (_c, _d, value) => display(value) },
    to_int: {
      signature: '(value: string | int | float | any) -> int | nil',
      doc: 'Truncates a float, reads a bare decimal text; nil for anything else.',
      call: (_c, _d, value) => toInt(value),
    },
    to_float: {
      signature: '(value: string | int | float | any) -> float | nil',
      doc: 'A number or a decimal text as a float; nil for anything else.',
      call: (_c, _d, value) => toFloat(value),
    },
    to_list: {
      signature: '(value: any) -> list',
      doc: 'The elements of a set or list; any other value becomes a list of one.',
      call: (_c, _d, value) => (Array.isArray(value) ? value : value instanceof SetValue ? setItems(value) : [value]),
    },
    len: {
      signature: '(value: string | bytes | list | dict | set | range | any) -> int',
      doc: 'Number of code points, bytes, elements or keys; 0 for anything that has none.',
      call: (_c, _d, value) => lengthOf(value),
    },
    assert: {
      signature: '(condition: any, message: any = nil) -> nil',
      doc: 'Throws the message, or `Assertion failed`, when the condition is falsy.',
      call: (_c, _d, condition, message) => {
        if (!isTruthy(condition)) throw thrown(message ?? 'Assertion failed', display(message ?? 'Assertion failed'));
        return undefined;
      },
    },
    assert_eq: {
      signature: '(actual: any, expected: any, message: any = nil) -> nil',
      doc: 'Throws when the two values are not equal.',
      call: (_c, _d, ...args) => {
        if (args.length < 2) throw thrownText('assert_eq requires at least 2 arguments');
        const [actual, expected, message] = args;
        if (equals(actual, expected)) return undefined;
        const text = message ?? `Assertion failed: expected ${display(expected)}, got ${display(actual)}`;
        throw thrown(text, display(text));
      },
    },
    assert_ne: {
      signature: '(actual: any, unexpected: any, message: any = nil) -> nil',
      doc: 'Throws when the two values are equal.',
      call: (_c, _d, ...args) => {
        if (args.length < 2) throw thrownText('assert_ne requires at least 2 arguments');
        const [actual, unexpected, message] = args;
        if (!equals(actual, unexpected)) return undefined;
        const text = message ?? `Assertion failed: values should not be equal: ${display(actual)}`;
        throw thrown(text, display(text));
      },
    },
    Ok: { signature: '(value: any = nil) -> any', doc: 'A successful result.', call: (_c, _d, value) => ok(value) },
    Err: { signature: '(value: any = nil) -> any', doc: 'A failed result.', call: (_c, _d, value) => err(value) },
    is_ok: { signature: '(value: any) -> bool', doc: 'True for `Ok`.', call: (_c, _d, value) => isResult(value, 'Ok') },
    is_err: { signature: '(value: any) -> bool', doc: 'True for `Err`.', call: (_c, _d, value) => isResult(value, 'Err') },
    unwrap: {
      signature: '(value: any) -> any',
      doc: 'The payload of `Ok`; an `Err` is an error; other values are returned unchanged.',
      call: (_c, _d, value) => {
        if (isResult(value, 'Err')) throw runtimeError(`unwrap called on Err: ${display(value.fields[0])}`);
        return isResult(value, 'Ok') ? value.fields[0] : value;
      },
    },
    unwrap_or: {
      signature: '(value: any, fallback: any) -> any',
      doc: 'The payload of `Ok`, the fallback for `Err`; other values are returned unchanged.',
      call: (_c, _d, value, fallback) => (isResult(value, 'Err') ? fallback : isResult(value, 'Ok') ? value.fields[0] : value),
    },
    unwrap_err: {
      signature: '(value: any) -> any',
      doc: 'The payload of `Err`; anything else is an error.',
      call: (_c, _d, value) => {
        if (isResult(value, 'Err')) return value.fields[0];
        throw runtimeError('unwrap_err called on non-Err');
      },
    },
    unreachable: {
      signature: '(value: any = nil) -> never',
      doc: 'Fails; for branches that cannot be reached. The checker uses it to ask for complete case analysis.',
      call: (_c, _d, value) => {
        throw runtimeError(value === undefined ? 'unreachable code was reached' : `unreachable code was reached: ${display(value)}`);
      },
    },
    throw_error: {
      signature: '(message: any, category: any = "generic") -> never',
      doc: 'Throws an error of a category, such as `timeout` or `auth`.',
      call: (_c, _d, message, category) => {
        const name = typeof category === 'string' && ERROR_CATEGORIES.has(category) ? category : 'generic';
        throw categoryError(
          name,
          display(message),
          dictOf([
            ['category', name],
            ['message', display(message)],
          ]),
        );
      },
    },
    error_category: {
      signature: '(error: any) -> string',
      doc: 'The category of a caught error.',
      call: (_c, _d, error) => errorCategory(error),
    },
    is_timeout: {
      signature: '(error: any) -> bool',
      doc: 'True for errors of the category `timeout`.',
      call: (_c, _d, error) => errorCategory(error) === 'timeout',
    },
    is_rate_limited: {
      signature: '(error: any) -> bool',
      doc: 'True for errors of the category `rate_limit`.',
      call: (_c, _d, error) => errorCategory(error) === 'rate_limit',
    },
    uuid: { signature: '() -> string', doc: 'A random UUID (version 4).', call: (c) => c.run.platform.random.uuidV4() },
    exit: {
      signature: '(code: int | any = 0) -> never',
      doc: 'Ends the run at once with this exit code, limited to 0..255. No `defer` and no `finally` runs.',
      call: (c, _d, code) => {
        const number = typeof code === 'number' ? code : typeof code === 'bigint' ? (code > 0n ? 255 : 0) : 0;
        const request = new ExitRequest(Math.min(255, Math.max(0, number)));
        // Clean-up blocks on the way out look at the run before they begin.
        c.run.end(request);
        throw request;
      },
    },
  },
};

/** Saturates at the ends of the 64-bit range; NaN is 0. */
function toInt(value: Value): Value {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (value instanceof Float) return truncate(value.value);
  if (typeof value !== 'string' || !/^[+-]?\d+$/.test(value)) return undefined;
  const parsed = BigInt(value.replace('+', ''));
  if (BigInt.asIntN(64, parsed) !== parsed) return undefined;
  return parsed >= -9007199254740991n && parsed <= 9007199254740991n ? Number(parsed) : parsed;
}

function truncate(value: number): number | bigint {
  if (Number.isNaN(value)) return 0;
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return Math.trunc(value) + 0;
  if (value >= 2 ** 63) return 9_223_372_036_854_775_807n;
  return value <= -(2 ** 63) ? -9_223_372_036_854_775_808n : BigInt(Math.trunc(value));
}

const SPECIAL: Readonly<Record<string, number>> = {
  inf: Infinity,
  '+inf': Infinity,
  '-inf': -Infinity,
  infinity: Infinity,
  '-infinity': -Infinity,
  nan: Number.NaN,
};

function toFloat(value: Value): Value {
  const number = toDouble(value);
  if (number !== undefined) return new Float(number);
  if (typeof value !== 'string') return undefined;
  const special = SPECIAL[value.toLowerCase()];
  if (special !== undefined) return new Float(special);
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(value) ? new Float(Number(value)) : undefined;
}
