import type { Block, Element, Expression, Identifier } from './ast.ts';
import {
  any,
  boxed,
  builtin,
  type Code,
  constant,
  type FunctionState,
  globalName,
  hasOwnedBit,
  keep,
  type ModuleState,
  NOWHERE,
  ownedBit,
  reportProblem,
  reuse,
  undefinedName,
  wrap,
} from './emit-context.ts';
import { line, place } from './emit-layout.ts';
import { emitOperation, truth } from './emit-operator.ts';
import { isInteger, type Kind } from './kinds.ts';
import { asTernary, MAX_LINKS, rootOf, type Variable } from './scope.ts';
import { typeSchema } from './type-schema.ts';
import type { TreeNode } from './walk.ts';

/**
 * How the value of an expression is used: `keep` lets it escape into another place, `read` lets only its parts escape
 * (the elements that a loop binds), `peek` neither.
 */
export type Use = 'peek' | 'read' | 'keep';

/** Emits an expression. Parts that need statements go to `fn.pre`, in order. */
export function emitExpression(fn: FunctionState, node: Expression, use: Use = 'keep'): Code {
  return fn.kept.get(node) ?? emitLongChain(fn, node, use) ?? emitNode(fn, node, use);
}

/** `a.b().c()[d]…` beyond that many links: stretches of it are computed into temporaries one after the other. */
function emitLongChain(fn: FunctionState, node: Expression, use: Use): Code | undefined {
  if (!isLink(node)) return undefined;
  const links: Link[] = [];
  for (let link: Expression = node; isLink(link) && !fn.kept.has(link); link = link.receiver) links.push(link);
  if (links.length <= MAX_LINKS) return undefined;
  const inStatements = needsStatements(fn.module, node);
  const steps: string[] = [];
  for (let at = links.length - MAX_LINKS; at > 0; at -= MAX_LINKS) {
    const link = links[at] as Link;
    const value = boxed(emitNode(fn, link, 'keep'));
    const name = fn.temp();
    if (inStatements) fn.pre.push(`${name} = ${value};`);
    else steps.push(`${name} = ${value}`);
    fn.kept.set(link, any(name));
  }
  const { code, kind } = emitNode(fn, node, use);
  for (const link of links) fn.kept.delete(link);
  return steps.length === 0 ? { code, kind } : { code: `(${steps.join(', ')}, ${code})`, kind };
}

type Link = Extract<Expression, { kind: 'MethodCall' | 'Property' | 'Subscript' | 'Slice' }>;

function isLink(node: Expression): node is Link {
  return node.kind === 'MethodCall' || node.kind === 'Property' || node.kind === 'Subscript' || node.kind === 'Slice';
}

function emitNode(fn: FunctionState, node: Expression, use: Use): Code {
  switch (node.kind) {
    // What programs are mostly made of comes first: V8 compares one kind after the other until it has compiled this.
    case 'Identifier':
      return emitIdentifier(fn, node, use);
    case 'Call':
      return fn.module.parts.call(fn, node);
    case 'Binary':
      return emitBinary(fn, node);
    case 'Int':
      return intLiteral(node.value);
    case 'Float':
      return { code: doubleLiteral(node.value), kind: 'float' };
    case 'Duration':
      return any(constant(fn.module, `new Duration(${node.ms})`));
    case 'String':
      return { code: JSON.stringify(node.value), kind: 'str' };
    case 'Interpolation':
      return emitInterpolation(fn, node);
    case 'Bool':
      return { code: String(node.value), kind: 'bool' };
    case 'Nil':
      return any('undefined');
    case 'List':
      return emitList(fn, node.items);
    case 'Dict':
      return emitDict(fn, node);
    case 'StructLiteral':
      return emitStructLiteral(fn, node);
    case 'Closure':
      return any(fn.module.parts.closure(fn, node));
    case 'Unary':
      return emitUnary(fn, node);
    case 'Ternary':
      return emitTernary(fn, node.condition, node.then, node.otherwise);
    case 'Range': {
      const [start, end] = emitOperands(fn, [node.start, node.end]) as [Code, Code];
      return any(`R.range(${boxed(start)}, ${boxed(end)}, ${node.isExclusive})`);
    }
    case 'Pipe':
      return fn.module.parts.pipe(fn, node);
    case 'MethodCall':
      return fn.module.parts.methodCall(fn, node);
    case 'Property':
      return escapingPart(fn, node, use, emitProperty(fn, node));
    case 'Subscript':
      return escapingPart(fn, node, use, emitSubscript(fn, node));
    case 'Slice': {
      const parts = emitOperands(fn, [node.receiver, ...(node.start ? [node.start] : []), ...(node.end ? [node.end] : [])], 'read');
      const codes = parts.map(boxed);
      const start = node.start ? (codes[1] as string) : 'undefined';
      const end = node.end ? (codes.at(-1) as string) : 'undefined';
      return any(`${place(node.span)}R.slice(${codes[0]}, ${start}, ${end}, ${node.start !== undefined}, ${node.end !== undefined})`);
    }
    case 'TryStar':
      if (fn.scope === fn.module.resolution.file) {
        reportProblem(fn.module, 'try* requires an enclosing function (fn, tool, or pipeline) so the rethrow has a target', node.span);
      }
      return emitExpression(fn, node.value);
    case 'Propagate':
      return emitPropagate(fn, node.value);
    case 'If': {
      const ternary = asTernary(node, fn.module.resolution.lifted);
      if (ternary !== undefined) return emitTernary(fn, ternary[0], ternary[1], ternary[2]);
      return lifted(fn, node);
    }
    case 'Match':
    case 'Try':
    case 'Retry':
    case 'Deadline':
      return lifted(fn, node);
    case 'Parallel':
      return any(fn.module.parts.parallel(fn, node));
    case 'Spawn':
      return any(fn.module.parts.spawn(fn, node));
  }
}

