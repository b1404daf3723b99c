import type { Expression, Pattern, Statement } from './ast.ts';
import type { Layout } from './layout.ts';
import type { PrintSource } from './print-source.ts';

/** The printers that call each other in a circle reach each other through this, so that no file imports its own importer. */
export interface Printing {
  readonly source: PrintSource;
  statement(node: Statement): Layout;
  expression(node: Expression): Layout;
  pattern(node: Pattern): Layout;
}
