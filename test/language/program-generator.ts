import fc from 'fast-check';

/**
 * Random programs as text: valid by construction, in no particular style, with comments anywhere a token may end.
 * Words are kept apart by single blanks; `\n` is a word of its own.
 */
type Words = readonly string[];
type Gen = fc.Arbitrary<Words>;

const word = (...words: readonly string[]): Gen => fc.constant(words);
const oneOf = (...words: readonly string[]): Gen => fc.constantFrom(...words).map((text) => [text]);

function seq(...parts: readonly (Gen | string)[]): Gen {
  return fc.tuple(...parts.map((part) => (typeof part === 'string' ? word(part) : part))).map((all) => all.flat());
}

function maybe(part: Gen): Gen {
  return fc.option(part, { nil: [] });
}

function many(item: Gen, separator: Gen, limits: { readonly minLength?: number; readonly maxLength: number }): Gen {
  return fc
    .array(fc.tuple(item, separator), limits)
    .map((pairs) => pairs.flatMap(([one, end], index) => (index === pairs.length - 1 ? one : [...one, ...end])));
}

/** Where a newline means nothing. */
const softBreak = fc.oneof({ arbitrary: word(), weight: 4 }, { arbitrary: word('\n'), weight: 1 });
const comma = seq(',', softBreak);
const listOf = (open: string, item: Gen, close: string, maxLength = 3): Gen =>
  seq(open, softBreak, many(item, comma, { maxLength }), softBreak, close);

const name = oneOf('a', 'b', 'count', 'größe', 'gen', 'each', 'timeout', 'with');
const typeName = oneOf('int', 'string', 'T', 'Point');
const structName = oneOf('Point', 'Box');
const literal = oneOf(
  '0',
  '42',
  '9223372036854775808',
  '1.5',
  '90s',
  'true',
  'nil',
  '"text"',
  '"a\\n\\"b"',
  'r"\\d"',
  '"x${a + 1}y${f(b)}"',
  '"""\n  one\n    two ${a}\n  """',
);
const binaryOperator = oneOf('+', '-', '*', '/', '%', '**', '==', '!=', '<', '<=', '>=', 'in', '&&', '||', '??');
const assignment = oneOf('=', '+=', '-=');

const type: Gen = fc.letrec<{ type: Words; atom: Words }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    tie('atom'),
    seq(tie('atom'), '?'),
    seq(tie('atom'), '|', tie('type')),
    seq('list', '<', tie('type'), '>'),
    seq('fn', '(', tie('type'), ')', '->', tie('type')),
    listOf('{', seq(name, maybe(word('?')), ':', tie('type')), '}'),
  ),
  atom: fc.oneof(typeName, oneOf('"x"', '-1', 'nil', '[int]')),
})).type;

/** A type and no interface, since `letrec` asks for an index signature. */
type Rules = Readonly<Record<'expression' | 'operand' | 'callable' | 'closure' | 'statement' | 'block', Words>>;

const lineEnd = fc.oneof(
  { arbitrary: word('\n'), weight: 6 },
  { arbitrary: word('\n', '\n', '\n'), weight: 1 },
  { arbitrary: word(';'), weight: 1 },
);

const param = fc.oneof(seq(name), seq(name, ':', type));
const params = listOf('(', param, ')');

const pattern = fc.oneof(
  { arbitrary: name, weight: 3 },
  { arbitrary: listOf('{', fc.oneof(name, seq(name, ':', name), seq(name, '=', '1')), '}'), weight: 1 },
  { arbitrary: seq('[', softBreak, name, ',', '.', '.', '.', name, softBreak, ']'), weight: 1 },
);