/** The value as a Harn Value. */
export function emitValue(fn: FunctionState, node: Expression, use: Use = 'keep'): string {
  return boxed(emitExpression(fn, node, use));
}

// ---- order of evaluation ----

/** Does this expression need statements of its own before its value is there? */
export function needsStatements({ resolution }: ModuleState, node: TreeNode): boolean {
  return resolution.lifted.has(node);
}

/** Emits operands left to right. When a later one needs statements, earlier values are kept in temporaries first. */
export function emitOperands(fn: FunctionState, nodes: readonly Expression[], use: Use = 'keep', firstUse: Use = use): Code[] {
  const lastLifted = nodes.findLastIndex((node) => needsStatements(fn.module, node));
  return nodes.map((node, index) => {
    const code = emitExpression(fn, node, index === 0 ? firstUse : use);
    return index < lastLifted && !isConstant(node) ? keep(fn, code) : code;
  });
}

function isConstant(node: Expression): boolean {
  return ['Int', 'Float', 'String', 'Bool', 'Nil', 'Duration'].includes(node.kind);
}

function lifted(fn: FunctionState, node: Expression): Code {
  const name = fn.temp();
  fn.pre.push(`${name} = undefined;`, fn.module.parts.into(fn, node, { to: 'temp', name }));
  return any(name);
}

function emitTernary(fn: FunctionState, condition: Expression, then: Expression, otherwise: Expression | undefined): Code {
  if (needsStatements(fn.module, then) || (otherwise !== undefined && needsStatements(fn.module, otherwise))) {
    const name = fn.temp();
    const block = (value: Expression | undefined): Block | undefined =>
      value && { kind: 'Block', statements: [{ kind: 'ExpressionStatement', expression: value, span: value.span }], span: value.span };
    fn.pre.push(
      `${name} = undefined;`,
      fn.module.parts.ifInto(fn, condition, block(then) as Block, block(otherwise), { to: 'temp', name }),
    );
    return any(name);
  }
  const test = emitCondition(fn, condition);
  const left = emitExpression(fn, then);
  const right = otherwise === undefined ? any('undefined') : emitExpression(fn, otherwise);
  if (left.kind === right.kind) return { code: `(${test} ? ${left.code} : ${right.code})`, kind: left.kind };
  const kind: Kind = isInteger(left.kind) && isInteger(right.kind) ? 'int' : 'any';
  return { code: `(${test} ? ${boxed(left)} : ${boxed(right)})`, kind };
}

// ---- conditions ----

/** An expression as a JavaScript condition. */
export function emitCondition(fn: FunctionState, node: Expression): string {
  if (node.kind === 'Unary' && node.operator === '!') return `!${emitCondition(fn, node.operand)}`;
  if (node.kind === 'Binary' && (node.operator === '&&' || node.operator === '||') && !needsStatements(fn.module, node.right)) {
    const left = emitCondition(fn, node.left);
    return `(${left} ${node.operator} ${emitCondition(fn, node.right)})`;
  }
  return truth(emitExpression(fn, node, 'peek'));
}

