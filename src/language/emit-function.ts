import type { Block, Closure, FunctionDeclaration, Parameter, SkillDeclaration, Statement, ToolDeclaration } from './ast.ts';
import { constant, FunctionState, hasOwnedBit, type ModuleState, NOWHERE, ownedBit, RETURN, type Sink } from './emit-context.ts';
import { emitValue } from './emit-expression.ts';
import { line, place } from './emit-layout.ts';
import { describeType, type TypeDescriptor } from './emit-types.ts';
import type { FunctionScope, Variable } from './scope.ts';
import { jsonSchema, type SchemaJson, toolParameters } from './tool-schema.ts';
import { isProducer, type TreeNode } from './walk.ts';

/** What a function expression is made of; the pieces stand in this order. */
interface Parts {
  readonly name: string;
  readonly params: readonly Parameter[];
  readonly body: readonly Statement[];
  /** Node whose early variables are declared first. */
  readonly block: object;
  readonly sink: Sink;
  /** Statements before the body, such as copies of captured variables. */
  readonly prologue: string;
  /** Missing arguments equal nil (tools), instead of being told apart by their count. */
  readonly nilIsMissing?: boolean;
}

/** `function NAME(c, d, …) { … }` for any activation. */
export function emitFunctionText(fn: FunctionState, parts: Parts): string {
  const { module } = fn;
  const names: string[] = [];
  let rest: string | undefined;
  for (const param of parts.params) {
    const variable = module.resolution.declared(param, param.name);
    if (param.isRest) rest = variable.jsName;
    else names.push(variable.jsName);
  }
  const checks = parts.params.map((param, index) => emitParameter(fn, param, index, parts.nilIsMissing === true)).join('');
  const body = emitBody(fn, parts, checks);
  const bits = parts.params
    .map((param) => module.resolution.declared(param, param.name))
    .filter(hasOwnedBit)
    .map((variable) => `let ${ownedBit(variable)} = false;`)
    .join('');
  const depth = fn.makesCalls ? 'if (d >= I[0]) R.enter(c, d);' : '';
  const list = ['c', 'd', ...names, ...(rest === undefined ? [] : [`...${rest}`])].join(', ');
  const inner = `${parts.prologue}${fn.tempDeclaration}${bits}${body}`;
  if (fn.producer !== undefined) {
    const generator = `${fn.isAsync ? 'async ' : ''}function* (c) { ${inner} }`;
    return `function ${parts.name}(${list}) { ${depth}return R.producer(c, ${JSON.stringify(fn.producer)}, ${generator}); }`;
  }
  return `${fn.isAsync ? 'async ' : ''}function ${parts.name}(${list}) { ${depth}${inner} }`;
}

/** @param checks defaults and checks of parameters; a call that goes back to the start passes them again */
function emitBody(fn: FunctionState, parts: Parts, checks: string): string {
  const early = emitEarly(fn.module, parts.block);
  const statements = fn.module.parts.statements(fn, parts.body, parts.sink);
  const looped = fn.usesSelfLoop
    ? `SELF: for (;;) { if (I[0] === 0) R.interrupt(${fn.context}); ${checks}${early}${statements} return undefined; }`
    : `${checks}${early}${statements}`;
  if (!fn.scope.hasDefer) return looped;
  const run = fn.isAsync ? 'await R.runDefersAsync(defers);' : 'R.runDefers(defers);';
  return `const defers = []; try { ${looped} } finally { ${run} }`;
}

/** Variables that closures use before their declaration is reached. */
export function emitEarly(module: ModuleState, block: object): string {
  const early = module.resolution.earlyIn(block);
  return early.length === 0 ? '' : `let ${early.map((variable) => variable.jsName).join(', ')};`;
}

/** Default and run-time check of one parameter. */
function emitParameter(fn: FunctionState, param: Parameter, index: number, nilIsMissing: boolean): string {
  const { module } = fn;
  const { jsName } = module.resolution.declared(param, param.name);
  let code = '';
  if (param.defaultValue !== undefined) {
    const missing = nilIsMissing ? `${jsName} === undefined` : `arguments.length < ${index + 3}`;
    const value = param.defaultValue;
    code += `if (${missing}) { ${fn.statement(() => `${jsName} = ${emitValue(fn, value)};`)} }`;
  }
  const descriptor = param.type && describeType(param.type, module.types);
  if (descriptor === undefined) return code;
  const name = JSON.stringify(param.name);
  const at = place(param.span);
  const check = `${at}R.checkParameter(${name}, ${constant(module, JSON.stringify(descriptor))}, ${jsName})`;
  if (param.isRest)
    return `${code}for (const x of ${jsName}) ${at}R.checkParameter(${name}, ${constant(module, JSON.stringify(descriptor))}, x);`;
  const guard = scalarGuard(descriptor, jsName);
  // A parameter that was left out and has no default is nil; the check applies to it like to any value.
  return `${code}${guard === undefined ? '' : `if (!(${guard})) `}${check};`;
}

