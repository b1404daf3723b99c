import type { Lookup } from '../base/lookup.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Span } from '../diagnostics/span.ts';
import type { Block, Expression, Statement } from './ast.ts';
import { Scope, type Variable } from './check-scope.ts';
import type { Signature } from './check-signature.ts';
import { Flow, type Path } from './narrow-flow.ts';
import type { Resolution } from './scope.ts';
import type { Declared, Type } from './types.ts';

/** What the checker has to be told of the world outside of the file. */
export interface CheckEnvironment {
  readonly role: 'entry' | 'module';
  /** Signatures of builtins by name, in Harn spelling: `(xs: list, size: int = 1) -> list`. */
  readonly builtins: Lookup<string>;
  /** The builtin behind `harness.PART.METHOD`. */
  handleMethod(part: string, method: string): string | undefined;
  /** Declarations of the types that these signatures name, by their name, as Harn source. */
  readonly builtinTypes: Readonly<Record<string, string>>;
  /** What the names of the file mean. */
  readonly names: Resolution;
  /** Names that are values without a declaration. */
  readonly globals: ReadonlySet<string>;
  /** Functions and other values that imports bring in; an `Attributed` declaration keeps its attributes. */
  readonly imports: ReadonlyMap<string, Declared<Statement>>;
  /** The module of the standard library that exports this name. */
  moduleOf(name: string): string | undefined;
  /** Scopes of the imported modules, as `moduleScope` made them. */
  readonly importedScopes: readonly Scope[];
  /** Report also what is only untidy; `run` does not. */
  readonly lints: boolean;
  /** Were all imports found? Only then is a name that nobody declares a mistake. */
  readonly isComplete: boolean;
}

/** What goes with a message. */
interface Advice {
  readonly code?: string | undefined;
  readonly help?: string | undefined;
}

/** The activation that is being checked. */
export interface Frame {
  readonly kind: 'function' | 'stream' | 'tool' | 'pipeline' | 'closure';
  /** What `return` has to fit; undefined when nothing was declared. */
  readonly result: Type | undefined;
  /** What `emit` has to fit. */
  readonly emits: Type | undefined;
  /** Types of all `return` statements met so far. */
  readonly returned: Type[];
  /** Interfaces that type parameters are bound to. */
  readonly bounds: ReadonlyMap<string, readonly Type[]>;
}

/** Expressions hold statements and statements hold expressions: both are reached through here. */
export interface Rules {
  /** Checks an expression. @returns its type; `never` when it does not come back */
  infer(state: CheckState, node: Expression): Type;
  /** Checks the statements of a block in the current scope. @returns the value of the last one */
  statements(state: CheckState, statements: readonly Statement[]): Type;
}

/** What the parts of the checker share while one file is checked. */
export class CheckState {
  readonly environment: CheckEnvironment;
  readonly fileScope: Scope;
  /** All statements of the file. */
  readonly items: readonly Statement[];
  readonly #rules: Rules;
  readonly signatures = new Map<Statement, Signature>();
  /** Signatures of the builtins that the file calls, and the scope in which their types are looked up. */
  readonly builtinSignatures = new Map<string, Signature>();
  builtinScope: Scope | undefined;
  /** `var` bindings by their place, and the places of those that something assigns to. */
  readonly variables = new Map<number, { readonly name: string; readonly span: Span }>();
  readonly written = new Set<number>();
  /** Variables that were reported as values from outside. */
  readonly reportedBoundaries = new Set<Variable>();
  /** Last statements of the bodies of functions, closures and tasks. */
  readonly finals = new Set<Statement>();
  /** Last statements of bodies whose value nobody takes. */
  readonly dropped = new Set<Statement>();
  scope: Scope;
  flow = new Flow();
  frame: Frame | undefined;
  readonly #diagnostics = new Map<string, Diagnostic>();
  #lastId = 0;
  #namesOfFile: ReadonlySet<string> | undefined;

  constructor(environment: CheckEnvironment, fileScope: Scope, items: readonly Statement[], rules: Rules) {
    this.items = items;
    this.environment = environment;
    this.#rules = rules;
    this.fileScope = fileScope;
    this.scope = fileScope;
  }

  infer(node: Expression): Type {
    return this.#rules.infer(this, node);
  }

  statements(statements: readonly Statement[]): Type {
    return this.#rules.statements(this, statements);
  }

  /** The statements of a function, closure or task. */
  body(block: Block): Type {
    const last = block.statements.at(-1);
    if (last !== undefined) this.finals.add(last);
    return this.statements(block.statements);
  }

  /** A block in a scope of its own. */
  block(block: Block, declare?: () => void): Type {
    return this.nested(() => {
      declare?.();
      return this.statements(block.statements);
    });
  }

  /** A block that may or may not run: what it learns stays inside. @returns also what holds at its end */
  branch(flow: Flow, work: () => Type): { readonly type: Type; readonly flow: Flow } {
    this.flow = flow;
    const type = work();
    return { type, flow: this.flow };
  }

  /** The type that a variable or a field has here. */
  typeAt(path: Path): Type | undefined {
    return this.flow.get(path) ?? (path.fields.length === 0 ? path.variable.type : undefined);
  }

  /** What is known of a value, for warnings: names of the file are anything, and still hold what they were bound to. */
  certainType(node: Expression, type: Type): Type {
    if (type.kind !== 'any' || node.kind !== 'Identifier') return type;
    return this.scope.value(node.name)?.known ?? type;
  }

  get diagnostics(): readonly Diagnostic[] {
    return [...this.#diagnostics.values()];
  }

  error(message: string, span: Span, more: Advice = {}): void {
    this.#report('error', message, span, more);
  }

  warn(message: string, span: Span, more: Advice = {}): void {
    this.#report('warning', message, span, more);
  }

  /** A statement may be met twice, as part of a pipeline and of one that extends it. */
  #report(severity: 'error' | 'warning', message: string, span: Span, more: Advice): void {
    const key = `${span.start}:${message}`;
    if (!this.#diagnostics.has(key)) this.#diagnostics.set(key, { severity, stage: 'checker', message, span, ...more });
  }

  /** Runs `work` with a scope of its own. */
  nested<T>(work: () => T, scope = new Scope(this.scope)): T {
    const outer = this.scope;
    this.scope = scope;
    try {
      return work();
    } finally {
      this.scope = outer;
    }
  }

  /** Runs `work` as an activation of its own; what it learns or changes stays inside. */
  activation<T>(frame: Frame, work: () => T): T {
    const outer = { frame: this.frame, flow: this.flow };
    this.frame = frame;
    this.flow = outer.flow.fork();
    try {
      return this.nested(work);
    } finally {
      this.frame = outer.frame;
      this.flow = outer.flow;
    }
  }

  declare(
    name: string,
    type: Type,
    facts: Partial<Pick<Variable, 'keyword' | 'isAnnotated' | 'declaration' | 'span' | 'boundary' | 'known'>> = {},
  ): Variable | undefined {
    if (name === '_') return undefined;
    const variable: Variable = { id: ++this.#lastId, name, type, keyword: 'other', isAnnotated: true, owner: this.frame, ...facts };
    this.scope.values.set(name, variable);
    return variable;
  }

  /** Every name that is declared anywhere in the file, looked up only when a call target seems to be missing. */
  namesOfFile(collect: () => ReadonlySet<string>): ReadonlySet<string> {
    this.#namesOfFile ??= collect();
    return this.#namesOfFile;
  }
}
