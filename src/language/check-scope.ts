import type { Span } from '../diagnostics/span.ts';
import type {
  EnumDeclaration,
  FunctionDeclaration,
  ImplDeclaration,
  InterfaceDeclaration,
  Statement,
  StructDeclaration,
  TypeAlias,
} from './ast.ts';
import type { Type } from './types.ts';
import { bareDeclaration } from './walk.ts';

/** A name of a value, and what is known of what it holds. */
export interface Variable {
  readonly id: number;
  readonly name: string;
  readonly keyword: 'let' | 'var' | 'const' | 'other';
  /** Was the type written down? Then it holds whatever is assigned. */
  readonly isAnnotated: boolean;
  /** Grows when an unannotated `var` gets a value of another form. */
  type: Type;
  /** What a name of the file holds for certain: for warnings only, its type is anything. */
  readonly known?: Type | undefined;
  /** Where it is bound; only for `let`, `var` and `const` of one name. */
  readonly span?: Span | undefined;
  /** The activation that it belongs to; undefined for the file. */
  readonly owner?: object | undefined;
  /** The builtin that brought its value in from outside, as long as nobody wrote down what it is. */
  readonly boundary?: string | undefined;
  /** What declares it, for calls. */
  readonly declaration?: Statement | undefined;
}

export type TypeDeclaration = TypeAlias | EnumDeclaration | StructDeclaration | InterfaceDeclaration;

/** What a name in type position means: a declaration and where to read it, or a type that stands for it here. */
export type TypeMeaning =
  | { readonly kind: 'declared'; readonly node: TypeDeclaration; readonly scope: Scope }
  | { readonly kind: 'type'; readonly type: Type };

/** Names that are visible in a block; both kinds of names nest alike. */
export class Scope {
  readonly parent: Scope | undefined;
  readonly values = new Map<string, Variable>();
  readonly types = new Map<string, TypeMeaning>();
  /** Methods by struct name; those of a whole file are kept in its outermost scope. */
  readonly #impls = new Map<string, Map<string, FunctionDeclaration>>();

  constructor(parent?: Scope) {
    this.parent = parent;
  }

  value(name: string): Variable | undefined {
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.parent) {
      const found = scope.values.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  type(name: string): TypeMeaning | undefined {
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.parent) {
      const found = scope.types.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  methodNames(structName: string): readonly string[] {
    return [...(this.#root().#impls.get(structName)?.keys() ?? [])];
  }

  method(structName: string, name: string): FunctionDeclaration | undefined {
    return this.#root().#impls.get(structName)?.get(name);
  }

  #root(): Scope {
    let scope: Scope = this;
    while (scope.parent !== undefined) scope = scope.parent;
    return scope;
  }

  /** Makes the types and methods that these statements declare known before the first of them is read. */
  declareTypes(statements: readonly Statement[]): void {
    for (const statement of statements) {
      const node = bareDeclaration(statement);
      switch (node.kind) {
        case 'TypeAlias':
        case 'Enum':
        case 'Struct':
        case 'Interface':
          this.types.set(node.name, { kind: 'declared', node, scope: this });
          break;
        case 'Impl':
          this.#declareMethods(node);
          break;
        default:
          break;
      }
    }
  }

  /** Takes over the types of an imported module; names of this scope stay. */
  importTypes(other: Scope): void {
    for (const [name, meaning] of other.types) {
      if (!this.types.has(name)) this.types.set(name, meaning);
    }
    for (const [name, methods] of other.#impls) if (!this.#impls.has(name)) this.#impls.set(name, methods);
  }

  /** A file may add methods to a struct of another one: the struct then has them wherever it is looked at. */
  #declareMethods(node: ImplDeclaration): void {
    const meaning = this.type(node.name);
    const roots = new Set([this.#root(), meaning?.kind === 'declared' ? meaning.scope.#root() : this.#root()]);
    for (const root of roots) {
      const impls = root.#impls;
      const methods = new Map(impls.get(node.name));
      for (const method of node.methods) methods.set(method.name, method);
      impls.set(node.name, methods);
    }
  }
}
