import type { Token } from './token.ts';

/**
 * What someone who comes from another language probably meant where the text does not read. The message says what the
 * grammar wanted; this says how Harn writes it. Only spellings that cannot be anything else are named here: a wrong
 * guess is worse than none.
 */
export function foreignSyntax(tokens: readonly Token[], index: number, expected: string): string | undefined {
  const at = (distance: number): Token | undefined => tokens[index + distance];
  return (
    byPunctuation(at, expected) ??
    byNumber(at, expected) ??
    byWord(at) ??
    byLine(tokens, index, expected) ??
    byClause(tokens, index) ??
    missingBrace(at(0), expected)
  );
}

const ARM = 'an arm is written `pattern -> { value }`';
const IMPORT = 'write `import { name } from "path"`, or `import "path"` for all of it';
const CLOSURE = 'a function as a value is written `{ x -> x + 1 }`';

type Look = (distance: number) => Token | undefined;

function isWord(token: Token | undefined, ...words: readonly string[]): boolean {
  return token?.kind === 'identifier' && words.includes(token.text);
}

/** Does `second` follow without a blank, as the halves of one foreign operator do? */
function touches(first: Token | undefined, second: Token | undefined): boolean {
  return first !== undefined && second !== undefined && first.end === second.start;
}

function byPunctuation(at: Look, expected: string): string | undefined {
  const [before, token, next] = [at(-1), at(0), at(1)];
  if (token?.kind === '=' && next?.kind === '>' && touches(token, next)) {
    if (expected === '{') return 'the body of a function stands in braces: `fn f(a) { return … }`';
    return expected === '->' ? ARM : CLOSURE;
  }
  if (token?.kind === '>' && before?.kind === '=' && touches(before, token)) return CLOSURE;
  if (token?.kind === '|' && expected === 'expression') return CLOSURE;
  if (token?.kind === ',' && expected === ')') return CLOSURE;
  if (token?.kind === '->' && before?.kind === ')') return CLOSURE;
  if (token?.kind === '&') return 'write `&&`';
  if (token?.kind === '|' && !expected.includes('->')) return 'write `||`';
  if (token?.kind === '>' && before?.kind === '<' && touches(before, token)) return 'there is no `<>`; write `!=`';
  if (token?.kind === '.' && before?.kind === '.' && touches(before, token)) return RANGE;
  if (token?.kind === '[' && next?.kind === ']' && before?.kind === 'identifier') return `a list is written \`list<${before.text}>\``;
  if (token?.kind === '?' && expected === 'parameter name') return 'a parameter that may be left out has a default: `fn f(a = nil)`';
  if (token?.kind === '=' && before?.kind === 'identifier' && expected === ':') return 'an entry of a dict is written `name: value`';
  if (token?.kind === '=' && expected === '{') return '`==` compares; `=` only assigns';
  if ((token?.kind === '=' || token?.kind === ':') && expected === 'expression' && isArgument(at)) {
    return 'arguments have no names: give them in their order, or take one dict: `f({name: value})`';
  }
  if (token?.kind === ':' && expected === '->') return ARM;
  if (before?.kind === '->' && expected === '{') return ARM;
  if (token?.kind === ':' && [before, next].some((other) => other?.kind === ':')) return 'a case of an enum is written `Enum.Case`';
  if (token?.kind === 'string' && isWord(before, 'println', 'print', 'log')) return `a call takes parentheses: \`${before?.text}(…)\``;
  if (token?.kind === 'catch' || token?.kind === 'finally') return `\`${token.kind}\` follows the brace that closes its \`try\``;
  if (token?.kind === 'else') return '`else` follows the brace that closes its `if`, with nothing between';
  if (isWord(before, 'mut') && expected === '=') return 'a name that will change is declared with `var`';
  if (token?.kind === '=' && (before?.kind === '==' || before?.kind === '!=') && touches(before, token)) {
    return `there is no \`${before.kind}=\`; \`${before.kind}\` compares by contents`;
  }
  if (token?.kind === ';' && before?.kind === ';') return 'one `;` is enough';
  if (token?.kind === '+' && (next?.kind === 'int' || next?.kind === 'float') && before?.kind !== '+')
    return 'a number has no `+` before it';
  if (token?.kind === '+' && before?.kind === '+' && touches(before, token)) return 'there is no `++`; write `x += 1`';
  if (before?.kind === '-' && at(-2)?.kind === '-' && touches(at(-2), before)) return 'there is no `--`; write `x -= 1`';
  if (token?.kind === ':' && next?.kind === '=') return 'a name is declared with `let x = …`, or with `var` when it will change';
  if (token?.kind === ':' && isWord(before, 'description')) return 'write `description "…"`, without a colon';
  if (token?.kind === '}' && expected === ':' && before?.kind === 'identifier') {
    return `a dict names each value: write \`{${before.text}: ${before.text}}\``;
  }
  if (isText(token) && before?.kind === 'identifier' && before.text.length === 1 && touches(before, token)) return PREFIXED_STRING;
  return undefined;
}

