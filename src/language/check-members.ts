import { nearestName } from '../base/near-name.ts';
import type { Expression } from './ast.ts';
import { CHECKER_CODES } from './check-codes.ts';
import type { CheckState } from './check-state.ts';
import { kindOf, type Type } from './types.ts';

/**
 * A property or a method that no value of the kind has reads as nil (spec/language.md 3.8), which someone who comes from
 * another language finds out late. Only what is certain is said: a dict may hold anything, so of dicts only names that
 * mean something elsewhere are reported, and only where all entries are written down.
 */

/** Methods of each kind (spec/language.md chapter 7). */
export const METHOD_NAMES: Readonly<Record<string, ReadonlySet<string>>> = {
  list: words(
    'count empty first last map filter reduce find find_index any all every none flat_map flatten sort sort_by reverse min max min_by ' +
      'max_by sum join contains index_of enumerate zip slice take skip unique push pop partition group_by tally chunk each_slice window ' +
      'each_cons sliding_window compact iter',
  ),
  string: words(
    'count len empty contains starts_with ends_with replace split trim trim_start trim_end lowercase lower to_lower uppercase upper ' +
      'to_upper substring index_of last_index_of chars char_at lines repeat reverse pad_left pad_right iter',
  ),
  dict: words('keys values entries count has get merge map_values map_keys rekey filter remove iter'),
  set: words(
    'count len empty contains add remove delete union difference symmetric_difference intersect intersection is_subset is_superset ' +
      'is_disjoint to_list map filter any all every iter',
  ),
  iter: words(
    'map filter flat_map take skip take_while skip_while zip enumerate chain chunks windows iter to_list to_set to_dict count sum min max ' +
      'reduce first last any all find for_each',
  ),
  generator: words('next iter'),
  stream: words('next iter'),
};

/** Kinds without any method. */
const METHODLESS: ReadonlySet<string> = words('int float bool duration closure enum pair task_handle channel');

/** Properties that are no methods with the same name. */
const PROPERTY_NAMES: Readonly<Record<string, ReadonlySet<string>>> = {
  list: words('count empty first last'),
  string: words('count empty'),
  enum: words('variant fields'),
};

const LENGTH = 'write `len(x)`';
const EACH = 'write `for item in xs { … }`';

