import type { Span } from '../diagnostics/span.ts';

/**
 * The syntax tree of spec/language.md chapter 2. One discriminated union on `kind`; every node has the span of
 * its own text. The tree is plain data: the parser builds it, the checker and the emitter read it, the printer
 * writes it back. Nothing mutates it after parsing.
 */
export interface Program {
  readonly kind: 'Program';
  readonly items: readonly Statement[];
  readonly span: Span;
}

/** How some of it was written, which the tree leaves out because it means nothing. The printer keeps it. */
export interface Spelling {
  readonly parenthesised: ReadonlySet<Expression>;
  /** What stood to the right of `|>`, by the closure that was put in its place. */
  readonly placeholders: ReadonlyMap<Expression, Expression>;
}

export interface Name {
  readonly text: string;
  readonly span: Span;
}

// ---- Statements and declarations -------------------------------------------------------------------------------

export type Statement =
  | Import
  | Attributed
  | Pipeline
  | Override
  | FunctionDeclaration
  | ToolDeclaration
  | SkillDeclaration
  | EvalPack
  | StructDeclaration
  | EnumDeclaration
  | TypeAlias
  | InterfaceDeclaration
  | ImplDeclaration
  | Binding
  | ForLoop
  | WhileLoop
  | Return
  | Throw
  | Guard
  | Require
  | Mutex
  | Defer
  | Select
  | Yield
  | Emit
  | Break
  | Continue
  | Assignment
  | ExpressionStatement;

interface Node {
  readonly span: Span;
}

export interface Block extends Node {
  readonly kind: 'Block';
  readonly statements: readonly Statement[];
}

export interface Import extends Node {
  readonly kind: 'Import';
  readonly isPublic: boolean;
  /** Normalised: `import a::b::{x}` has path `a/b`. */
  readonly path: string;
  readonly pathSpan: Span;
  /** Undefined for a whole-module import. */
  readonly names: readonly Name[] | undefined;
  /** How it was written, for the printer. */
  readonly spelling: 'string' | 'path';
}

export interface Attribute extends Node {
  readonly name: string;
  readonly args: readonly AttributeArgument[];
}

export interface AttributeArgument extends Node {
  /** Undefined for a positional argument. */
  readonly name: string | undefined;
  readonly value: AttributeValue;
}

export type AttributeValue =
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'int'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'nil' }
  | { readonly kind: 'identifier'; readonly value: string }
  | { readonly kind: 'list'; readonly items: readonly AttributeValue[] };

export interface Attributed extends Node {
  readonly kind: 'Attributed';
  readonly attributes: readonly Attribute[];
  readonly declaration: Statement;
}

export interface Parameter extends Node {
  readonly name: string;
  readonly nameSpan: Span;
  readonly type: TypeNode | undefined;
  readonly defaultValue: Expression | undefined;
  readonly isRest: boolean;
}

export interface TypeParameter extends Node {
  readonly name: string;
  readonly variance: 'in' | 'out' | undefined;
}

export interface Bound extends Node {
  readonly parameter: string;
  /** Several with `+`. */
  readonly interfaces: readonly TypeNode[];
}

export interface Pipeline extends Node {
  readonly kind: 'Pipeline';
  readonly isPublic: boolean;
  readonly name: string;
  readonly nameSpan: Span;
  readonly params: readonly Parameter[];
  readonly returnType: TypeNode | undefined;
  readonly parent: Name | undefined;
  readonly body: Block;
}

export interface Override extends Node {
  readonly kind: 'Override';
  readonly name: string;
  readonly params: readonly Parameter[];
  readonly body: Block;
  readonly yields: boolean;
}

export interface FunctionDeclaration extends Node {
  readonly kind: 'Function';
  readonly isPublic: boolean;
  /** `gen fn`: returns a stream. */
  readonly isStream: boolean;
  readonly name: string;
  readonly nameSpan: Span;
  readonly typeParams: readonly TypeParameter[];
  readonly params: readonly Parameter[];
  readonly returnType: TypeNode | undefined;
  readonly bounds: readonly Bound[];
  readonly body: Block;
  /** Holds a `yield` of its own. */
  readonly yields: boolean;
}

export interface ToolDeclaration extends Node {
  readonly kind: 'Tool';
  readonly isPublic: boolean;
  readonly name: string;
  readonly nameSpan: Span;
  readonly params: readonly Parameter[];
  readonly returnType: TypeNode | undefined;
  readonly description: string | undefined;
  readonly body: Block;
}