function isText(token: Token | undefined): boolean {
  return token?.kind === 'string' || token?.kind === 'interpolation';
}

const RANGE = 'a range is written `0 to 3`, or `0 to 3 exclusive` without its end';

/** What to do with `f"…"`. */
export const PREFIXED_STRING = 'strings take `${…}` without a prefix: `"n is ${n}"`';

/** Is the token behind the name of what would be a named argument? */
function isArgument(at: Look): boolean {
  const opener = at(-2)?.kind;
  return at(-1)?.kind === 'identifier' && (opener === '(' || opener === ',');
}

const NO_SEPARATOR = 'digits stand together, without `_`';
const NO_EXPONENT = 'a number has no exponent: write out its zeros, or `pow(10.0, n)`';

/** Numbers are decimal digits, with digits on both sides of a point. */
function byNumber(at: Look, expected: string): string | undefined {
  const [before, token, next] = [at(-1), at(0), at(1)];
  if (token?.kind === '.' && next?.kind === 'int' && touches(token, next) && expected === 'expression') {
    return `a float has a digit before its point: \`0.${next.text}\``;
  }
  if (before?.kind !== 'int' && before?.kind !== 'float') return undefined;
  if (token?.kind !== 'identifier' || !touches(before, token)) return undefined;
  if (token.text.startsWith('_')) return NO_SEPARATOR;
  if (/^[eE]\d*$/.test(token.text)) return NO_EXPONENT;
  return before.text === '0' && /^[xXbBoO]/.test(token.text) ? 'an int is written in decimal digits' : undefined;
}

/** By the word at the mistake, or the one before it. */
function byWord(at: Look): string | undefined {
  const [before, token] = [at(-1), at(0)];
  for (const word of [token, before]) {
    const hint = word?.kind === 'identifier' && Object.hasOwn(ANYWHERE, word.text) ? ANYWHERE[word.text] : undefined;
    if (hint !== undefined) return hint;
  }
  return undefined;
}

const ANYWHERE: Readonly<Record<string, string>> = {
  function: 'a function is declared with `fn name(…) { … }`',
  def: 'a function is declared with `fn name(…) { … }`',
  func: 'a function is declared with `fn name(…) { … }`',
  async: 'there is no `async`: a call that has to wait simply waits',
  await: 'there is no `await` before a call: it simply waits; `await(task)` takes what `spawn` gave',
  export: 'what other files may import begins with `pub`',
  class: 'there are no classes; write `struct Name { field: type }`, and its methods in `impl Name { … }`',
  new: 'there is no `new`; a struct is built by `Name {field: value}`, and any value can be thrown',
  switch: 'write `match value { 1 -> { … } }`, with one arm a line',
  except: 'write `catch (e) { … }`',
  of: 'write `for item in list { … }`',
  elif: 'write `else if`',
  elsif: 'write `else if`',
  elseif: 'write `else if`',
  lambda: CLOSURE,
  not: 'write `!x`',
  and: 'write `&&`',
  or: 'write `||`',
  typeof: 'write `type_of(x)`',
  instanceof: 'write `type_of(x) == "…"`',
};

