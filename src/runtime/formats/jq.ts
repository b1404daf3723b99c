import { add, divide, isInt, modulo, multiply, subtract, toDouble } from '../arithmetic.ts';
import { dictEntries, dictGet, dictHas, dictKeys, dictOf, dictValues } from '../dict.ts';
import { display } from '../display.ts';
import { compareValues, equals } from '../equality.ts';
import { HarnRaise, thrownText } from '../errors.ts';
import { parseJsonAt, stringify } from '../json.ts';
import { joinList, sortValues, uniqueList } from '../methods/methods-list.ts';
import { codePointCount, sliceText } from '../text.ts';
import { Dict, Float, type Value } from '../value.ts';
import { type JqNode, type JqOperator, JqSyntaxError, parseJq } from './jq-parser.ts';

/**
 * Runs a jq program over a value (spec/language.md 12.11): everything it emits, in order.
 * @throws a string for a program that does not parse, or that asks a value for what its kind does not have
 */
export function runJq(value: Value, program: string): Value[] {
  return evaluate(compile(program), value);
}

function compile(program: string): JqNode {
  try {
    return parseJq(program);
  } catch (error) {
    if (error instanceof JqSyntaxError) throw thrownText(`jq: ${error.message} in \`${program}\``);
    throw error;
  }
}

/** Only nil and false are false, as in jq. */
const isTrue = (value: Value): boolean => value !== undefined && value !== false;

function evaluate(node: JqNode, input: Value): Value[] {
  switch (node.kind) {
    case 'identity':
      return [input];
    case 'recurse':
      return descendants(input);
    case 'literal':
      return [node.value];
    case 'pipe':
      return evaluate(node.left, input).flatMap((value) => evaluate(node.right, value));
    case 'comma':
      return [...evaluate(node.left, input), ...evaluate(node.right, input)];
    case 'iterate':
      return evaluate(node.input, input).flatMap(elements);
    case 'index':
      return evaluate(node.input, input).flatMap((value) => evaluate(node.key, input).map((key) => indexed(value, key)));
    case 'slice':
      return slice(node, input);
    case 'try':
      return attempt(node.input, input);
    case 'binary':
      return binary(node.operator, node.left, node.right, input);
    case 'list':
      return [node.items === undefined ? [] : evaluate(node.items, input)];
    case 'object':
      return objects(node.entries, input);
    case 'call':
      return call(node.name, node.args, input);
  }
}

function descendants(value: Value): Value[] {
  const inner = Array.isArray(value) ? (value as Value[]) : value instanceof Dict ? dictValues(value) : [];
  return [value, ...inner.flatMap(descendants)];
}

function kindOf(value: Value): string {
  if (value === undefined) return 'null';
  if (typeof value === 'boolean') return 'boolean';
  if (toDouble(value) !== undefined) return 'number';
  if (Array.isArray(value)) return 'array';
  return value instanceof Dict ? 'object' : 'string';
}

function elements(value: Value): Value[] {
  if (Array.isArray(value)) return value;
  if (value instanceof Dict) return dictValues(value);
  throw thrownText(`jq: cannot iterate over ${kindOf(value)}`);
}

function indexed(value: Value, key: Value): Value {
  if (value === undefined) return undefined;
  if (value instanceof Dict && typeof key === 'string') return dictGet(value, key);
  if (Array.isArray(value) && typeof key === 'number') return (value as Value[]).at(key);
  throw thrownText(`jq: cannot index ${kindOf(value)} with ${stringify(key)}`);
}

function slice(node: Extract<JqNode, { kind: 'slice' }>, input: Value): Value[] {
  const bound = (part: JqNode | undefined): number | undefined => {
    const value = part === undefined ? undefined : evaluate(part, input)[0];
    return typeof value === 'number' ? value : undefined;
  };
  return evaluate(node.input, input).map((value) => {
    if (value === undefined) return undefined;
    if (Array.isArray(value)) return value.slice(bound(node.from), bound(node.to));
    if (typeof value !== 'string') throw thrownText(`jq: cannot slice ${kindOf(value)}`);
    const count = codePointCount(value);
    const position = (at: number | undefined, fallback: number): number =>
      at === undefined ? fallback : at < 0 ? Math.max(0, count + at) : at;
    return sliceText(value, position(bound(node.from), 0), Math.max(position(bound(node.from), 0), position(bound(node.to), count)));
  });
}