export interface SkillDeclaration extends Node {
  readonly kind: 'Skill';
  readonly isPublic: boolean;
  readonly name: string;
  readonly fields: readonly { readonly name: Name; readonly value: Expression }[];
}

export interface EvalPack extends Node {
  readonly kind: 'EvalPack';
  readonly isPublic: boolean;
  /** The identifier, or the string for `eval_pack "id" { }`. */
  readonly name: string;
  readonly title: string | undefined;
  readonly fields: readonly { readonly name: Name; readonly value: Expression }[];
  readonly body: readonly Statement[];
  readonly summarize: Block | undefined;
}

export interface StructField extends Node {
  readonly name: string;
  readonly isOptional: boolean;
  readonly type: TypeNode | undefined;
}

export interface StructDeclaration extends Node {
  readonly kind: 'Struct';
  readonly isPublic: boolean;
  readonly name: string;
  readonly nameSpan: Span;
  readonly typeParams: readonly TypeParameter[];
  readonly fields: readonly StructField[];
}

export interface EnumVariant extends Node {
  readonly name: string;
  readonly params: readonly Parameter[];
}

export interface EnumDeclaration extends Node {
  readonly kind: 'Enum';
  readonly isPublic: boolean;
  readonly name: string;
  readonly nameSpan: Span;
  readonly typeParams: readonly TypeParameter[];
  readonly variants: readonly EnumVariant[];
}

export interface TypeAlias extends Node {
  readonly kind: 'TypeAlias';
  readonly isPublic: boolean;
  readonly name: string;
  readonly nameSpan: Span;
  readonly typeParams: readonly TypeParameter[];
  readonly type: TypeNode;
}

export interface InterfaceMethod extends Node {
  readonly name: string;
  readonly typeParams: readonly TypeParameter[];
  readonly params: readonly Parameter[];
  readonly returnType: TypeNode | undefined;
}

export interface InterfaceDeclaration extends Node {
  readonly kind: 'Interface';
  readonly name: string;
  readonly nameSpan: Span;
  readonly typeParams: readonly TypeParameter[];
  readonly associated: readonly { readonly name: string; readonly type: TypeNode | undefined; readonly span: Span }[];
  readonly methods: readonly InterfaceMethod[];
}

export interface ImplDeclaration extends Node {
  readonly kind: 'Impl';
  readonly name: string;
  readonly nameSpan: Span;
  readonly methods: readonly FunctionDeclaration[];
}

export type Pattern =
  | { readonly kind: 'NamePattern'; readonly name: string; readonly span: Span }
  | {
      readonly kind: 'DictPattern';
      readonly fields: readonly {
        readonly key: string;
        readonly target: string;
        readonly defaultValue: Expression | undefined;
        readonly span: Span;
      }[];
      readonly rest: string | undefined;
      readonly span: Span;
    }
  | {
      readonly kind: 'ListPattern';
      readonly items: readonly { readonly target: string; readonly defaultValue: Expression | undefined; readonly span: Span }[];
      readonly rest: string | undefined;
      readonly span: Span;
    };

export interface Binding extends Node {
  readonly kind: 'Binding';
  readonly keyword: 'let' | 'var' | 'const';
  readonly pattern: Pattern;
  readonly type: TypeNode | undefined;
  readonly value: Expression;
}

export interface ForLoop extends Node {
  readonly kind: 'For';
  /** `PairPattern` is `for (a, b) in …`, which reads `.first` and `.second`. */
  readonly pattern: Pattern | { readonly kind: 'PairPattern'; readonly first: string; readonly second: string; readonly span: Span };
  readonly iterable: Expression;
  readonly body: Block;
}

export interface WhileLoop extends Node {
  readonly kind: 'While';
  readonly condition: Expression;
  readonly body: Block;
}

export interface Return extends Node {
  readonly kind: 'Return';
  readonly value: Expression | undefined;
}

export interface Throw extends Node {
  readonly kind: 'Throw';
  readonly value: Expression;
}

export interface Guard extends Node {
  readonly kind: 'Guard';
  readonly condition: Expression;
  readonly otherwise: Block;
}

export interface Require extends Node {
  readonly kind: 'Require';
  readonly condition: Expression;
  readonly message: Expression | undefined;
}

export interface Mutex extends Node {
  readonly kind: 'Mutex';
  readonly body: Block;
}

export interface Defer extends Node {
  readonly kind: 'Defer';
  readonly body: Block;
}

export interface Select extends Node {
  readonly kind: 'Select';
  readonly cases: readonly { readonly variable: string; readonly channel: Expression; readonly body: Block; readonly span: Span }[];
  readonly timeout: { readonly duration: Expression; readonly body: Block } | undefined;
  readonly otherwise: Block | undefined;
}

