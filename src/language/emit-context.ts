import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Span } from '../diagnostics/span.ts';
import type { Block, Closure, Expression, FunctionDeclaration, Identifier, Program, Statement, TypeNode } from './ast.ts';
import type { ColourEnvironment, Colours } from './colour.ts';
import { declaredElsewhere } from './emit-elsewhere.ts';
import { line } from './emit-layout.ts';
import type { TypeNames } from './emit-types.ts';
import { foreignName } from './foreign-syntax.ts';
import type { Kind, KindTable } from './kinds.ts';
import type { FunctionScope, Resolution, Variable } from './scope.ts';
import type { TreeNode } from './walk.ts';

/** A piece of JavaScript that computes a value, and what is known of that value. */
export interface Code {
  readonly code: string;
  readonly kind: Kind;
}

export function any(code: string): Code {
  return { code, kind: 'any' };
}

/** Where the value of a block or statement goes. */
export type Sink = { readonly to: 'nowhere' } | { readonly to: 'return' } | { readonly to: 'temp'; readonly name: string };

export const NOWHERE: Sink = { to: 'nowhere' };
export const RETURN: Sink = { to: 'return' };

/** A name that an import brings in. */
export interface ImportedName {
  /** Index of the import among those of the module. */
  readonly module: number;
  readonly name: string;
  readonly kind: 'function' | 'value';
  readonly isAsync: boolean;
  /** May answer a TailCall. */
  readonly bounces: boolean;
}

export interface EmitEnvironment extends ColourEnvironment {
  readonly role: 'entry' | 'module';
  readonly imports: ReadonlyMap<string, ImportedName>;
  /** Enums and structs that imports make visible. */
  readonly importedEnums: ReadonlySet<string>;
  readonly importedStructs: ReadonlySet<string>;
  readonly importedAliases: ReadonlyMap<string, TypeNode>;
  readonly importedInterfaces: ReadonlySet<string>;
  /** Names that are values, not calls: pi, e, argv, harness, stream, … */
  readonly globals: ReadonlySet<string>;
  /** Record captured values on closures, for programs that can park a loop. */
  readonly recordsCaptures: boolean;
}

/**
 * The emitters that call each other in a circle: expressions hold closures, closures hold statements, statements hold
 * expressions. They reach each other through the module, so that no file imports its own importer.
 */
export interface EmitterParts {
  call(fn: FunctionState, node: Extract<Expression, { kind: 'Call' }>): Code;
  methodCall(fn: FunctionState, node: Extract<Expression, { kind: 'MethodCall' }>): Code;
  pipe(fn: FunctionState, node: Extract<Expression, { kind: 'Pipe' }>): Code;
  parallel(fn: FunctionState, node: Extract<Expression, { kind: 'Parallel' }>): string;
  spawn(fn: FunctionState, node: Extract<Expression, { kind: 'Spawn' }>): string;
  closure(fn: FunctionState, node: Closure): string;
  /** Puts the value of an expression where the sink says. */
  into(fn: FunctionState, node: Expression, sink: Sink): string;
  ifInto(fn: FunctionState, condition: Expression, then: Block, otherwise: Block | undefined, sink: Sink): string;
  statements(fn: FunctionState, statements: readonly Statement[], sink: Sink): string;
  blockInto(fn: FunctionState, block: Block, sink: Sink): string;
}

/** What all functions of one module share while it is emitted. */
export interface ModuleState {
  readonly program: Program;
  readonly parts: EmitterParts;
  readonly environment: EmitEnvironment;
  readonly resolution: Resolution;
  readonly colours: Colours;
  readonly kinds: KindTable;
  readonly enums: ReadonlySet<string>;
  readonly structs: ReadonlySet<string>;
  /** Names of fields of the structs that this module declares. */
  readonly fields: ReadonlySet<string>;
  readonly types: TypeNames;
  /** Struct methods by name, for direct calls when only one struct has a method of that name. */
  readonly methods: ReadonlyMap<
    string,
    readonly { readonly struct: string; readonly node: FunctionDeclaration; readonly jsName: string }[]
  >;
  /** Names of methods that some `impl` of this module gives to a struct. */
  readonly implemented: ReadonlySet<string>;
  /** Builtins the module uses, by name; each becomes a constant `b$NAME`. */
  readonly usedBuiltins: Set<string>;
  /** Values of the run the module uses, such as `stream`; their groups of builtins have to be loaded too. */
  readonly usedGlobals: Set<string>;
  /** Constants of the prelude (metadata, descriptors) by their JavaScript text. */
  readonly constants: Map<string, string>;
  unique: number;
  /** Mistakes that only show while emitting: a `break` outside of a loop. */
  readonly problems: Diagnostic[];
}

/** May a call of this function answer a TailCall? */
export function handsOn(module: ModuleState, node: TreeNode): boolean {
  return module.resolution.scopes.get(node)?.handsOn === true;
}