function attempt(node: JqNode, input: Value): Value[] {
  try {
    return evaluate(node, input);
  } catch (error) {
    if (error instanceof HarnRaise) return [];
    throw error;
  }
}

const COMPARISONS: Partial<Record<JqOperator, (a: Value, b: Value) => Value>> = {
  '==': equals,
  '!=': (a, b) => !equals(a, b),
  '<': (a, b) => compareValues(a, b) < 0,
  '<=': (a, b) => compareValues(a, b) <= 0,
  '>': (a, b) => compareValues(a, b) > 0,
  '>=': (a, b) => compareValues(a, b) >= 0,
  '+': (a, b) => (a === undefined ? b : b === undefined ? a : add(a, b)),
  '-': (a, b) =>
    Array.isArray(a) && Array.isArray(b) ? a.filter((item: Value) => !b.some((other: Value) => equals(item, other))) : subtract(a, b),
  '*': multiply,
  '/': (a, b) => (typeof a === 'string' && typeof b === 'string' ? a.split(b) : quotient(a, b)),
  '%': modulo,
};

/** Numbers of JSON know no integer division. */
function quotient(a: Value, b: Value): Value {
  if (isInt(a) && isInt(b) && b !== 0 && BigInt(a) % BigInt(b) !== 0n) return new Float(Number(a) / Number(b));
  return divide(a, b);
}

function binary(operator: JqOperator, left: JqNode, right: JqNode, input: Value): Value[] {
  switch (operator) {
    case 'and':
      return evaluate(left, input).flatMap((a) => (isTrue(a) ? evaluate(right, input).map(isTrue) : [false]));
    case 'or':
      return evaluate(left, input).flatMap((a) => (isTrue(a) ? [true] : evaluate(right, input).map(isTrue)));
    case '//': {
      const found = attempt(left, input).filter(isTrue);
      return found.length > 0 ? found : evaluate(right, input);
    }
    default: {
      const apply = COMPARISONS[operator] as (a: Value, b: Value) => Value;
      return evaluate(right, input).flatMap((b) => evaluate(left, input).map((a) => apply(a, b)));
    }
  }
}

/** One object for each combination of keys and values. */
function objects(entries: readonly (readonly [JqNode, JqNode])[], input: Value): Value[] {
  let built: [string, Value][][] = [[]];
  for (const [keyNode, valueNode] of entries) {
    const pairs = evaluate(keyNode, input).flatMap((key) =>
      evaluate(valueNode, input).map((value): [string, Value] => [display(key), value]),
    );
    built = built.flatMap((known) => pairs.map((pair) => [...known, pair]));
  }
  return built.map(dictOf);
}

// ---- functions ----

type JqFunction = (input: Value, args: readonly JqNode[]) => Value[];

/** A function without arguments that gives one value. */
const simple =
  (compute: (input: Value) => Value): JqFunction =>
  (input) => [compute(input)];

/** A function over a list. */
const ofList =
  (compute: (items: readonly Value[], key: (item: Value) => Value) => Value): JqFunction =>
  (input, [by]) => {
    if (!Array.isArray(input)) throw thrownText(`jq: ${kindOf(input)} is not an array`);
    return [compute(input, (item) => (by === undefined ? item : evaluate(by, item)[0]))];
  };

const text = (value: Value): string => (typeof value === 'string' ? value : stringify(value));