/** What other languages call it, by kind. */
const FOREIGN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  list: {
    length: LENGTH,
    lenght: LENGTH,
    size: LENGTH,
    len: LENGTH,
    append: 'write `xs = xs.push(item)`',
    add: 'write `xs = xs.push(item)`',
    insert: 'write `xs = xs[0:i] + [item] + xs[i:]`',
    unshift: 'write `xs = [item] + xs`',
    shift: 'write `xs.first` and `xs = xs.skip(1)`',
    extend: 'write `xs + ys`',
    concat: 'write `xs + ys`',
    forEach: EACH,
    for_each: EACH,
    foreach: EACH,
    each: EACH,
    includes: 'write `xs.contains(item)`',
    has: 'write `xs.contains(item)`',
    indexOf: 'write `xs.index_of(item)`',
    findIndex: 'write `xs.find_index({ x -> … })`',
    some: 'write `xs.any({ x -> … })`',
    flatMap: 'write `xs.flat_map({ x -> … })`',
    fold: 'write `xs.reduce(start, { total, x -> … })`',
    splice: 'write `xs[0:i] + xs[j:]`',
    remove: 'write `xs.filter({ x -> x != item })`',
    delete: 'write `xs.filter({ x -> x != item })`',
    head: 'write `xs.first`',
    tail: 'write `xs.skip(1)`',
    keys: 'write `range(len(xs))`',
    get: 'write `xs[i]`',
    at: 'write `xs[i]`',
    isEmpty: 'write `xs.empty`',
    is_empty: 'write `xs.empty`',
    toString: 'write `to_string(xs)`',
    sorted: 'write `xs.sort()`',
  },
  string: {
    length: LENGTH,
    lenght: LENGTH,
    size: LENGTH,
    strip: 'write `s.trim()`',
    lstrip: 'write `s.trim_start()`',
    rstrip: 'write `s.trim_end()`',
    includes: 'write `s.contains(part)`',
    find: 'write `s.index_of(part)`',
    indexOf: 'write `s.index_of(part)`',
    slice: 'write `s[a:b]`',
    substr: 'write `s[a:b]`',
    format: 'write `"n is ${n}"`, or `format("n is {}", n)`',
    join: 'write `xs.join(separator)`',
    concat: 'write `a + b`',
    replaceAll: 'write `s.replace(old, new)`',
    match: 'write `regex_match(pattern, s)`',
    test: 'write `regex_match(pattern, s) != nil`',
    toUpperCase: 'write `s.upper()`',
    toLowerCase: 'write `s.lower()`',
    startsWith: 'write `s.starts_with(part)`',
    endsWith: 'write `s.ends_with(part)`',
    startswith: 'write `s.starts_with(part)`',
    endswith: 'write `s.ends_with(part)`',
    splitlines: 'write `s.lines()`',
    padStart: 'write `s.pad_left(width)`',
    padEnd: 'write `s.pad_right(width)`',
    ljust: 'write `s.pad_right(width)`',
    rjust: 'write `s.pad_left(width)`',
    isEmpty: 'write `s.empty`',
    is_empty: 'write `s.empty`',
    toString: 'it is a string already',
    map: 'write `s.chars().map({ c -> … })`',
    title: 'write `title_case(s)`',
    message: 'a caught error is this text itself',
    parse: 'write `json_parse(s)`',
  },
  dict: {
    length: LENGTH,
    size: LENGTH,
    len: LENGTH,
    map: 'write `d.map_values({ v -> … })`, or `d.entries().map({ e -> … })`',
    forEach: 'write `for {key, value} in d { … }`',
    for_each: 'write `for {key, value} in d { … }`',
    each: 'write `for {key, value} in d { … }`',
    items: 'write `d.entries()`',
    contains: 'write `d.has(key)`',
    includes: 'write `d.has(key)`',
    has_key: 'write `d.has(key)`',
    hasOwnProperty: 'write `d.has(key)`',
    contains_key: 'write `d.has(key)`',
    delete: 'write `d = d.remove(key)`',
    pop: 'write `d = d.remove(key)`',
    update: 'write `d = d.merge(other)`',
    set: 'write `d[key] = value`',
    put: 'write `d[key] = value`',
    insert: 'write `d[key] = value`',
    empty: 'write `len(d) == 0`',
    isEmpty: 'write `len(d) == 0`',
    is_empty: 'write `len(d) == 0`',
    find: 'write `d.entries().find({ e -> … })`',
    any: 'write `d.values().any({ v -> … })`',
    toString: 'write `to_string(d)`, or `json_stringify(d)`',
  },
  set: {
    size: LENGTH,
    length: LENGTH,
    has: 'write `s.contains(item)`',
    includes: 'write `s.contains(item)`',
    push: 'write `s = s.add(item)`',
    insert: 'write `s = s.add(item)`',
    forEach: EACH,
    for_each: EACH,
    values: 'write `s.to_list()`',
  },
  iter: { next: 'write `it.first()`, or loop over it', length: 'write `it.count()`', collect: 'write `it.to_list()`' },
  generator: { value: 'write `g.next().value`', to_list: 'write `iter(g).to_list()`', map: 'write `iter(g).map({ x -> … })`' },
  stream: { to_list: 'write `stream.collect(s)`', map: 'write `stream.map(s, { x -> … })`' },
  enum: {
    unwrap: 'write `unwrap(result)`',
    unwrap_or: 'write `unwrap_or(result, other)`',
    is_ok: 'write `is_ok(result)`',
    is_err: 'write `is_err(result)`',
    value: 'write `unwrap(result)`, or match its variants',
    error: 'write `unwrap_err(result)`, or match its variants',
    name: 'write `x.variant`',
  },
  int: { toString: 'write `to_string(n)`', to_string: 'write `to_string(n)`', abs: 'write `abs(n)`', to_float: 'write `to_float(n)`' },
  float: {
    toString: 'write `to_string(n)`',
    to_string: 'write `to_string(n)`',
    toFixed: 'write `round(n * 100.0) / 100.0`',
    round: 'write `round(n)`',
    floor: 'write `floor(n)`',
    ceil: 'write `ceil(n)`',
    abs: 'write `abs(n)`',
  },
  closure: { call: 'write `f(…)`', apply: 'write `f(…xs)` with three points before `xs`', bind: 'write `{ x -> f(a, x) }`' },
};

type Member = Extract<Expression, { kind: 'MethodCall' | 'Property' }>;