// ---- leaves ----

function intLiteral(value: bigint): Code {
  const isSafe = value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);
  return isSafe ? { code: String(value), kind: 'num' } : { code: `${value}n`, kind: 'int' };
}

function doubleLiteral(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e15 ? `${value}.0`.replace(/\.0$/, '') : String(value);
}

function emitIdentifier(fn: FunctionState, node: Identifier, use: Use): Code {
  const { module } = fn;
  const variable = fn.variable(node);
  if (variable !== undefined) {
    const kind = module.kinds.ofVariable(variable);
    if (use !== 'peek' && hasOwnedBit(variable)) {
      const bit = ownedBit(variable);
      if (use === 'keep') return { code: `(${bit} = false, ${variable.jsName})`, kind };
      if (variable.isWrittenDeep) return { code: `(${bit} = !!${bit}, ${variable.jsName})`, kind };
    }
    return { code: isShared(module, variable) ? `(${variable.jsName})` : variable.jsName, kind };
  }
  return any(emitGlobal(fn, node));
}

/**
 * Calls can change it: the top-level variables of an imported module are one store for all its functions. In
 * parentheses it is not taken for a name that may be read later than it was mentioned.
 */
function isShared(module: ModuleState, variable: Variable): boolean {
  return module.environment.role === 'module' && variable.isTopLevel && variable.isReassigned;
}

function emitGlobal(fn: FunctionState, node: Identifier): string {
  const { environment, structs, enums } = fn.module;
  const { name } = node;
  const imported = environment.imports.get(name);
  if (imported !== undefined) return `m${imported.module}.${imported.name}`;
  if (environment.globals.has(name)) return globalName(fn, name);
  if (structs.has(name)) return `M.structConstructor(${JSON.stringify(name)})`;
  if (environment.builtins.has(name)) return builtin(fn.module, name);
  if (enums.has(name)) return `R.enumType(${JSON.stringify(name)})`;
  const { aliases } = fn.module.types;
  // A type alias as a value is its schema.
  if (aliases.has(name)) return constant(fn.module, `R.schema(${JSON.stringify(typeSchema(aliases, name))})`);
  return undefinedName(fn, node, 'undefinedVariable');
}

function emitInterpolation(fn: FunctionState, node: Extract<Expression, { kind: 'Interpolation' }>): Code {
  const expressions = node.parts.filter((part): part is Expression => typeof part !== 'string');
  const codes = emitOperands(fn, expressions, 'peek');
  let next = 0;
  const pieces = node.parts.map((part) => {
    if (typeof part === 'string') return JSON.stringify(part);
    const code = codes[next++] as Code;
    return code.kind === 'str' ? code.code : code.kind === 'num' ? `${wrap(code.code)}` : `R.text(${boxed(code)})`;
  });
  const startsWithText = typeof node.parts[0] === 'string' || codes[0]?.kind === 'str';
  return { code: `(${startsWithText ? '' : '"" + '}${pieces.join(' + ')})`, kind: 'str' };
}

/** Array text of elements, or a call that spreads them. */
export function emitElements(fn: FunctionState, items: readonly Element[]): string {
  const values = emitOperands(
    fn,
    items.map((item) => (item.kind === 'Spread' ? item.value : item)),
  );
  const parts = items.map((item, index) =>
    item.kind === 'Spread' ? `...${place(item.value.span)}R.spreadList(${boxed(values[index] as Code)})` : boxed(values[index] as Code),
  );
  return parts.join(', ');
}

function emitList(fn: FunctionState, items: readonly Element[]): Code {
  return any(`[${emitElements(fn, items)}]`);
}

function emitDict(fn: FunctionState, node: Extract<Expression, { kind: 'Dict' }>): Code {
  if (node.entries.length === 0) return any('new Dict()');
  const parts = node.entries.flatMap((entry) =>
    entry.kind === 'Spread' ? [entry.value] : typeof entry.key === 'string' ? [entry.value] : [entry.key, entry.value],
  );
  const codes = emitOperands(fn, parts).map(boxed);
  const isPlain = node.entries.every((entry) => entry.kind === 'Entry' && typeof entry.key === 'string') && node.entries.length <= 16;
  if (isPlain) {
    const keys = node.entries.map((entry) => (entry as { key: string }).key);
    return any(`new ${dictShape(fn, keys)}(${codes.join(', ')})`);
  }
  let next = 0;
  const steps = node.entries.map((entry) => {
    if (entry.kind === 'Spread') return `[undefined, ${codes[next++]}]`;
    if (typeof entry.key === 'string') return `[${JSON.stringify(entry.key)}, ${codes[next++]}]`;
    return `[R.text(${codes[next++]}), ${codes[next++]}]`;
  });
  return any(`${place(node.span)}R.dict([${steps.join(', ')}])`);
}

