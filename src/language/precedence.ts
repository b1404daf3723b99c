import type { BinaryOperator } from './ast.ts';

/**
 * How tightly the left-associative binary operators bind (spec/language.md 3.1), loosest first; the levels around them
 * have grammar of their own. `**` is not among them: it binds tighter than all and to the right.
 */
export const BINDING_POWERS: Readonly<Record<string, number | undefined>> = {
  '||': 1,
  '&&': 2,
  '==': 3,
  '!=': 3,
  '<': 4,
  '>': 4,
  '<=': 4,
  '>=': 4,
  in: 4,
  'not in': 4,
  '+': 5,
  '-': 5,
  '??': 6,
  '*': 7,
  '/': 7,
  '%': 7,
} satisfies Partial<Record<BinaryOperator, number>>;