export interface Yield extends Node {
  readonly kind: 'Yield';
  readonly value: Expression | undefined;
}

export interface Emit extends Node {
  readonly kind: 'Emit';
  readonly value: Expression;
}

export interface Break extends Node {
  readonly kind: 'Break';
}

export interface Continue extends Node {
  readonly kind: 'Continue';
}

export interface Assignment extends Node {
  readonly kind: 'Assignment';
  /** Identifier, Property (not optional) or Subscript (not optional); nested to any depth. */
  readonly target: Expression;
  readonly operator: '=' | '+=' | '-=' | '*=' | '/=' | '%=';
  readonly value: Expression;
}

export interface ExpressionStatement extends Node {
  readonly kind: 'ExpressionStatement';
  readonly expression: Expression;
}

// ---- Expressions -----------------------------------------------------------------------------------------------

export type BinaryOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '**'
  | '=='
  | '!='
  | '<'
  | '>'
  | '<='
  | '>='
  | 'in'
  | 'not in'
  | '&&'
  | '||'
  | '??';

export type Expression =
  | IntLiteral
  | FloatLiteral
  | DurationLiteral
  | StringLiteral
  | InterpolatedString
  | BoolLiteral
  | NilLiteral
  | Identifier
  | ListLiteral
  | DictLiteral
  | StructLiteral
  | Closure
  | Binary
  | Unary
  | Ternary
  | RangeExpression
  | Pipe
  | Call
  | MethodCall
  | Property
  | Subscript
  | Slice
  | Propagate
  | TryStar
  | IfExpression
  | MatchExpression
  | ParallelExpression
  | RetryExpression
  | DeadlineExpression
  | TryExpression
  | SpawnExpression;

/** Always within 64 bits: a larger literal is a FloatLiteral. */
export interface IntLiteral extends Node {
  readonly kind: 'Int';
  readonly value: bigint;
}

export interface FloatLiteral extends Node {
  readonly kind: 'Float';
  readonly value: number;
}

export interface DurationLiteral extends Node {
  readonly kind: 'Duration';
  readonly ms: number;
  readonly text: string;
}

export interface StringLiteral extends Node {
  readonly kind: 'String';
  readonly value: string;
  readonly form: 'plain' | 'raw' | 'block';
}

export interface InterpolatedString extends Node {
  readonly kind: 'Interpolation';
  readonly parts: readonly (string | Expression)[];
  readonly form: 'plain' | 'block';
}

export interface BoolLiteral extends Node {
  readonly kind: 'Bool';
  readonly value: boolean;
}

export interface NilLiteral extends Node {
  readonly kind: 'Nil';
}

export interface Identifier extends Node {
  readonly kind: 'Identifier';
  readonly name: string;
}

export type Element = Expression | Spread;

export interface Spread extends Node {
  readonly kind: 'Spread';
  readonly value: Expression;
}

export interface ListLiteral extends Node {
  readonly kind: 'List';
  readonly items: readonly Element[];
}

export interface DictEntry extends Node {
  readonly kind: 'Entry';
  /** A plain name or string as text, `[expr]` as an expression. */
  readonly key: string | Expression;
  readonly value: Expression;
}

export interface DictLiteral extends Node {
  readonly kind: 'Dict';
  readonly entries: readonly (DictEntry | Spread)[];
}

export interface StructLiteral extends Node {
  readonly kind: 'StructLiteral';
  readonly name: string;
  readonly nameSpan: Span;
  readonly fields: readonly { readonly name: string; readonly value: Expression; readonly span: Span }[];
}

/** `{ a, b -> … }` (form brace) or `fn(a, b) { … }` (form fn). */
export interface Closure extends Node {
  readonly kind: 'Closure';
  readonly params: readonly Parameter[];
  readonly returnType: TypeNode | undefined;
  readonly body: Block;
  readonly form: 'brace' | 'fn';
}

export interface Binary extends Node {
  readonly kind: 'Binary';
  readonly operator: BinaryOperator;
  readonly operatorSpan: Span;
  readonly left: Expression;
  readonly right: Expression;
}

export interface Unary extends Node {
  readonly kind: 'Unary';
  readonly operator: '!' | '-';
  readonly operand: Expression;
}

export interface Ternary extends Node {
  readonly kind: 'Ternary';
  readonly condition: Expression;
  readonly then: Expression;
  readonly otherwise: Expression;
}

