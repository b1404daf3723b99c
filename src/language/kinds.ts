import type { Expression } from './ast.ts';
import type { Resolution, Variable } from './scope.ts';

/**
 * What an emitted expression is known to be, for choosing cheap code.
 * `num`: a JavaScript number that is a safe integer. `int`: a number or a bigint. `float`: a raw double, not yet a
 * `Float`. `bool`, `str`: the JavaScript primitive. `any`: some Value.
 */
export type Kind = 'num' | 'int' | 'float' | 'bool' | 'str' | 'any';

/**
 * Infers kinds of variables from everything assigned to them; a variable that anything unknown reaches is `any`.
 *
 * Variables that depend on each other are settled together: all begin with no kind at all, and a variable is looked
 * at again only when one that it is made from has got a wider kind. A kind widens at most three times, so this is
 * linear in the text, whatever the variables do to each other.
 */
export class KindTable {
  private readonly resolution: Resolution;
  private readonly known = new Map<Variable, Kind>();

  constructor(resolution: Resolution) {
    this.resolution = resolution;
  }

  ofVariable(variable: Variable): Kind {
    const known = this.known.get(variable);
    if (known !== undefined) return known;
    if (variable.isRangeIndex && !variable.isReassigned) return 'num';
    if (!canInfer(variable)) return 'any';
    this.settle(variable);
    return this.known.get(variable) ?? 'any';
  }

  private settle(first: Variable): void {
    const users = new Map<Variable, Variable[]>([[first, []]]);
    for (const variable of users.keys()) {
      const parts = new Set<Variable>();
      for (const value of variable.values) if (value !== undefined) this.addParts(value, parts);
      for (const part of parts) {
        const known = users.get(part);
        if (known === undefined) users.set(part, [variable]);
        else known.push(variable);
      }
    }
    const kinds = new Map<Variable, Kind>();
    const open = new Set(users.keys());
    for (const variable of open) {
      open.delete(variable);
      const before = kinds.get(variable);
      const kind = this.ofValues(variable, kinds, before);
      if (kind === before || kind === undefined) continue;
      kinds.set(variable, kind);
      for (const user of users.get(variable) ?? []) open.add(user);
    }
    for (const variable of users.keys()) this.known.set(variable, kinds.get(variable) ?? 'any');
  }

  /** Adds variables without a kind yet that decide the kind of the expression. */
  private addParts(node: Expression, found: Set<Variable>): void {
    switch (node.kind) {
      case 'Identifier': {
        const variable = this.resolution.references.get(node);
        if (variable !== undefined && canInfer(variable) && !this.known.has(variable)) found.add(variable);
        return;
      }
      case 'Unary':
        return this.addParts(node.operand, found);
      case 'Binary':
        this.addParts(node.left, found);
        return this.addParts(node.right, found);
      case 'Ternary':
        this.addParts(node.then, found);
        return this.addParts(node.otherwise, found);
      default:
        return;
    }
  }

  private ofValues(variable: Variable, kinds: ReadonlyMap<Variable, Kind>, before: Kind | undefined): Kind | undefined {
    let kind = before;
    for (const value of variable.values) {
      if (kind === 'any') break;
      kind = value === undefined ? 'any' : join(kind, this.ofExpression(value, kinds));
    }
    return kind;
  }

  /** Undefined as long as nothing is known of a part. */
  private ofExpression(node: Expression, kinds: ReadonlyMap<Variable, Kind>): Kind | undefined {
    switch (node.kind) {
      case 'Int':
        return isSafe(node.value) ? 'num' : 'int';
      case 'Float':
        return 'float';
      case 'Bool':
        return 'bool';
      case 'String':
      case 'Interpolation':
        return 'str';
      case 'Identifier': {
        const variable = this.resolution.references.get(node);
        if (variable === undefined) return 'any';
        return canInfer(variable) && !this.known.has(variable) ? kinds.get(variable) : this.ofVariable(variable);
      }
      case 'Unary': {
        if (node.operator === '!') return 'bool';
        const kind = this.ofExpression(node.operand, kinds);
        return kind && negated(kind);
      }
      case 'Binary': {
        const left = this.ofExpression(node.left, kinds);
        const right = this.ofExpression(node.right, kinds);
        return left && right && binaryKind(node.operator, left, right, node.right);
      }
      case 'Ternary':
        return join(this.ofExpression(node.then, kinds), this.ofExpression(node.otherwise, kinds));
      default:
        return 'any';
    }
  }
}

/** Captured variables and those of the file live in places where only whole Values are kept. */
function canInfer(variable: Variable): boolean {
  return (variable.role === 'var' || variable.role === 'let') && !variable.isCaptured && !variable.isWrittenThrough;
}

function isSafe(value: bigint): boolean {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);
}

function negated(kind: Kind): Kind {
  return kind === 'num' || kind === 'int' || kind === 'float' ? kind : 'any';
}

/** The kind of `left op right`. Arithmetic with a float on one side gives a float or throws. */
export function binaryKind(operator: string, left: Kind, right: Kind, rightNode?: Expression): Kind {
  switch (operator) {
    case '==':
    case '!=':
    case '<':
    case '>':
    case '<=':
    case '>=':
    case 'in':
    case 'not in':
    case '&&':
    case '||':
      return 'bool';
    case '+':
    case '-':
    case '*':
    case '/':
    case '%': {
      if (operator === '+' && left === 'str' && right === 'str') return 'str';
      if (left === 'str' || right === 'str' || left === 'bool' || right === 'bool') return 'any';
      if (left === 'float' || right === 'float') return 'float';
      if (operator === '%' && left === 'num' && rightNode?.kind === 'Int' && rightNode.value !== 0n) return 'num';
      return isInteger(left) && isInteger(right) ? 'int' : 'any';
    }
    default:
      return 'any';
  }
}

export function isInteger(kind: Kind): boolean {
  return kind === 'num' || kind === 'int';
}

function join(a: Kind | undefined, b: Kind | undefined): Kind | undefined {
  if (a === b || b === undefined) return a;
  if (a === undefined) return b;
  return isInteger(a) && isInteger(b) ? 'int' : 'any';
}