const FUNCTIONS: Readonly<Record<string, JqFunction>> = {
  empty: () => [],
  not: simple((input) => !isTrue(input)),
  length: simple(lengthOf),
  keys: simple((input) => (input instanceof Dict ? dictKeys(input) : elements(input).map((_item, index) => index))),
  values: simple(elements),
  type: simple(kindOf),
  map: (input, [f]) => [elements(input).flatMap((item) => evaluate(f ?? { kind: 'identity' }, item))],
  select: (input, [f]) =>
    evaluate(f ?? { kind: 'identity' }, input)
      .filter(isTrue)
      .map(() => input),
  recurse: (input) => descendants(input),
  first: (input, [f]) => (f === undefined ? elements(input) : evaluate(f, input)).slice(0, 1),
  last: (input, [f]) => (f === undefined ? elements(input) : evaluate(f, input)).slice(-1),
  add: simple((input) => elements(input).reduce((sum, item) => (sum === undefined ? item : add(sum, item)), undefined)),
  any: (input, [f]) => [elements(input).some((item) => (f === undefined ? isTrue(item) : evaluate(f, item).some(isTrue)))],
  all: (input, [f]) => [elements(input).every((item) => (f === undefined ? isTrue(item) : evaluate(f, item).every(isTrue)))],
  has: (input, [f]) => evaluate(f ?? { kind: 'identity' }, input).map((key) => has(input, key)),
  contains: (input, [f]) => evaluate(f ?? { kind: 'identity' }, input).map((part) => contains(input, part)),
  to_entries: simple((input) =>
    dictEntries(objectOf(input)).map(([key, value]) =>
      dictOf([
        ['key', key],
        ['value', value],
      ]),
    ),
  ),
  from_entries: simple((input) => dictOf(elements(input).map((entry) => [display(indexed(entry, 'key')), indexed(entry, 'value')]))),
  with_entries: (input, [f]) =>
    evaluate(
      { kind: 'pipe', left: callNode('to_entries'), right: { kind: 'pipe', left: callNode('map', f), right: callNode('from_entries') } },
      input,
    ),
  sort: ofList((items) => sortValues(items)),
  sort_by: ofList((items, key) => items.toSorted((a, b) => compareValues(key(a), key(b)))),
  unique: ofList((items) => sortValues(uniqueList(items))),
  min: ofList((items) => sortValues(items)[0]),
  max: ofList((items) => sortValues(items).at(-1)),
  reverse: simple((input) => (typeof input === 'string' ? [...input].reverse().join('') : elements(input).toReversed())),
  flatten: ofList(flatten),
  join: (input, [f]) =>
    evaluate(f ?? { kind: 'literal', value: '' }, input).map((separator) =>
      joinList(
        elements(input).map((item) => item ?? ''),
        display(separator),
      ),
    ),
  split: (input, [f]) => evaluate(f ?? { kind: 'literal', value: '' }, input).map((separator) => text(input).split(display(separator))),
  startswith: (input, [f]) => evaluate(f ?? { kind: 'literal', value: '' }, input).map((prefix) => text(input).startsWith(display(prefix))),
  endswith: (input, [f]) => evaluate(f ?? { kind: 'literal', value: '' }, input).map((suffix) => text(input).endsWith(display(suffix))),
  ascii_downcase: simple((input) => text(input).toLowerCase()),
  ascii_upcase: simple((input) => text(input).toUpperCase()),
  tostring: simple(text),
  tonumber: simple(toNumber),
};

const callNode = (name: string, arg?: JqNode): JqNode => ({ kind: 'call', name, args: arg === undefined ? [] : [arg] });

function call(name: string, args: readonly JqNode[], input: Value): Value[] {
  const fn = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (fn === undefined) throw thrownText(`jq: unknown function \`${name}\``);
  return fn(input, args);
}

function flatten(items: readonly Value[]): Value[] {
  return items.flatMap((item) => (Array.isArray(item) ? flatten(item) : [item]));
}

function objectOf(value: Value): Dict {
  if (value instanceof Dict) return value;
  throw thrownText(`jq: ${kindOf(value)} is not an object`);
}

function lengthOf(value: Value): Value {
  if (value === undefined) return 0;
  if (typeof value === 'string') return codePointCount(value);
  if (Array.isArray(value) || value instanceof Dict) return elements(value).length;
  const number = toDouble(value);
  if (number === undefined) throw thrownText(`jq: ${kindOf(value)} has no length`);
  return isInt(value) ? (value < 0 ? subtract(0, value) : value) : new Float(Math.abs(number));
}

function has(value: Value, key: Value): boolean {
  if (value instanceof Dict) return dictHas(value, display(key));
  return Array.isArray(value) && typeof key === 'number' && key >= 0 && key < value.length;
}

function contains(value: Value, part: Value): boolean {
  if (typeof value === 'string' && typeof part === 'string') return value.includes(part);
  if (Array.isArray(value) && Array.isArray(part)) return part.every((item: Value) => value.some((own: Value) => contains(own, item)));
  if (value instanceof Dict && part instanceof Dict)
    return dictEntries(part).every(([key, item]) => dictHas(value, key) && contains(dictGet(value, key), item));
  return equals(value, part);
}

function toNumber(value: Value): Value {
  if (toDouble(value) !== undefined) return value;
  const found = typeof value === 'string' ? parseJsonAt(value, 0) : undefined;
  if (found === undefined || found.end !== (value as string).length || toDouble(found.value) === undefined) {
    throw thrownText(`jq: ${stringify(value)} is not a number`);
  }
  return found.value;
}
