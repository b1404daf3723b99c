import type { Block, Expression, Parameter } from './ast.ts';
import { group, indented, type Layout } from './layout.ts';
import { printBraces, printList } from './print-row.ts';
import type { Rows } from './print-source.ts';
import { printType } from './print-type.ts';
import type { Printing } from './printing.ts';

export type BlockLayout = 'flat' | 'lines';

/** Blocks that were written on one line each may stay there; one that was not breaks them all. */
export function layoutOf({ source }: Printing, blocks: readonly Block[]): BlockLayout {
  return blocks.some(({ span }) => source.hasLineBreak(span.start, span.end)) ? 'lines' : 'flat';
}

export function printBlock(printing: Printing, block: Block, layout: BlockLayout): Layout {
  return printBraces('{', blockRows(printing, block, block.span.start + 1), layout);
}

export function blockRows({ source, statement }: Printing, block: Block, from: number): Rows {
  const items = block.statements.map((node) => ({ span: node.span, print: () => statement(node) }));
  return source.rows(items, from, block.span.end - 1);
}

/** What has one block at its end. */
export function printHeaded(printing: Printing, head: Layout, block: Block): Layout {
  const layout = layoutOf(printing, [block]);
  const parts = [head, ' ', printBlock(printing, block, layout)];
  return layout === 'flat' ? group(parts) : parts;
}

/** An expression before a block: its further lines are set off from the lines of the block. */
export function printHeader(printing: Printing, node: Expression): Layout {
  const layout = printing.expression(node);
  return node.kind === 'Binary' ? indented(layout) : layout;
}

export function printParam(printing: Printing, param: Parameter): Layout {
  const { source } = printing;
  return [
    param.isRest ? '...' : '',
    param.name,
    param.type === undefined ? '' : [': ', printType(source, param.type)],
    param.defaultValue === undefined ? '' : [' = ', printing.expression(param.defaultValue)],
  ];
}

/** The parameter list that opens first behind an offset. */
export function printParams(printing: Printing, params: readonly Parameter[], after: number): Layout {
  const { source } = printing;
  const { start, end } = source.bracketsAfter(after, '(');
  const items = params.map((param) => ({ span: param.span, print: () => printParam(printing, param) }));
  return printList(source, { open: '(', close: ')', from: start, to: end, items });
}