/**
 * A constructor for dicts with these keys. It shares the prototype of `Dict`, but V8 sizes its objects by what it
 * assigns: the fields then lie inside the object, which halves the cost of making and reading one.
 */
function dictShape(fn: FunctionState, keys: readonly string[]): string {
  const unique = [...new Set(keys)];
  const params = keys.map((_, index) => `a${index}`);
  // A key written twice takes the later value.
  const body = unique.map((key) => `this[${JSON.stringify(key)}] = a${keys.lastIndexOf(key)};`).join(' ');
  return constant(fn.module, `R.dictShape(function (${params.join(', ')}) { ${body} })`);
}

function emitStructLiteral(fn: FunctionState, node: Extract<Expression, { kind: 'StructLiteral' }>): Code {
  const codes = emitOperands(
    fn,
    node.fields.map((field) => field.value),
  ).map(boxed);
  const keys = node.fields.map((field) => field.name);
  return any(`new StructValue(${JSON.stringify(node.name)}, new ${dictShape(fn, keys)}(${codes.join(', ')}))`);
}

// ---- operators ----

function emitUnary(fn: FunctionState, node: Extract<Expression, { kind: 'Unary' }>): Code {
  if (node.operator === '!') return { code: `!${wrap(emitCondition(fn, node.operand))}`, kind: 'bool' };
  if (node.operand.kind === 'Int') return intLiteral(-node.operand.value);
  const operand = emitExpression(fn, node.operand, 'peek');
  if (operand.kind === 'float') return { code: `(-${wrap(operand.code)})`, kind: 'float' };
  if (operand.kind === 'num') return { code: `(0 - ${wrap(operand.code)})`, kind: 'num' };
  return { code: `${place(node.span)}R.negate(${operand.code})`, kind: operand.kind === 'int' ? 'int' : 'any' };
}

function emitBinary(fn: FunctionState, node: Extract<Expression, { kind: 'Binary' }>): Code {
  switch (node.operator) {
    case '&&':
    case '||':
      return emitLogical(fn, node);
    case '??':
      return emitCoalesce(fn, node);
    default:
      break;
  }
  // Operators make new values; they keep none of their operands, and only `+` keeps their parts.
  const [left, right] = emitOperands(fn, [node.left, node.right], node.operator === '+' ? 'read' : 'peek') as [Code, Code];
  return emitOperation(fn, node.operator, left, right, node);
}

function emitLogical(fn: FunctionState, node: Extract<Expression, { kind: 'Binary' }>): Code {
  if (!needsStatements(fn.module, node.right)) return { code: emitCondition(fn, node), kind: 'bool' };
  const name = fn.temp();
  fn.pre.push(`${name} = ${emitCondition(fn, node.left)};`);
  const right = fn.statement(() => `${name} = ${emitCondition(fn, node.right)};`);
  fn.pre.push(`if (${node.operator === '&&' ? '' : '!'}${name}) { ${right} }`);
  return { code: name, kind: 'bool' };
}

function emitCoalesce(fn: FunctionState, node: Extract<Expression, { kind: 'Binary' }>): Code {
  const left = emitExpression(fn, node.left);
  if (left.kind !== 'any') return left;
  if (!needsStatements(fn.module, node.right)) {
    // nil is undefined, and no Value is null.
    return any(`(${left.code} ?? ${emitValue(fn, node.right)})`);
  }
  const { code: name } = keep(fn, left);
  const right = fn.statement(() => `${name} = ${emitValue(fn, node.right)};`);
  fn.pre.push(`if (${name} === undefined) { ${right} }`);
  return any(name);
}

// ---- access ----

