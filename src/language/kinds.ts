import type { Expression, Identifier } from './ast.ts';
import type { Resolution, Variable } from './scope.ts';

/**
 * What an emitted expression is known to be, for choosing cheap code.
 * `num`: a JavaScript number that is a safe integer. `int`: a number or a bigint. `float`: a raw double, not yet a
 * `Float`. `bool`, `str`: the JavaScript primitive. `any`: some Value.
 */
export type Kind = 'num' | 'int' | 'float' | 'bool' | 'str' | 'any';

/** Infers kinds of variables from everything assigned to them; a variable that anything unknown reaches is `any`. */
export class KindTable {
  private readonly resolution: Resolution;
  private readonly known = new Map<Variable, Kind>();
  private readonly pending = new Set<Variable>();

  constructor(resolution: Resolution) {
    this.resolution = resolution;
  }

  /** Marks a variable whose values the emitter itself controls, such as the index of a range loop. */
  set(variable: Variable, kind: Kind): void {
    this.known.set(variable, kind);
  }

  ofVariable(variable: Variable): Kind {
    const known = this.known.get(variable);
    if (known !== undefined) return known;
    if (!canInfer(variable)) return 'any';
    // A variable met again while its own values are looked at adds nothing: the other values decide.
    if (this.pending.has(variable)) return 'num';
    this.pending.add(variable);
    let kind: Kind | undefined;
    for (const value of variable.values) {
      const next = value === undefined ? 'any' : this.ofExpression(value);
      kind = kind === undefined ? next : join(kind, next);
      if (kind === 'any') break;
    }
    this.pending.delete(variable);
    const settled = this.verify(variable, kind ?? 'any');
    if (this.pending.size === 0) this.known.set(variable, settled);
    return settled;
  }

  /** Takes the guess as given and looks again: a value that does not fit the guess makes the variable `any`. */
  private verify(variable: Variable, guess: Kind): Kind {
    if (guess === 'any' || this.pending.size > 0) return guess;
    const order: readonly Kind[] = guess === 'num' ? ['num', 'int', 'float'] : guess === 'int' ? ['int', 'float'] : [guess];
    for (const candidate of order) {
      this.known.set(variable, candidate);
      const fits = variable.values.every((value) => value !== undefined && isWithin(this.ofExpression(value), candidate));
      this.known.delete(variable);
      if (fits) return candidate;
    }
    return 'any';
  }

  ofExpression(node: Expression): Kind {
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
      case 'Identifier':
        return this.ofIdentifier(node);
      case 'Unary':
        if (node.operator === '!') return 'bool';
        return negated(this.ofExpression(node.operand));
      case 'Binary':
        return binaryKind(node.operator, this.ofExpression(node.left), this.ofExpression(node.right), node.right);
      case 'Ternary':
        return join(this.ofExpression(node.then), this.ofExpression(node.otherwise));
      default:
        return 'any';
    }
  }

  private ofIdentifier(node: Identifier): Kind {
    const variable = this.resolution.references.get(node);
    return variable === undefined ? 'any' : this.ofVariable(variable);
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

function join(a: Kind, b: Kind): Kind {
  if (a === b) return a;
  return isInteger(a) && isInteger(b) ? 'int' : 'any';
}

function isWithin(kind: Kind, limit: Kind): boolean {
  return kind === limit || (limit === 'int' && kind === 'num');
}