/** Warns about a member that the value cannot have. `type` is what is known of the receiver. */
export function checkMember(state: CheckState, node: Member, type: Type): void {
  // Who writes `?.` expects to find nothing.
  if (node.isOptional) return;
  if (type.kind === 'struct') return checkStructMember(state, node, type);
  const kind = kindOf(type);
  if (kind === undefined || lacks(kind, type, node) === false) return;
  const isCall = node.kind === 'MethodCall';
  const what = isCall ? 'method' : 'property';
  const effect = isCall ? 'the call gives nil' : 'it reads as nil';
  state.warn(`a value of type ${kind} has no ${what} '${node.name}': ${effect}`, node.nameSpan, {
    code: CHECKER_CODES.unknownMember.code,
    help: adviceOn(kind, node.name, isCall),
  });
}

function lacks(kind: string, type: Type, { kind: form, name }: Member): boolean {
  const methods = METHOD_NAMES[kind];
  if (kind === 'dict') {
    // Its entries may be callable, whatever they are called.
    if (form === 'Property' || type.kind !== 'shape' || type.fields.some((field) => field.name === name)) return false;
    return methods?.has(name) === false && Object.hasOwn(FOREIGN.dict ?? {}, name);
  }
  if (form === 'Property') return PROPERTY_NAMES[kind]?.has(name) === false;
  return METHODLESS.has(kind) || methods?.has(name) === false;
}

function adviceOn(kind: string, name: string, isCall: boolean): string | undefined {
  const methods = METHOD_NAMES[kind];
  if (!isCall && methods?.has(name) === true) return `it is a method: write \`.${name}(…)\``;
  const foreign = FOREIGN[kind];
  if (foreign !== undefined && Object.hasOwn(foreign, name)) return foreign[name];
  const near = nearestName(name, isCall ? (methods ?? []) : [...(PROPERTY_NAMES[kind] ?? []), ...(methods ?? [])]);
  return near === undefined ? undefined : `did you mean \`${near}\`?`;
}

/** Structs have the fields that they declare and the methods of their `impl` blocks (spec/language.md 7.8). */
function checkStructMember(state: CheckState, node: Member, { declaration }: Extract<Type, { kind: 'struct' }>): void {
  const { name, fields } = declaration.node;
  const isField = fields.some((field) => field.name === node.name);
  const hasMethod = (state.scope.method(name, node.name) ?? declaration.scope.method(name, node.name)) !== undefined;
  if (node.kind === 'MethodCall' ? hasMethod : isField) return;
  const methods = [...new Set([...state.scope.methodNames(name), ...declaration.scope.methodNames(name)])];
  const names = node.kind === 'MethodCall' ? methods : fields.map((field) => field.name);
  const near = nearestName(node.name, names);
  let help = near === undefined ? undefined : `did you mean \`${near}\`?`;
  if (node.kind === 'MethodCall' && isField) help = `it is a field: write \`let f = x.${node.name}\`, then \`f(…)\``;
  if (node.kind === 'Property' && hasMethod) help = `it is a method: write \`.${node.name}(…)\``;
  const what = node.kind === 'MethodCall' ? `method '${node.name}': the call gives nil` : `field '${node.name}': it reads as nil`;
  state.warn(`struct '${name}' has no ${what}`, node.nameSpan, { code: CHECKER_CODES.unknownMember.code, help });
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

const BY_KEY: ReadonlySet<string> = words('sort_by min_by max_by');

/** What keys without an order could be instead. */
const ORDERED: Readonly<Record<string, string>> = {
  list: 'write `pair(a, b)`, which is compared part by part',
  bool: 'write `… ? 1 : 0`',
  dict: 'give a number, a string or a pair',
};

/** `rows.sort_by({ row -> [row.a, row.b] })`: lists are not compared (spec/language.md 3.3). */
export function checkKey(
  state: CheckState,
  node: Extract<Expression, { kind: 'MethodCall' }>,
  receiver: Type,
  callback: Type | undefined,
): void {
  if (!BY_KEY.has(node.name) || (receiver.kind !== 'any' && kindOf(receiver) !== 'list') || callback?.kind !== 'function') return;
  const kind = kindOf(callback.result) ?? '';
  const help = Object.hasOwn(ORDERED, kind) ? ORDERED[kind] : undefined;
  if (help === undefined) return;
  const message = `${node.name} by a value of type ${kind}, which has no order: everything stays where it is`;
  state.warn(message, node.nameSpan, { code: CHECKER_CODES.noOrder.code, help });
}
