import type { Token } from './token.ts';

/**
 * What someone who comes from another language probably meant where the text does not read. The message says what the
 * grammar wanted; this says how Harn writes it. Only spellings that cannot be anything else are named here: a wrong
 * guess is worse than none.
 */
export function foreignSyntax(tokens: readonly Token[], index: number, expected: string): string | undefined {
  const at = (distance: number): Token | undefined => tokens[index + distance];
  return byPunctuation(at, expected) ?? byWord(at) ?? byLine(tokens, index, expected) ?? missingBrace(at(0), expected);
}

const ARM = 'an arm is written `pattern -> { value }`';
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
    return expected === '->' ? ARM : CLOSURE;
  }
  if (token?.kind === '>' && before?.kind === '=' && touches(before, token)) return CLOSURE;
  if (token?.kind === '|' && expected === 'expression') return CLOSURE;
  if (token?.kind === ',' && expected === ')') return CLOSURE;
  if (before?.kind === '->' && expected === '{') return ARM;
  if (token?.kind === ':' && [before, next].some((other) => other?.kind === ':')) return 'a case of an enum is written `Enum.Case`';
  if (token?.kind === 'string' && isWord(before, 'println', 'print', 'log')) return `a call takes parentheses: \`${before?.text}(…)\``;
  if (token?.kind === 'catch' || token?.kind === 'finally') return `\`${token.kind}\` follows the brace that closes its \`try\``;
  if (token?.kind === 'else') return '`else` follows the brace that closes its `if`, with nothing between';
  if (isWord(before, 'mut') && expected === '=') return 'a name that will change is declared with `var`';
  if (token?.kind === '=' && (before?.kind === '==' || before?.kind === '!=') && touches(before, token)) {
    return `there is no \`${before.kind}=\`; \`${before.kind}\` compares by contents`;
  }
  if (token?.kind === '+' && before?.kind === '+' && touches(before, token)) return 'there is no `++`; write `x += 1`';
  if (before?.kind === '-' && at(-2)?.kind === '-' && touches(at(-2), before)) return 'there is no `--`; write `x -= 1`';
  if (token?.kind === ':' && next?.kind === '=') return 'a name is declared with `let x = …`, or with `var` when it will change';
  if (token?.kind === ':' && isWord(before, 'description')) return 'write `description "…"`, without a colon';
  if (token?.kind === '}' && expected === ':' && before?.kind === 'identifier') {
    return `a dict names each value: write \`{${before.text}: ${before.text}}\``;
  }
  return undefined;
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
  not: 'write `!x`',
  and: 'write `&&`',
  or: 'write `||`',
  typeof: 'write `type_of(x)`',
  instanceof: 'write `type_of(x) == "…"`',
};

/** By the words that begin the line. */
function byLine(tokens: readonly Token[], index: number, expected: string): string | undefined {
  let start = index;
  while (start > 0 && tokens[start - 1]?.kind !== 'newline') start--;
  const [first, second, third] = [tokens[start], tokens[start + 1], tokens[start + 2]];
  if (isWord(first, 'switch')) return ANYWHERE.switch;
  if (first?.kind === 'for' && second?.kind === '(' && isDeclaring(third)) return 'write `for i in 0 to n exclusive { … }`';
  if (first?.kind === 'import') return 'write `import { name } from "path"`, or `import "path"` for all of it';
  const keyword = first?.kind === 'pub' ? second : first;
  if (keyword?.kind === 'fn' && expected === '{' && tokens[index - 1]?.kind === ')')
    return 'a result type stands behind `->`: `fn f(a: int) -> int { … }`';
  if (first?.kind === 'interface') return 'an interface holds methods; the shape of a dict is `type Name = {field: type}`';
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
  process: 'arguments are in `argv`, the environment is read by `env(…)`',
};

/** What to write for a name that nothing declares. */
export function foreignName(name: string): string | undefined {
  if (Object.hasOwn(NAMES, name)) return NAMES[name];
  return Object.hasOwn(ANYWHERE, name) ? ANYWHERE[name] : undefined;
}