export interface RangeExpression extends Node {
  readonly kind: 'Range';
  readonly start: Expression;
  readonly end: Expression;
  readonly isExclusive: boolean;
}

/**
 * `left |> right`. When `right` holds the placeholder `_` (spec/language.md 3.6) the parser has already replaced
 * it: `right` is then a Closure with the one parameter `__pipe` and `hadPlaceholder` is true.
 */
export interface Pipe extends Node {
  readonly kind: 'Pipe';
  readonly left: Expression;
  readonly right: Expression;
  readonly hadPlaceholder: boolean;
}

/** A call of a bare name. `(f)(2)` is a call of `f` too. */
export interface Call extends Node {
  readonly kind: 'Call';
  readonly callee: Identifier;
  readonly typeArgs: readonly TypeNode[];
  readonly args: readonly Element[];
}

export interface MethodCall extends Node {
  readonly kind: 'MethodCall';
  readonly receiver: Expression;
  readonly name: string;
  readonly nameSpan: Span;
  readonly isOptional: boolean;
  readonly args: readonly Element[];
}

export interface Property extends Node {
  readonly kind: 'Property';
  readonly receiver: Expression;
  readonly name: string;
  readonly nameSpan: Span;
  readonly isOptional: boolean;
}

export interface Subscript extends Node {
  readonly kind: 'Subscript';
  readonly receiver: Expression;
  readonly index: Expression;
  readonly isOptional: boolean;
}

export interface Slice extends Node {
  readonly kind: 'Slice';
  readonly receiver: Expression;
  readonly start: Expression | undefined;
  readonly end: Expression | undefined;
}

/** `e?` on a Result. */
export interface Propagate extends Node {
  readonly kind: 'Propagate';
  readonly value: Expression;
}

export interface TryStar extends Node {
  readonly kind: 'TryStar';
  readonly value: Expression;
}

export interface IfExpression extends Node {
  readonly kind: 'If';
  readonly condition: Expression;
  readonly then: Block;
  /** `else if` is a Block with a single If inside, with `isElseIf` on it. */
  readonly otherwise: Block | undefined;
  readonly isElseIf: boolean;
}

export interface MatchArm extends Node {
  /** More than one for an or-pattern. A pattern is an ordinary expression read by spec/language.md 6.4. */
  readonly patterns: readonly Expression[];
  readonly guard: Expression | undefined;
  readonly body: Block;
}

export interface MatchExpression extends Node {
  readonly kind: 'Match';
  readonly subject: Expression;
  readonly arms: readonly MatchArm[];
}

export interface ParallelExpression extends Node {
  readonly kind: 'Parallel';
  readonly form: 'count' | 'each' | 'settle';
  readonly operand: Expression;
  readonly maxConcurrent: Expression | undefined;
  readonly variable: string | undefined;
  readonly body: Block;
  readonly asStream: boolean;
}

export interface RetryExpression extends Node {
  readonly kind: 'Retry';
  readonly count: Expression;
  readonly body: Block;
}

export interface DeadlineExpression extends Node {
  readonly kind: 'Deadline';
  readonly duration: Expression;
  readonly body: Block;
}

/** All forms of `try`. Without catch and finally it is the try-expression of 6.7. */
export interface TryExpression extends Node {
  readonly kind: 'Try';
  readonly body: Block;
  readonly catchClause:
    | { readonly variable: string | undefined; readonly type: TypeNode | undefined; readonly body: Block; readonly span: Span }
    | undefined;
  readonly finallyBlock: Block | undefined;
}

export interface SpawnExpression extends Node {
  readonly kind: 'Spawn';
  readonly body: Block;
}

// ---- Types -----------------------------------------------------------------------------------------------------

export type TypeNode =
  | { readonly kind: 'NamedType'; readonly name: string; readonly args: readonly TypeNode[]; readonly span: Span }
  | { readonly kind: 'LiteralType'; readonly value: string | bigint; readonly span: Span }
  | {
      readonly kind: 'ShapeType';
      readonly fields: readonly { readonly name: string; readonly isOptional: boolean; readonly type: TypeNode; readonly span: Span }[];
      readonly span: Span;
    }
  | { readonly kind: 'FunctionType'; readonly params: readonly TypeNode[]; readonly result: TypeNode; readonly span: Span }
  | { readonly kind: 'UnionType'; readonly members: readonly TypeNode[]; readonly span: Span }
  | { readonly kind: 'IntersectionType'; readonly members: readonly TypeNode[]; readonly span: Span };
// `[T]` is NamedType list with one argument; `T?` is a UnionType of T and NamedType nil; `true` and `false` are NamedType bool.