/** Words that mean something only where they begin a statement; elsewhere they may be names. */
const STARTERS: Readonly<Record<string, string>> = {
  foreach: 'write `for item in list { … }`',
  unless: 'write `if !condition { … }`',
  until: 'write `while !condition { … }`',
  do: 'write `while true { … }` with a `break` in it',
  loop: 'write `while true { … }` with a `break` in it',
  case: ARM,
  raise: 'write `throw value`',
  del: 'write `d = d.remove(key)`',
  assert: 'a call takes parentheses: `assert(condition, message)`',
  val: 'a name is declared with `let`, or with `var` when it will change',
};

/** By the words that begin the line. */
function byLine(tokens: readonly Token[], index: number, expected: string): string | undefined {
  let start = index;
  while (start > 0 && tokens[start - 1]?.kind !== 'newline') start--;
  const [first, second, third] = [tokens[start], tokens[start + 1], tokens[start + 2]];
  if (isWord(first, 'switch')) return ANYWHERE.switch;
  if (first?.kind === 'identifier' && index === start + 1 && Object.hasOwn(STARTERS, first.text)) return STARTERS[first.text];
  if (isWord(first, 'from') || first?.kind === 'from') return IMPORT;
  if (tokens[index]?.kind === ',' && tokens.slice(start, index).some(({ kind }) => kind === 'return')) {
    return 'several values are returned as a list: `return [a, b]`';
  }
  if (first?.kind === 'let' || first?.kind === 'var') {
    if (tokens[index]?.kind === ',' && expected === '=') return 'a list is taken apart by `let [a, b] = …`';
    if (tokens[index]?.kind === 'newline' && expected === '=') return 'a name gets its first value where it is declared: `var x = nil`';
  }
  if (first?.kind === 'for' && tokens[index]?.kind === ',' && expected === 'in') {
    return 'write `for (i, x) in iter(xs).enumerate()`, or `for {key, value} in d`';
  }
  if (expected === 'else' && first !== undefined) return 'a guard says what happens otherwise: `guard condition else { return }`';
  if (first?.kind === 'for' && second?.kind === '(' && isDeclaring(third)) {
    return isWord(tokens[start + 4], 'of', 'in') ? ANYWHERE.of : 'write `for i in 0 to n exclusive { … }`';
  }
  if (first?.kind === 'import' || tokens[index]?.kind === 'require') return IMPORT;
  const keyword = first?.kind === 'pub' ? second : first;
  if (keyword?.kind === 'fn' && expected === '{' && tokens[index - 1]?.kind === ')')
    return 'a result type stands behind `->`: `fn f(a: int) -> int { … }`';
  if (first?.kind === 'interface') return 'an interface holds methods; the shape of a dict is `type Name = {field: type}`';
  return undefined;
}

/** `x if c else y`. */
function byClause(tokens: readonly Token[], index: number): string | undefined {
  if (tokens[index]?.kind !== 'if' || tokens[index - 1]?.kind === 'newline') return undefined;
  for (let at = index; tokens[at] !== undefined && tokens[at]?.kind !== 'newline' && tokens[at]?.kind !== '{'; at++) {
    if (tokens[at]?.kind === 'else') return 'write `condition ? one : other`';
  }
  return undefined;
}

function isDeclaring(token: Token | undefined): boolean {
  return token?.kind === 'let' || token?.kind === 'var' || isWord(token, 'const', 'int');
}

function missingBrace(token: Token | undefined, expected: string): string | undefined {
  return expected === '{' && token?.kind !== 'newline' ? 'what follows stands in braces: `{ … }`' : undefined;
}

