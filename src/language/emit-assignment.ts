import type { Expression, Statement } from './ast.ts';
import { any, boxed, type Code, type FunctionState, hasOwnedBit, keep, ownedBit, undefinedName } from './emit-context.ts';
import { emitExpression, emitOperands, emitValue } from './emit-expression.ts';
import { line, place } from './emit-layout.ts';
import { emitOperation } from './emit-operator.ts';
import { growsInPlace, rootOf, type Variable } from './scope.ts';

type Assignment = Extract<Statement, { kind: 'Assignment' }>;

/**
 * Assignment (spec/language.md 3.9). Values are immutable, so writing through `x[i]` means: copy, change, store back
 * in `x`. The owned bit of `x` says that nobody else can see its container, and then the copy is left out.
 */
export function emitAssignment(fn: FunctionState, node: Assignment): string {
  const { target } = node;
  return fn.statement(() => {
    if (target.kind === 'Identifier') return emitVariable(fn, node, target);
    const root = rootOf(target);
    const variable = root && fn.variable(root);
    if (root === undefined) {
      const value = emitValue(fn, node.value);
      return `${value}; ${line(node.span.line)}${place(target.span)}R.badTarget();`;
    }
    if (variable === undefined) return `${undefinedName(fn, root, 'undefinedVariable')};`;
    return emitPath(fn, node, variable);
  });
}

function emitVariable(fn: FunctionState, node: Assignment, target: Extract<Expression, { kind: 'Identifier' }>): string {
  const variable = fn.variable(target);
  if (variable === undefined) return `${emitValue(fn, node.value)}; ${undefinedName(fn, target, 'undefinedVariable')};`;
  if (!isMutable(variable))
    return `${emitValue(fn, node.value)}; ${line(node.span.line)}${place(target.span)}R.immutable(${JSON.stringify(target.name)});`;
  if (hasOwnedBit(variable) && growsInPlace(variable, node.operator, node.value)) return emitGrowth(fn, node, variable);
  const value =
    node.operator === '='
      ? emitExpression(fn, node.value)
      : (() => {
          const [left, right] = emitOperands(fn, [target, node.value], 'read') as [Code, Code];
          return emitOperation(fn, node.operator.slice(0, -1), left, right, { span: node.span, right: node.value });
        })();
  const code = fn.module.kinds.ofVariable(variable) === 'float' ? value.code : boxed(value);
  const bit = hasOwnedBit(variable) ? ` ${ownedBit(variable)} = ${isFresh(node.operator === '=' ? node.value : undefined)};` : '';
  return `${line(node.span.line)}${variable.jsName} = ${code};${bit}`;
}

function isMutable(variable: Variable): boolean {
  return variable.role === 'var' || variable.role === 'loop';
}

/** Expressions whose value nobody else holds. */
export function isFresh(value: Expression | undefined): boolean {
  return value !== undefined && (value.kind === 'List' || value.kind === 'Dict');
}

/** `xs = xs + [v]`, `xs += [v]`, `xs = xs.push(v)`, `xs = xs.pop()`: in place while the variable owns its list. */
function emitGrowth(fn: FunctionState, node: Assignment, variable: Variable): string {
  const { value } = node;
  const { jsName } = variable;
  const bit = ownedBit(variable);
  const at = line(node.span.line);
  if (value.kind === 'MethodCall') {
    const args = value.args.map((arg) => (arg.kind === 'Spread' ? arg.value : arg));
    const isSimple = value.args.length === (value.name === 'push' ? 1 : 0) && value.args.every((arg) => arg.kind !== 'Spread');
    if (isSimple) {
      const items = emitOperands(fn, args).map((code) => keepUnlessPlain(fn, code));
      const fast = value.name === 'push' ? `${jsName}.push(${items[0]})` : `${jsName}.pop()`;
      return `${at}if (${bit} && Array.isArray(${jsName})) ${fast}; else { ${jsName} = M.callMethodSync(${fn.context}, d, ${jsName}, ${JSON.stringify(value.name)}, [${items.join(', ')}]); ${bit} = true; }`;
    }
  }
  const addition = value.kind === 'Binary' ? value.right : value;
  if (addition.kind === 'List' && addition.items.every((item) => item.kind !== 'Spread')) {
    const items = emitOperands(fn, addition.items as readonly Expression[]).map((code) => keepUnlessPlain(fn, code));
    return `${at}if (${bit} && Array.isArray(${jsName})) ${jsName}.push(${items.join(', ')}); else { ${jsName} = ${place(node.span)}R.add(${jsName}, [${items.join(', ')}]); ${bit} = true; }`;
  }
  const right = keep(fn, any(emitValue(fn, addition))).code;
  if (value.kind === 'MethodCall') {
    return `${at}${jsName} = M.callMethodSync(${fn.context}, d, ${jsName}, ${JSON.stringify(value.name)}, [${right}]); ${bit} = false;`;
  }
  return `${at}${jsName} = ${place(node.span)}R.addOwned(${jsName}, ${right}, ${bit}); ${bit} = true;`;
}

