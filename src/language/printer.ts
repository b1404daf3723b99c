import type { Program } from './ast.ts';
import { hardLine, type Layout } from './layout.ts';
import { printExpression } from './print-expression.ts';
import { printLines } from './print-row.ts';
import { PrintSource, type SourceParts } from './print-source.ts';
import { printPattern, printStatement } from './print-statement.ts';
import type { Printing } from './printing.ts';

/**
 * Writes a tree back as source in one style. The tree says what is grouped with what; the text it was read from says
 * what the tree leaves out and its author meant to keep: parentheses, the spelling of literals, comments, blank lines,
 * and whether a block or list was spread over lines. So the tokens stay the same but for separators and trailing
 * commas, and only blanks and line ends are decided here and in the layout (see `layout.ts`).
 */
export function printProgram(program: Program, parts: SourceParts): Layout {
  const source = new PrintSource(parts);
  const printing: Printing = {
    source,
    statement: (node) => printStatement(printing, node),
    expression: (node) => printExpression(printing, node),
    pattern: (node) => printPattern(printing, node),
  };
  const items = program.items.map((node) => ({ span: node.span, print: () => printing.statement(node) }));
  const { rows } = source.rows(items, 0, parts.text.length, 'file');
  return rows.length === 0 ? '' : [printLines(rows), hardLine];
}
