import type { Value } from '../value.ts';

/** The tree of a template (spec/language.md 12.7). */
export type TemplateNode = TextNode | OutputNode | IfNode | ForNode | IncludeNode;

/** Offset of a directive in the template text. */
type Offset = number;

export interface TextNode {
  readonly kind: 'text';
  readonly text: string;
}

export interface OutputNode {
  readonly kind: 'output';
  readonly at: Offset;
  readonly expression: Expression;
}

export interface IfNode {
  readonly kind: 'if';
  readonly at: Offset;
  readonly branches: readonly { readonly condition: Expression; readonly body: readonly TemplateNode[] }[];
  readonly otherwise: readonly TemplateNode[];
}

export interface ForNode {
  readonly kind: 'for';
  readonly at: Offset;
  /** Name of the key or position; undefined when only the element is named. */
  readonly keyName: string | undefined;
  readonly itemName: string;
  readonly iterable: Expression;
  readonly body: readonly TemplateNode[];
  readonly otherwise: readonly TemplateNode[];
}

export interface IncludeNode {
  readonly kind: 'include';
  readonly at: Offset;
  readonly path: Expression;
  readonly bindings: readonly (readonly [name: string, value: Expression])[];
}

export type BinaryOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'and' | 'or';

export type Expression =
  | { readonly kind: 'literal'; readonly value: Value }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'member'; readonly object: Expression; readonly key: Expression }
  | { readonly kind: 'not'; readonly operand: Expression }
  | { readonly kind: 'binary'; readonly operator: BinaryOperator; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'filter'; readonly input: Expression; readonly name: string; readonly args: readonly Expression[] };

/** A fault in a template, at an offset of its text. The renderer adds the name of the template. */
export class TemplateFault extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}