function keepUnlessPlain(fn: FunctionState, code: Code): string {
  const text = boxed(code);
  return /^[$\w]+$|^-?\d+$/.test(text) ? text : keep(fn, any(text)).code;
}

/** `a.b[c] = v` and `a.b[c] op= v`. */
function emitPath(fn: FunctionState, node: Assignment, variable: Variable): string {
  const at = line(node.span.line);
  const { jsName } = variable;
  const steps = stepsOf(node.target);
  const operands: Expression[] = [];
  for (const step of steps) if (typeof step !== 'string') operands.push(step);
  const codes = emitOperands(fn, [node.value, ...operands]);
  const [valueCode, ...keyCodes] = codes.map((code) => (node.operator === '=' ? keepUnlessPlain(fn, code) : keepUnlessPlain(fn, code)));
  let next = 0;
  const keys = steps.map((step) => (typeof step === 'string' ? JSON.stringify(step) : (keyCodes[next++] as string)));
  const kinds = steps.map((step) => (typeof step === 'string' ? 'true' : 'false'));
  if (!isMutable(variable)) return `${at}${place(node.target.span)}R.immutable(${JSON.stringify(variable.name)});`;
  let value = valueCode as string;
  if (node.operator !== '=') {
    const current = any(`${place(node.target.span)}R.readPath(${jsName}, [${keys.join(', ')}], [${kinds.join(', ')}])`);
    value = boxed(emitOperation(fn, node.operator.slice(0, -1), keep(fn, current), any(value), { span: node.span }));
  }
  const bit = ownedBit(variable);
  const own = `if (!${bit}) { ${jsName} = R.own(${jsName}); ${bit} = true; }`;
  if (keys.length > 1) return `${at}${own} ${writeDeep(fn, variable, keys, kinds, value, place(node.target.span))}`;
  const [key] = keys;
  if (kinds[0] === 'true') return `${at}${own} ${jsName} = ${place(node.target.span)}R.writeProperty(${jsName}, ${key}, ${value});`;
  const isNumber = /^\d+$/.test(key ?? '') ? '' : `typeof ${key} === "number" && `;
  const kept = /^[$\w]+$/.test(value) ? value : keepLate(fn, value);
  return `${at}${own} if (${isNumber}Array.isArray(${jsName}) && ${key} >= 0 && ${key} < ${jsName}.length) ${jsName}[${key}] = ${kept}; else ${jsName} = ${place(node.target.span)}R.writeIndex(${jsName}, ${key}, ${kept});`;
}

/** A write below the root, which is owned by now. */
function writeDeep(
  fn: FunctionState,
  variable: Variable,
  keys: readonly string[],
  kinds: readonly string[],
  value: string,
  at: string,
): string {
  const { jsName } = variable;
  const bit = ownedBit(variable);
  const owned = `${bit} === true ? (${bit} = new R.OwnedParts()) : ${bit}`;
  if (keys.length > 2) return `${jsName} = ${at}R.writePath(${jsName}, [${keys.join(', ')}], [${kinds.join(', ')}], ${value}, ${owned});`;
  const [first = '', second = ''] = keys;
  const kept = /^[$\w]+$/.test(value) ? value : keepLate(fn, value);
  const general = `${jsName} = ${at}R.writeInner(${jsName}, ${first}, ${kinds[0]}, ${second}, ${kinds[1]}, ${kept}, ${owned});`;
  if (kinds[0] === 'true' || kinds[1] === 'true') return general;
  const part = fn.temp();
  const isNumber = /^\d+$/.test(second) ? '' : `typeof ${second} === "number" && ${second} >= 0 && `;
  const isLast = `Array.isArray(${jsName}) && (${part} = ${jsName}[${first}]) === ${bit}.last && Array.isArray(${part})`;
  return `if (${isLast} && ${isNumber}${second} < ${part}.length) ${part}[${second}] = ${kept}; else ${general}`;
}

function keepLate(fn: FunctionState, value: string): string {
  return keep(fn, any(value)).code;
}

/** Names and key expressions from the root outwards. */
function stepsOf(target: Expression): (string | Expression)[] {
  if (target.kind === 'Property') return [...stepsOf(target.receiver), target.name];
  if (target.kind === 'Subscript') return [...stepsOf(target.receiver), target.index];
  return [];
}
