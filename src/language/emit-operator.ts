import type { Span } from '../diagnostics/span.ts';
import type { Expression } from './ast.ts';
import { any, boxed, type Code, type FunctionState, reuse, wrap } from './emit-context.ts';
import { place } from './emit-layout.ts';
import { binaryKind, isInteger, type Kind } from './kinds.ts';

/*
 * Operators over operands that are emitted already. Where the kinds of both are known the code is plain JavaScript; else
 * the frequent case, small integers, stands inline behind a test, and the run time does the rest.
 */

/** What an operation was written as: its place, and its right side where that is an expression of its own. */
interface Origin {
  readonly span: Span;
  readonly right?: Expression;
}

/** `left op right` over values that are already there. */
export function emitOperation(fn: FunctionState, operator: string, left: Code, right: Code, origin: Origin): Code {
  switch (operator) {
    case '==':
      return { code: emitEquality(fn, left, right), kind: 'bool' };
    case '!=':
      return { code: `!${emitEquality(fn, left, right)}`, kind: 'bool' };
    case '<':
    case '>':
    case '<=':
    case '>=':
      return { code: emitComparison(fn, operator, left, right), kind: 'bool' };
    case 'in':
      return { code: `R.isIn(${boxed(left)}, ${boxed(right)})`, kind: 'bool' };
    case 'not in':
      return { code: `!R.isIn(${boxed(left)}, ${boxed(right)})`, kind: 'bool' };
    case '**':
      return any(`${place(origin.span)}R.power(${boxed(left)}, ${boxed(right)})`);
    default:
      return emitArithmetic(fn, operator as '+' | '-' | '*' | '/' | '%', left, right, origin);
  }
}

/** A value as a JavaScript condition (spec/language.md 3.4). */
export function truth({ code, kind }: Code): string {
  switch (kind) {
    case 'bool':
      return code;
    case 'num':
    case 'int':
      return `${wrap(code)} !== 0`;
    case 'float':
      return `R.truthyDouble(${code})`;
    case 'str':
      return `${wrap(code)} !== ""`;
    case 'any':
      return `R.truthy(${code})`;
  }
}

function emitEquality(fn: FunctionState, left: Code, right: Code): string {
  const kinds = [left.kind, right.kind];
  if (kinds.every((kind) => kind === 'num') || kinds.every((kind) => kind === 'str') || kinds.every((kind) => kind === 'bool')) {
    return `(${left.code} === ${right.code})`;
  }
  if (right.code === 'undefined' || left.code === 'undefined') return `(${left.code} === ${right.code})`;
  if (left.kind === 'bool' || right.kind === 'bool') return `(${boxed(left)} === ${boxed(right)})`;
  if (left.kind === 'float' && isNumberKind(right.kind)) return `(${left.code} === ${double(right)})`;
  if (right.kind === 'float' && isNumberKind(left.kind)) return `(${double(left)} === ${right.code})`;
  if (left.kind === 'num' || right.kind === 'num') {
    return emitEqualityWith('number', fn, left, right);
  }
  if (left.kind === 'str' || right.kind === 'str') return emitEqualityWith('string', fn, left, right);
  return `R.equals(${boxed(left)}, ${boxed(right)})`;
}

/** One side is known to be of this type; the other may be anything. */
function emitEqualityWith(type: 'number' | 'string', fn: FunctionState, left: Code, right: Code): string {
  const isKnownLeft = left.kind === (type === 'number' ? 'num' : 'str');
  const [known, other] = isKnownLeft ? [left, right] : [right, left];
  // Each branch mentions the known side once; when it comes first it must also be computed first.
  const side = isKnownLeft && !isConstantText(known.code) ? reuse(fn, known) : { first: known.code, again: known.code };
  const value = reuse(fn, any(boxed(other)));
  const before = side.first === side.again ? '' : `${side.first}, `;
  return `(${before}typeof ${value.first} === "${type}" ? ${value.again} === ${side.again} : R.equals(${value.again}, ${side.again}))`;
}

function isConstantText(code: string): boolean {
  return /^"(?:[^"\\]|\\.)*"$|^-?\d+$/.test(code);
}

function isNumberKind(kind: Kind): boolean {
  return isInteger(kind) || kind === 'float';
}

type Comparison = '<' | '>' | '<=' | '>=';

/** On doubles. NaN counts as equal to everything, so `<=` is the opposite of `>`. */
const DOUBLE_COMPARERS: Readonly<Record<Comparison, (a: string, b: string) => string>> = {
  '<': (a, b) => `(${a} < ${b})`,
  '>': (a, b) => `(${a} > ${b})`,
  '<=': (a, b) => `!(${a} > ${b})`,
  '>=': (a, b) => `!(${a} < ${b})`,
};

const COMPARERS: Readonly<Record<Comparison, string>> = { '<': 'less', '>': 'greater', '<=': 'lessOrEqual', '>=': 'greaterOrEqual' };

function emitComparison(fn: FunctionState, operator: Comparison, left: Code, right: Code): string {
  if (left.kind === 'num' && right.kind === 'num') return `(${left.code} ${operator} ${right.code})`;
  if ((left.kind === 'float' && isNumberKind(right.kind)) || (right.kind === 'float' && isNumberKind(left.kind))) {
    return DOUBLE_COMPARERS[operator](double(left), double(right));
  }
  if (!couldBeNumber(left.kind) || !couldBeNumber(right.kind)) return `R.${COMPARERS[operator]}(${boxed(left)}, ${boxed(right)})`;
  const a = reuse(fn, boxFloat(left));
  const b = reuse(fn, boxFloat(right));
  return guarded(
    a,
    b,
    `${a.again} ${operator} ${b.again}`,
    `R.${COMPARERS[operator]}(${a.again}, ${b.again})`,
    left.kind === 'num',
    right.kind === 'num',
  );
}