/** The same for a character that begins no token. */
export function foreignCharacter(character: string): string | undefined {
  switch (character) {
    case "'":
      return 'strings stand in double quotes: `"…"`';
    case '`':
      return 'strings stand in double quotes, also with `${…}` in them; `"""` opens one of several lines';
    case '#':
      return 'a comment begins with `//`';
    case '\u201c':
    case '\u201d':
    case '\u2018':
    case '\u2019':
      return 'use a plain `"`';
    case '\u2013':
    case '\u2014':
    case '\u2212':
      return 'use a plain `-`';
    case '\u00d7':
      return 'write `*`';
    case '\u2264':
      return 'write `<=`';
    case '\u2265':
      return 'write `>=`';
    case '\u2260':
      return 'write `!=`';
    case '\u2026':
      return 'write three points: `...`';
    case '\u2192':
      return 'write `->`';
    case '\u00a0':
    case '\u2009':
    case '\u200b':
    case '\ufeff':
      return 'this looks like a blank and is none; type it again as a space';
    case '~':
    case '^':
      return 'there are no operators on bits';
    default:
      return undefined;
  }
}

/** Names that other languages know everywhere. */
const NAMES: Readonly<Record<string, string>> = {
  null: 'write `nil`',
  undefined: 'write `nil`',
  None: 'write `nil`',
  True: 'write `true`',
  False: 'write `false`',
  console: 'write `println(…)`, or `log_info(…)` for the log',
  JSON: 'write `json_parse(…)` or `json_stringify(…)`',
  Math: 'write `floor(…)`, `max(…)` and so on; more is in "std/math"',
  Object: 'write `d.keys()`, `d.values()` or `d.entries()`',
  this: 'a method takes `self` as its first parameter',
  self: 'a method takes `self` as its first parameter',
  pass: 'leave the braces empty: `{ }`',
  Error: 'any value can be thrown: `throw "text"`, or `throw {kind: "…", message: "…"}`',
  Exception: 'any value can be thrown: `throw "text"`, or `throw {kind: "…", message: "…"}`',
  str: 'write `to_string(x)`, or `"${x}"`',
  String: 'write `to_string(x)`, or `"${x}"`',
  int: 'write `to_int(x)`',
  parseInt: 'write `to_int(x)`',
  float: 'write `to_float(x)`',
  parseFloat: 'write `to_float(x)`',
  Number: 'write `to_int(x)` or `to_float(x)`',
  bool: 'any value is a condition; `!!x` makes a bool of it',
  Boolean: 'any value is a condition; `!!x` makes a bool of it',
  list: 'write `[…]`, or `to_list(x)`',
  Array: 'write `[…]`, or `to_list(x)`',
  dict: 'write `{name: value}`',
  tuple: 'write `[…]`, or `pair(a, b)`',
  input: 'write `prompt_user("question ")`, or `read_line()`',
  open: 'write `read_file(path)` or `write_file(path, text)`',
  type: 'write `type_of(x)`',
  isinstance: 'write `type_of(x) == "…"`',
  enumerate: 'write `xs.enumerate()`, or `for (i, x) in iter(xs).enumerate()`',
  zip: 'write `xs.zip(ys)`',
  map: 'write `xs.map({ x -> … })`',
  filter: 'write `xs.filter({ x -> … })`',
  reduce: 'write `xs.reduce(start, { total, x -> … })`',
  sorted: 'write `xs.sort()`, or `xs.sort_by({ x -> … })`',
  sum: 'write `xs.sum()`',
  any: 'write `xs.any({ x -> … })`',
  all: 'write `xs.all({ x -> … })`',
  setTimeout: 'write `sleep(1s)`, inside `spawn { … }` to go on meanwhile',
  fetch: 'write `http_get(url)`',
  printf: 'write `println("n is ${n}")`',
  echo: 'write `println(…)`',
  fmt: 'write `println("n is ${n}")`',
  super: 'structs have no parents',
  process: 'arguments are in `argv`, the environment is read by `env(…)`',
};

/** What to write for a name that nothing declares. */
export function foreignName(name: string): string | undefined {
  // `f(1e5)` reads as two arguments.
  if (/^[eE]\d+$/.test(name)) return NO_EXPONENT;
  if (/^_\d+$/.test(name)) return NO_SEPARATOR;
  if (Object.hasOwn(NAMES, name)) return NAMES[name];
  if (Object.hasOwn(STARTERS, name)) return STARTERS[name];
  return Object.hasOwn(ANYWHERE, name) ? ANYWHERE[name] : undefined;
}