const rules = fc.letrec<Rules>((tie) => {
  const expression = tie('expression');
  const operand = tie('operand');
  const block = tie('block');
  const spread = seq('.', '.', '.', operand);
  const args = listOf(
    '(',
    fc.oneof({ arbitrary: expression, weight: 4 }, { arbitrary: tie('closure'), weight: 1 }, { arbitrary: spread, weight: 1 }),
    ')',
  );
  const key = fc.oneof(name, oneOf('"two words"', 'in', 'match'), seq('[', expression, ']'));
  return {
    operand: fc.oneof(
      { maxDepth: 4, depthIdentifier: 'expression' },
      name,
      literal,
      seq('(', expression, ')'),
      seq(oneOf('f', 'g'), args),
      seq(name, '.', name, args),
      seq(name, softBreak, '.', name, args, softBreak, '.', name, args),
      seq(name, '[', expression, ']'),
      seq(name, '[', '1', ':', ']'),
      listOf('[', fc.oneof(expression, spread), ']'),
      seq('f', '(', listOf('{', fc.oneof(seq(key, ':', expression), spread), '}'), ')'),
      seq(structName, listOf('{', seq(name, ':', expression), '}')),
      seq('-', operand),
      seq('!', operand),
      seq('f', '<', type, '>', args),
    ),
    callable: fc.oneof(oneOf('f', 'len'), seq('g', '(', '_', ',', name, ')'), seq('_', '.', name, '(', ')')),
    closure: fc.oneof(
      seq(
        '{',
        many(name, word(','), { maxLength: 2 }),
        '->',
        softBreak,
        many(tie('statement'), lineEnd, { minLength: 1, maxLength: 2 }),
        softBreak,
        '}',
      ),
      seq('fn', params, maybe(seq('->', type)), block),
    ),
    expression: fc.oneof(
      { maxDepth: 4, depthIdentifier: 'expression' },
      { arbitrary: operand, weight: 3 },
      { arbitrary: seq(operand, binaryOperator, softBreak, expression), weight: 2 },
      { arbitrary: seq('(', operand, '?', name, ':', operand, ')'), weight: 1 },
      { arbitrary: seq('(', operand, 'to', operand, ')'), weight: 1 },
      { arbitrary: seq('(', operand, softBreak, '|>', tie('callable'), '|>', tie('callable'), ')'), weight: 1 },
    ),
    block: seq('{', softBreak, many(tie('statement'), lineEnd, { maxLength: 3 }), softBreak, '}'),
    statement: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'statement' },
      { arbitrary: seq(oneOf('let', 'var'), pattern, '=', softBreak, expression), weight: 4 },
      { arbitrary: seq(oneOf('let', 'const'), name, ':', type, '=', expression), weight: 1 },
      { arbitrary: seq(name, assignment, expression), weight: 2 },
      { arbitrary: seq('f', args), weight: 4 },
      { arbitrary: seq('return', expression), weight: 1 },
      { arbitrary: seq('require', expression, ',', softBreak, expression), weight: 1 },
      { arbitrary: seq('if', '(', expression, ')', block, maybe(seq('else', block))), weight: 1 },
      { arbitrary: seq('if', 'a', block, 'else', 'if', 'b', block, maybe(seq(softBreak, 'else', block))), weight: 1 },
      { arbitrary: seq('for', pattern, 'in', operand, block), weight: 1 },
      { arbitrary: seq('while', '(', expression, ')', block), weight: 1 },
      { arbitrary: seq('try', block, softBreak, 'catch', '(', name, ')', block, maybe(seq('finally', block))), weight: 1 },
      {
        arbitrary: seq(
          'match',
          name,
          '{',
          softBreak,
          many(seq(fc.oneof(literal, name), maybe(seq('if', operand)), '->', block), word('\n'), { maxLength: 3 }),
          softBreak,
          '}',
        ),
        weight: 1,
      },
      { arbitrary: seq('parallel', 'each', name, '{', name, '->', softBreak, tie('statement'), softBreak, '}'), weight: 1 },
      { arbitrary: seq('select', '{', softBreak, name, 'from', name, block, softBreak, 'timeout', '5s', block, softBreak, '}'), weight: 1 },
      { arbitrary: seq('fn', name, params, maybe(seq('->', type)), block), weight: 1 },
      { arbitrary: seq('type', typeName, '=', type), weight: 1 },
      { arbitrary: seq('struct', structName, listOf('{', seq(name, maybe(word('?')), ':', type), '}')), weight: 1 },
      { arbitrary: seq('enum', structName, listOf('{', fc.oneof(structName, seq(structName, params)), '}')), weight: 1 },
    ),
  };
});

const topLevel = fc.oneof(
  { arbitrary: rules.statement, weight: 4 },
  { arbitrary: seq('import', '"std/text"'), weight: 1 },
  { arbitrary: seq('import', listOf('{', name, '}'), 'from', '"a"'), weight: 1 },
  { arbitrary: seq('@', 'test', '\n', 'fn', name, params, rules.block), weight: 1 },
  { arbitrary: seq('pipeline', name, params, rules.block), weight: 1 },
  { arbitrary: seq('tool', name, params, '{', '\n', 'description', '"d"', '\n', rules.statement, '\n', '}'), weight: 1 },
  { arbitrary: seq('skill', name, '{', softBreak, 'when', '"asked"', lineEnd, 'tools', '[', name, ']', softBreak, '}'), weight: 1 },
  { arbitrary: seq('impl', structName, '{', '\n', 'fn', name, params, rules.block, '\n', '}'), weight: 1 },
);

const programWords = many(topLevel, fc.oneof(word('\n'), word('\n', '\n')), { maxLength: 4 });

/** Joins words by blanks; a comment is put behind the word at each given place. */
function join(words: Words, comments: readonly { readonly place: number; readonly style: 'line' | 'block' }[]): string {
  const behind = new Map(comments.map(({ place, style }, index) => [place % Math.max(1, words.length), { style, index }]));
  return words
    .map((text, at) => {
      const comment = behind.get(at);
      if (comment === undefined) return text === '\n' ? text : `${text} `;
      const before = text === '\n' ? '\n' : `${text} `;
      // A line comment must not take code with it.
      const isLine = comment.style === 'line' && (words[at + 1] === '\n' || words[at + 1] === undefined);
      return isLine ? `${before}// note ${comment.index}` : `${before}/* note ${comment.index} */ `;
    })
    .join('');
}

const comment = fc.record({ place: fc.nat(400), style: fc.constantFrom('line' as const, 'block' as const) });

export const plainProgram: fc.Arbitrary<string> = programWords.map((words) => join(words, []));

export const commentedProgram: fc.Arbitrary<string> = fc
  .tuple(programWords, fc.array(comment, { maxLength: 5 }))
  .map(([words, comments]) => join(words, comments));
