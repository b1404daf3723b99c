import type { Expression } from './ast.ts';
import type { Scope, Variable } from './check-scope.ts';
import { isSame, type Type, union } from './types.ts';
import { isEquivalent } from './types-assignability.ts';

/** A variable, or a chain of fields that starts at one: what a test can say something about. */
export interface Path {
  readonly variable: Variable;
  /** `id`, or `id.field.field`. */
  readonly key: string;
  readonly fields: readonly string[];
}

/** Reads an expression as a path; undefined when it is something else. */
export function pathOf(node: Expression, scope: Scope): Path | undefined {
  switch (node.kind) {
    case 'Identifier': {
      const variable = scope.value(node.name);
      return variable && { variable, key: String(variable.id), fields: [] };
    }
    case 'Property':
      return step(pathOf(node.receiver, scope), node.name);
    case 'Subscript':
      return node.index.kind === 'String' ? step(pathOf(node.receiver, scope), node.index.value) : undefined;
    default:
      return undefined;
  }
}

function step(path: Path | undefined, field: string): Path | undefined {
  return path && { variable: path.variable, key: `${path.key}.${field}`, fields: [...path.fields, field] };
}

interface Narrowed {
  readonly path: Path;
  readonly type: Type;
}

/**
 * What the tests that were passed on the way here say of variables and their fields. Everything else has the type it
 * was declared with.
 */
export class Flow {
  readonly #types: Map<string, Narrowed>;
  /** For variables of type `unknown`: kinds that were tested for and ruled out. */
  readonly #ruledOut: Map<Variable, ReadonlySet<string>>;

  constructor(types = new Map<string, Narrowed>(), ruledOut = new Map<Variable, ReadonlySet<string>>()) {
    this.#types = types;
    this.#ruledOut = ruledOut;
  }

  fork(): Flow {
    return new Flow(new Map(this.#types), new Map(this.#ruledOut));
  }

  get(path: Path): Type | undefined {
    return this.#types.get(path.key)?.type;
  }

  narrow(path: Path, type: Type): void {
    this.#forgetBelow(path.key);
    this.#types.set(path.key, { path, type });
  }

  ruleOut(variable: Variable, kind: string): void {
    this.#ruledOut.set(variable, new Set([...(this.#ruledOut.get(variable) ?? []), kind]));
  }

  get ruledOut(): ReadonlyMap<Variable, ReadonlySet<string>> {
    return this.#ruledOut;
  }

  /** An assignment ends everything that was known of the variable. */
  forget(variable: Variable): void {
    const key = String(variable.id);
    this.#types.delete(key);
    this.#forgetBelow(key);
    this.#ruledOut.delete(variable);
  }

  #forgetBelow(key: string): void {
    if (this.#types.size === 0) return;
    const prefix = `${key}.`;
    for (const known of this.#types.keys()) if (known.startsWith(prefix)) this.#types.delete(known);
  }

  /** What holds after either way was taken, both of which began here. */
  join(a: Flow, b: Flow): Flow {
    const types = new Map<string, Narrowed>();
    for (const [key, { path, type }] of a.#types) {
      const other = b.#types.get(key)?.type;
      if (other === undefined) continue;
      const both = isSame(type, other) ? type : union([type, other]);
      const before = this.#types.get(key);
      const known = before?.type ?? (path.fields.length === 0 ? path.variable.type : undefined);
      // Nothing was learned in the end: the type keeps the order in which it was written.
      if (known === undefined || !isEquivalent(known, both)) types.set(key, { path, type: both });
      else if (before !== undefined) types.set(key, before);
    }
    const ruledOut = new Map<Variable, ReadonlySet<string>>();
    for (const [variable, kinds] of a.#ruledOut) {
      const others = b.#ruledOut.get(variable);
      if (others !== undefined) ruledOut.set(variable, new Set([...kinds].filter((kind) => others.has(kind))));
    }
    return new Flow(types, ruledOut);
  }
}