export function reportProblem(module: ModuleState, message: string, span: Span): void {
  module.problems.push({ severity: 'error', stage: 'compiler', message, span });
}

/** The constant `kN` that holds this JavaScript text. */
export function constant(module: ModuleState, text: string): string {
  const known = module.constants.get(text);
  if (known !== undefined) return known;
  const name = `k${module.constants.size}`;
  module.constants.set(text, name);
  return name;
}

/** Code for a value of the run (spec/language.md 5.2, 4). */
export function globalName(fn: FunctionState, name: string): string {
  fn.module.usedGlobals.add(name);
  return `M.global(${fn.context}, ${JSON.stringify(name)})`;
}

/** Code that raises because nothing has this name; names in sight are suggested. */
export function undefinedName(fn: FunctionState, node: Identifier, raise: 'undefinedVariable' | 'undefinedCall'): string {
  const { name, span } = node;
  const near = fn.module.resolution.namesAround(node);
  const hint = declaredElsewhere(fn.module.program, name) ?? foreignName(name);
  const help = hint === undefined ? '' : `, ${JSON.stringify(hint)}`;
  return `${line(span.line)}R.${raise}(M, ${JSON.stringify(name)}, ${span.line}, ${span.column}, ${JSON.stringify(near)}${help})`;
}

export function builtin(module: ModuleState, name: string): string {
  module.usedBuiltins.add(name);
  return `b$${name}`;
}

/** State of the activation being emitted. */
export class FunctionState {
  readonly module: ModuleState;
  readonly scope: FunctionScope;
  readonly isAsync: boolean;
  readonly producer: 'generator' | 'stream' | undefined;
  /** The named function this is, for self tail calls. */
  readonly self: FunctionDeclaration | undefined;
  /** JavaScript name of the current task context; `deadline` swaps it. */
  context = 'c';
  /** Above zero inside try, deadline, mutex and loops with clean-up: a tail call must wait for them. */
  guarded = 0;
  /** Inside of a `defer`. */
  isDeferred = false;
  usesSelfLoop = false;
  /** Makes calls of its own, so it checks the depth. */
  makesCalls = false;
  readonly loops: string[] = [];
  private readonly temps: string[] = [];
  /** Expressions whose value stands in a temporary already. */
  readonly kept = new Map<Expression, Code>();
  /** Statements that must run before the expression being emitted. */
  pre: string[] = [];

  constructor(module: ModuleState, scope: FunctionScope, isAsync: boolean, producer?: 'generator' | 'stream', self?: FunctionDeclaration) {
    this.module = module;
    this.scope = scope;
    this.isAsync = isAsync;
    this.producer = producer;
    this.self = self;
  }

  temp(): string {
    const name = `t${this.temps.length}`;
    this.temps.push(name);
    return name;
  }

  /** Declaration of the temporaries, empty when there are none. */
  get tempDeclaration(): string {
    return this.temps.length === 0 ? '' : `let ${this.temps.join(', ')};`;
  }

  unique(prefix: string): string {
    return `${prefix}${this.module.unique++}`;
  }

  variable(node: Identifier): Variable | undefined {
    return this.module.resolution.references.get(node);
  }

  /** Runs `emit` with its own list of preceding statements; answers them joined with what it gives. */
  statement(emit: () => string): string {
    const outer = this.pre;
    this.pre = [];
    const code = emit();
    const result = this.pre.join('') + code;
    this.pre = outer;
    return result;
  }
}

/** The value as a Harn Value: raw doubles are boxed. */
export function boxed({ code, kind }: Code): string {
  return kind === 'float' ? `new Float(${code})` : code;
}

/**
 * Has the variable an owned bit in the JavaScript of this module? Of a variable that is written to deep down the bit is
 * true while it owns its container alone, and an `OwnedParts` while it owns containers inside as well.
 */
export function hasOwnedBit(variable: Variable): boolean {
  return variable.isWrittenThrough && (variable.role === 'var' || variable.role === 'loop');
}

export function ownedBit(variable: Variable): string {
  return `${variable.jsName}$o`;
}

/** Stores a value in a temporary now, so that later statements cannot change it. */
export function keep(fn: FunctionState, value: Code): Code {
  const name = fn.temp();
  fn.pre.push(`${name} = ${value.code};`);
  return { code: name, kind: value.kind };
}

/** A value that may be mentioned several times: itself when it is a plain name, else an assignment to a temporary. */
export function reuse(fn: FunctionState, value: Code): { readonly first: string; readonly again: string } {
  if (/^[$\w]+$/.test(value.code)) return { first: value.code, again: value.code };
  const name = fn.temp();
  return { first: `(${name} = ${value.code})`, again: name };
}

/** Code that binds tighter than any operator: in parentheses unless it is a name or a number. */
export function wrap(code: string): string {
  return /^[$\w]+$/.test(code) ? code : `(${code})`;
}