function scalarGuard(descriptor: TypeDescriptor, jsName: string): string | undefined {
  if (descriptor.t === 'list' && descriptor.item === undefined) return `Array.isArray(${jsName})`;
  if (descriptor.t !== 'scalar') return undefined;
  switch (descriptor.name) {
    case 'int':
    case 'float':
      return `typeof ${jsName} === "number"`;
    case 'string':
      return `typeof ${jsName} === "string"`;
    case 'bool':
      return `typeof ${jsName} === "boolean"`;
    default:
      return undefined;
  }
}

/** Metadata of a callable as the text of a constant. */
export function metaText(name: string, params: readonly Parameter[], isAsync: boolean, symbol: string | undefined, offset: number): string {
  const names = params.map((param) => (param.isRest ? `...${param.name}` : param.name));
  const origin = `{ module: M.path, ${symbol === undefined ? '' : `symbol: ${JSON.stringify(symbol)}, `}offset: ${offset} }`;
  return `{ kind: "closure", name: ${JSON.stringify(name)}, params: ${JSON.stringify(names)}, isAsync: ${isAsync}, origin: ${origin} }`;
}

// ---- captures ----

/** Captured variables that must be copied when the closure is made: those that can change afterwards. */
export function copiedCaptures(module: ModuleState, scope: FunctionScope): Variable[] {
  return [...scope.captures].filter(
    (variable) => isData(variable) && variable.isReassigned && !variable.isEarly && !isSharedByModule(module, variable),
  );
}

/** Top-level variables of an imported module are one store that its functions share. */
function isSharedByModule(module: ModuleState, variable: Variable): boolean {
  return module.environment.role === 'module' && variable.isTopLevel;
}

export function isData(variable: Variable): boolean {
  return variable.role !== 'function' && variable.role !== 'import';
}

/** Copies for assignment inside: each call works on its own. */
function privatePrologue(copies: readonly Variable[], suffix: string): string {
  return copies
    .map(
      (variable) =>
        `let ${variable.jsName} = ${variable.jsName}${suffix};${hasOwnedBit(variable) ? `let ${ownedBit(variable)} = false;` : ''}`,
    )
    .join('');
}

/** Wraps a function expression so that the variables it copies are parameters of an immediately called factory. */
export function withCaptures(fn: FunctionState, scope: FunctionScope, make: (prologue: string) => string): string {
  const copies = copiedCaptures(fn.module, scope);
  if (copies.length === 0) return make('');
  const text = make(privatePrologue(copies, '$c'));
  const params = copies.map((variable) => `${variable.jsName}$c`).join(', ');
  const values = copies.map((variable) => readForCapture(fn, variable)).join(', ');
  return `((${params}) => ${text})(${values})`;
}

function readForCapture(fn: FunctionState, variable: Variable): string {
  const kind = fn.module.kinds.ofVariable(variable);
  const value = kind === 'float' ? `new Float(${variable.jsName})` : variable.jsName;
  return hasOwnedBit(variable) ? `(${ownedBit(variable)} = false, ${value})` : value;
}

/** What a restore has to bring back: functions of the file are found by their names, a local function knows its own. */
export function savedCaptures(scope: FunctionScope): Variable[] {
  return [...scope.captures].filter(
    (variable) =>
      variable.role !== 'import' && !(variable.role === 'function' && (variable.isTopLevel || variable.declaration === scope.node)),
  );
}

/** Captured values by name, for making the closure again in another process. */
function capturesText(module: ModuleState, scope: FunctionScope, inside: string): string {
  if (!module.environment.recordsCaptures) return '';
  const data = savedCaptures(scope);
  if (data.length === 0) return '';
  const copied = new Set(copiedCaptures(module, scope));
  const entries = data.map((variable) => `${JSON.stringify(variable.name)}: ${variable.jsName}${copied.has(variable) ? inside : ''}`);
  return `, () => ({ ${entries.join(', ')} })`;
}

export function emitClosure(outer: FunctionState, node: Closure): string {
  const { module } = outer;
  const scope = scopeOf(module, node);
  const isAsync = module.colours.isAsync(node);
  const meta = constant(module, metaText('', node.params, isAsync, undefined, node.span.start));
  return withCaptures(outer, scope, (prologue) => {
    const fn = new FunctionState(module, scope, isAsync);
    const text = emitFunctionText(fn, { name: '', params: node.params, body: node.body.statements, block: node, sink: RETURN, prologue });
    return `R.closure(${line(node.span.line)}${text}, ${meta}${capturesText(module, scope, '$c')})`;
  });
}