function emitProperty(fn: FunctionState, node: Extract<Expression, { kind: 'Property' }>): Code {
  const { receiver, name } = node;
  const key = JSON.stringify(name);
  // Whatever the receiver is called: it may be the harness, whose parts need their builtins.
  if (fn.module.environment.harness.isPart(name)) fn.module.usedGlobals.add(`harness.${name}`);
  if (receiver.kind === 'Identifier' && fn.variable(receiver) === undefined && isEnumName(fn, receiver.name)) {
    return any(constant(fn.module, `R.enumValue(${JSON.stringify(receiver.name)}, ${key}, [])`));
  }
  const value = reuse(fn, asReceiver(emitValue(fn, receiver, 'peek')));
  const found = fn.temp();
  const access = /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${key}]`;
  const slow = `${node.isOptional ? 'R.propertyOptional' : `${place(node.nameSpan)}R.property`}(${value.again}, ${key})`;
  // A dict that has the key, or a small one that has not, needs no call; nor does a struct that has the field.
  const ofDict = `((${found} = ${value.again}${access}) !== undefined || !(${value.again} instanceof BigDict) ? ${found} : ${slow})`;
  const ofStruct = `instanceof StructValue && (${found} = ${value.again}.fields${access}) !== undefined ? ${found}`;
  if (fn.module.structs.size === 0) return any(`(${value.first} instanceof Dict ? ${ofDict} : ${slow})`);
  const isField = fn.module.fields.has(name);
  // Methods of structs are small and worth V8's inlining, which looks at the size of the code: here dicts take the call.
  if (isField && isMethod(fn)) return any(`(${value.first} ${ofStruct} : ${slow})`);
  // The likelier of the two is asked for first.
  return any(
    isField
      ? `(${value.first} ${ofStruct} : ${value.again} instanceof Dict ? ${ofDict} : ${slow})`
      : `(${value.first} instanceof Dict ? ${ofDict} : ${value.again} ${ofStruct} : ${slow})`,
  );
}

function isMethod({ self }: FunctionState): boolean {
  return self?.params[0]?.name === 'self';
}

/** `5.name` is no JavaScript. */
function asReceiver(code: string): Code {
  return any(/^\d/.test(code) ? `(${code})` : code);
}

export function isEnumName(fn: FunctionState, name: string): boolean {
  return name === 'Result' || fn.module.enums.has(name);
}

/**
 * A part of a variable that owns its parts, where it may escape: then it is owned no more. Nor is what it holds, since the
 * path to that leads through it.
 */
function escapingPart(fn: FunctionState, node: Expression, use: Use, value: Code): Code {
  const root = use === 'peek' ? undefined : rootOf(node);
  const variable = root && fn.variable(root);
  if (variable === undefined || !variable.isWrittenDeep || !hasOwnedBit(variable)) return value;
  return any(`R.escaping(${ownedBit(variable)}, ${boxed(value)})`);
}

function emitSubscript(fn: FunctionState, node: Extract<Expression, { kind: 'Subscript' }>): Code {
  const [receiver, index] = emitOperands(fn, [node.receiver, node.index], 'peek') as [Code, Code];
  if (node.isOptional) return any(`${place(node.span)}R.indexOptional(${boxed(receiver)}, ${boxed(index)})`);
  if (index.kind === 'str') return any(`${place(node.span)}R.index(${boxed(receiver)}, ${index.code})`);
  const list = reuse(fn, asReceiver(boxed(receiver)));
  const at = index.kind === 'num' && /^\d+$/.test(index.code) ? { first: index.code, again: index.code } : reuse(fn, any(boxed(index)));
  const isNumber = index.kind === 'num' ? '' : `typeof ${at.again} === "number" && `;
  const evaluate = [list, at].filter((side) => side.first !== side.again).map((side) => `${side.first}, `);
  const positive = /^\d+$/.test(at.again) ? '' : ` && ${at.again} >= 0`;
  return any(
    `(${evaluate.join('')}${isNumber}Array.isArray(${list.again})${positive} && ${at.again} < ${list.again}.length ? ${list.again}[${at.again}] : ${place(node.span)}R.index(${list.again}, ${at.again}))`,
  );
}

function emitPropagate(fn: FunctionState, value: Expression): Code {
  const { code: name } = keep(fn, any(emitValue(fn, value)));
  fn.pre.push(
    `if (${place(value.span)}R.isErr(${name})) ${line(value.span.line)}return ${name}; ${name} = ${place(value.span)}R.okValue(${name});`,
  );
  return any(name);
}

/** Emits for effect only. */
export function emitForEffect(fn: FunctionState, node: Expression): string {
  return fn.statement(() => {
    switch (node.kind) {
      case 'If':
      case 'Match':
      case 'Try':
      case 'Retry':
      case 'Deadline':
        return fn.module.parts.into(fn, node, NOWHERE);
      default:
        return `${emitExpression(fn, node, 'peek').code};`;
    }
  });
}