/** `(evaluate a, evaluate b, both numbers ? fast : slow)`: both sides are there before either is tested. */
function guarded(
  a: { readonly first: string; readonly again: string },
  b: { readonly first: string; readonly again: string },
  fast: string,
  slow: string,
  isLeftNumber: boolean,
  isRightNumber: boolean,
): string {
  const evaluate = [a, b].filter((side) => side.first !== side.again).map((side) => `${side.first}, `);
  const tests = [isLeftNumber ? '' : `typeof ${a.again} === "number"`, isRightNumber ? '' : `typeof ${b.again} === "number"`].filter(
    (test) => test !== '',
  );
  return `(${evaluate.join('')}${tests.join(' && ')} ? ${fast} : ${slow})`;
}

function boxFloat(value: Code): Code {
  return value.kind === 'float' ? any(boxed(value)) : value;
}

function couldBeNumber(kind: Kind): boolean {
  return kind === 'any' || isInteger(kind);
}

const OPERATIONS: Readonly<Record<string, string>> = { '+': 'add', '-': 'subtract', '*': 'multiply', '/': 'divide', '%': 'modulo' };

function emitArithmetic(fn: FunctionState, operator: '+' | '-' | '*' | '/' | '%', left: Code, right: Code, origin: Origin): Code {
  const kind = binaryKind(operator, left.kind, right.kind, origin.right);
  if (kind === 'str') return { code: `(${left.code} + ${right.code})`, kind };
  if (kind === 'float') return emitDoubleArithmetic(operator, left, right, origin.span);
  const slow = `${place(origin.span)}R.${OPERATIONS[operator]}`;
  const appended = operator === '+' && left.kind === 'any' ? appendedElements(right.code) : undefined;
  if (appended !== undefined) {
    const list = reuse(fn, left);
    return any(`(Array.isArray(${list.first}) ? [...${list.again}, ${appended}] : ${slow}(${list.again}, ${right.code}))`);
  }
  if (!couldBeNumber(left.kind) || !couldBeNumber(right.kind)) return { code: `${slow}(${boxed(left)}, ${boxed(right)})`, kind };
  const a = reuse(fn, left);
  // Constants need no temporary.
  const b = /^-?\d+$/.test(right.code) ? { first: right.code, again: right.code } : reuse(fn, right);
  const isLiteral = /^\d+$/.test(right.code) && right.code !== '0';
  const [x, y] = [a.again, b.again];
  // What passes the test with `| 0` is handed on through `| 0`: never -0, and V8 keeps it as a small integer.
  const t = fn.temp();
  let fast: string;
  switch (operator) {
    case '/':
    case '%': {
      const quotient = operator === '/' ? `Math.trunc(${x} / ${y})` : `${x} % ${y}`;
      const computed = `((${t} = ${quotient}) | 0) === ${t} ? ${t} | 0 : ${t}`;
      fast = isLiteral ? computed : `${y} !== 0 ? (${computed}) : ${slow}(${x}, ${y})`;
      break;
    }
    default:
      fast = `((${t} = ${x} ${operator} ${y}) | 0) === ${t} ? ${operator === '*' ? `${t} | 0` : t} : ${slow}(${x}, ${y})`;
  }
  if (left.kind === 'num' && right.kind === 'num') {
    const evaluate = [a, b].filter((side) => side.first !== side.again).map((side) => `${side.first}, `);
    return { code: `(${evaluate.join('')}${fast})`, kind };
  }
  const isLeftNumber = left.kind === 'num';
  const isRightNumber = right.kind === 'num';
  return { code: guarded(a, b, `(${fast})`, `${slow}(${x}, ${y})`, isLeftNumber, isRightNumber), kind };
}

/** The elements of `[a, b]` when mentioning them twice is harmless: `xs + [v]` then needs no list for the right side. */
function appendedElements(code: string): string | undefined {
  return /^\[(?:[$\w]+(?:, [$\w]+)*)\]$/.exec(code)?.[0].slice(1, -1);
}

function emitDoubleArithmetic(operator: '+' | '-' | '*' | '/' | '%', left: Code, right: Code, span: Span): Code {
  const toDouble = (side: Code, isLeft: boolean): string =>
    side.kind === 'any' ? unboxed(side.code, operator, isLeft, span) : double(side);
  const a = toDouble(left, true);
  const b = toDouble(right, false);
  if (operator === '%') return { code: `${place(span)}R.floatModulo(${a}, ${b})`, kind: 'float' };
  return { code: `(${a} ${operator} ${b})`, kind: 'float' };
}

/** The double in a value that should be a number, with the common case inline. */
function unboxed(code: string, operator: string, isLeft: boolean, span: Span): string {
  const slow = `${place(span)}R.operandToDouble(${code}, ${JSON.stringify(operator)}, ${isLeft})`;
  return /^[$\w]+$/.test(code) ? `(${code} instanceof Float ? ${code}.value : ${slow})` : slow;
}

/** A number kind as a raw double. */
function double(value: Code): string {
  return value.kind === 'int' ? `Number(${value.code})` : wrap(value.code);
}