/** A named function, also a method. `jsName` is what JavaScript calls it. */
export function emitNamedFunction(module: ModuleState, node: FunctionDeclaration, jsName: string, prologue: string): string {
  const scope = scopeOf(module, node);
  const producer = isProducer(node) ? (node.isStream ? 'stream' : 'generator') : undefined;
  const fn = new FunctionState(module, scope, module.colours.isAsync(node), producer, node);
  return emitFunctionText(fn, { name: jsName, params: node.params, body: node.body.statements, block: node, sink: NOWHERE, prologue });
}

/** A function declared inside a block: a closure under a name. */
export function emitLocalFunction(outer: FunctionState, node: FunctionDeclaration): string {
  const { module } = outer;
  const scope = scopeOf(module, node);
  const variable = module.resolution.declared(node, node.name);
  const isAsync = !isProducer(node) && module.colours.isAsync(node);
  const meta = constant(module, metaText(node.name, node.params, isAsync, undefined, node.span.start));
  const value = withCaptures(
    outer,
    scope,
    (prologue) => `R.closure(${emitNamedFunction(module, node, '', prologue)}, ${meta}${capturesText(module, scope, '$c')})`,
  );
  return `${variable.jsName} = ${value};`;
}

/** What a `tool` declaration says of itself, as JSON for `M.tool`. */
export function toolDefinition(module: ModuleState, node: ToolDeclaration): SchemaJson {
  return {
    name: node.name,
    description: node.description ?? '',
    parameters: toolParameters(node.params, module.types),
    params: node.params.map(({ name }) => name),
    ...(node.returnType === undefined ? {} : { returns: jsonSchema(node.returnType, module.types, new Set()) }),
  };
}

/** A tool declared inside a block. */
export function emitLocalTool(outer: FunctionState, node: ToolDeclaration): string {
  const { module } = outer;
  const scope = scopeOf(module, node);
  const isAsync = module.colours.isAsync(node);
  const handler = withCaptures(outer, scope, (prologue) => {
    const fn = new FunctionState(module, scope, isAsync);
    return emitFunctionText(fn, {
      name: '',
      params: node.params,
      body: node.body.statements,
      block: node,
      sink: RETURN,
      prologue,
      nilIsMissing: true,
    });
  });
  const { jsName } = module.resolution.declared(node, node.name);
  return `let ${jsName} = M.tool(${JSON.stringify(toolDefinition(module, node))}, ${handler}, ${isAsync}, ${node.span.start});`;
}

export function emitLocalSkill(fn: FunctionState, node: SkillDeclaration): string {
  return fn.statement(() => {
    const fields = node.fields.map((field) => `[${JSON.stringify(field.name.text)}, ${emitValue(fn, field.value)}]`);
    return `let ${fn.module.resolution.declared(node, node.name).jsName} = M.skill(${JSON.stringify(node.name)}, R.dict([${fields.join(', ')}]));`;
  });
}

/** A method of a struct that is declared inside a block. */
export function emitLocalMethod(outer: FunctionState, struct: string, node: FunctionDeclaration): string {
  const { module } = outer;
  const isAsync = !isProducer(node) && module.colours.isAsync(node);
  const meta = constant(module, metaText(node.name, node.params, isAsync, undefined, node.span.start));
  const text = withCaptures(outer, scopeOf(module, node), (prologue) => emitNamedFunction(module, node, '', prologue));
  return `${line(node.span.line)}M.method(${JSON.stringify(struct)}, ${JSON.stringify(node.name)}, ${text}, ${meta});`;
}

function scopeOf(module: ModuleState, node: TreeNode): FunctionScope {
  const scope = module.resolution.scopes.get(node);
  if (scope === undefined) throw new Error(`a ${node.kind} has no scope`);
  return scope;
}

/** The body of a task: `(c, d, x) => …` as an asynchronous closure with copies of what it captures. */
export function emitTaskBody(outer: FunctionState, node: TreeNode, body: Block, params: readonly Variable[]): string {
  const { module } = outer;
  const scope = scopeOf(module, node);
  return withCaptures(outer, scope, (prologue) => {
    const fn = new FunctionState(module, scope, true);
    const inner = emitBody(fn, { name: '', params: [], body: body.statements, block: node, sink: RETURN, prologue: '' }, '');
    const list = ['c', 'd', ...params.map((variable) => variable.jsName)].join(', ');
    return `async (${list}) => { ${prologue}${fn.tempDeclaration}${inner} }`;
  });
}
