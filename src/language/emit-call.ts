import type { Element, Expression, FunctionDeclaration, Identifier } from './ast.ts';
import { any, boxed, builtin, type Code, type FunctionState, globalName, handsOn, reuse, undefinedName } from './emit-context.ts';
import { emitElements, emitOperands, emitValue, isEnumName, type Use } from './emit-expression.ts';
import { line, place } from './emit-layout.ts';
import type { Variable } from './scope.ts';
import { isProducer } from './walk.ts';

/** Builtins that look at their arguments and keep neither them nor their parts: a list passed to one stays owned by its variable. */
const PEEKING_BUILTINS: ReadonlySet<string> = new Set([
  'len',
  'contains',
  'join',
  'keys',
  'to_string',
  'println',
  'print',
  'log',
  'json_stringify',
  'type_of',
  'assert',
  'assert_eq',
  'abs',
  'to_int',
  'to_float',
]);

/** Methods that only look at their receiver and answer something new, in which nothing of the receiver is left. */
const PEEKING_METHODS: ReadonlySet<string> = new Set(
  'count empty len contains index_of last_index_of join has keys starts_with ends_with split trim chars lines'.split(' '),
);

/** The same, but parts of the receiver are passed on. */
const READING_METHODS: ReadonlySet<string> = new Set(
  'map filter reduce any all every none find find_index get values entries sum min max first last'.split(' '),
);

interface Callee {
  /** JavaScript of the function to call. */
  readonly code: string;
  readonly isAsync: boolean;
  /** Nothing is known of it: the answer may be a promise or a tail call. */
  readonly isUnknown: boolean;
  readonly bounces: boolean;
}

/** A call of a bare name. */
export function emitCall(fn: FunctionState, node: Extract<Expression, { kind: 'Call' }>): Code {
  const { callee } = node;
  const variable = fn.variable(callee);
  if (variable === undefined && fn.module.environment.imports.get(callee.name) === undefined) {
    return emitFreeCall(fn, node);
  }
  const target = resolveCallee(fn, callee, variable);
  const args = emitElements(fn, node.args);
  return any(finishCall(fn, target, `${line(node.span.line)}${target.code}(${callArguments(fn, args)})`));
}

function callArguments(fn: FunctionState, args: string, depth = 'd + 64'): string {
  fn.makesCalls = true;
  return args === '' ? `${fn.context}, ${depth}` : `${fn.context}, ${depth}, ${args}`;
}

function resolveCallee(fn: FunctionState, callee: Identifier, variable: Variable | undefined): Callee {
  const { module } = fn;
  if (variable === undefined) {
    const imported = module.environment.imports.get(callee.name);
    if (imported === undefined) throw new Error(`no import is named ${callee.name}`);
    const code = `m${imported.module}.${imported.name}`;
    if (imported.kind === 'value')
      return {
        code: `${place(callee.span)}R.callable(${code}, ${JSON.stringify(callee.name)})`,
        isAsync: false,
        isUnknown: true,
        bounces: true,
      };
    return { code, isAsync: imported.isAsync, isUnknown: false, bounces: imported.bounces };
  }
  const { declaration } = variable;
  if (declaration?.kind === 'Function') {
    return {
      code: variable.isTopLevel ? variable.jsName : `${place(callee.span)}R.callable(${variable.jsName}, ${JSON.stringify(variable.name)})`,
      isAsync: !isProducer(declaration) && module.colours.isAsync(declaration),
      isUnknown: false,
      bounces: handsOn(module, declaration),
    };
  }
  const value = variable.isReassigned || variable.role !== 'let' ? undefined : variable.values[0];
  if (value?.kind === 'Closure' && variable.declaration === undefined) {
    return { code: variable.jsName, isAsync: module.colours.isAsync(value), isUnknown: false, bounces: handsOn(module, value) };
  }
  const name = variable.jsName;
  return {
    code: `(typeof ${name} === "function" ? ${name} : ${place(callee.span)}R.callable(${name}, ${JSON.stringify(variable.name)}${hiddenBuiltin(fn, variable.name)}))`,
    isAsync: false,
    isUnknown: true,
    bounces: true,
  };
}

/** A variable hides a builtin from calls only when it holds a function (spec/language.md 5.2). */
function hiddenBuiltin(fn: FunctionState, name: string): string {
  const colour = fn.module.environment.builtins.get(name);
  return colour === undefined || (colour !== 'sync' && !fn.isAsync) ? '' : `, ${builtin(fn.module, name)}`;
}

/** Runs tail calls and awaits what has to be awaited. */
function finishCall(fn: FunctionState, target: Callee, call: string): string {
  if (target.isUnknown) return settleUnknown(fn, call);
  if (target.isAsync && fn.isAsync) {
    if (!target.bounces) return `(await ${call})`;
    const t = fn.temp();
    return `((${t} = await ${call}) instanceof TailCall ? await R.bounce(${fn.context}, d, ${t}) : ${t})`;
  }
  if (!target.bounces) return call;
  const t = fn.temp();
  return `((${t} = ${call}) instanceof TailCall ? R.bounce(${fn.context}, d, ${t}) : ${t})`;
}

function settleUnknown(fn: FunctionState, call: string): string {
  const t = fn.temp();
  if (!fn.isAsync) return `((${t} = ${call}) instanceof TailCall ? R.bounce(${fn.context}, d, ${t}) : ${t})`;
  return `((${t} = ${call}) instanceof Promise || ${t} instanceof TailCall ? await R.bounce(${fn.context}, d, ${t}) : ${t})`;
}

/** A name that nothing in scope declares: struct constructors, builtins, values of the run, or nothing at all. */
function emitFreeCall(fn: FunctionState, node: Extract<Expression, { kind: 'Call' }>): Code {
  const { module } = fn;
  const { name } = node.callee;
  const { builtins, globals } = module.environment;
  if (module.structs.has(name)) {
    const args = emitElements(fn, node.args);
    return any(`R.struct(${JSON.stringify(name)}, ${args === '' ? 'undefined' : args})`);
  }
  if (globals.has(name) && !builtins.has(name)) {
    const args = emitElements(fn, node.args);
    return any(
      settleUnknown(
        fn,
        `${line(node.span.line)}${place(node.callee.span)}R.callable(${globalName(fn, name)}, ${JSON.stringify(name)})(${callArguments(fn, args)})`,
      ),
    );
  }
  const colour = builtins.get(name);
  if (colour === undefined) {
    emitElements(fn, node.args);
    return any(undefinedName(fn, node.callee, 'undefinedCall'));
  }
  const inlined = emitInlined(fn, node);
  if (inlined !== undefined) return inlined;
  const use: Use = PEEKING_BUILTINS.has(name) && node.args.every((arg) => arg.kind !== 'Spread') ? 'peek' : 'keep';
  const args =
    use === 'peek'
      ? emitOperands(fn, node.args as readonly Expression[], 'peek')
          .map(boxed)
          .join(', ')
      : emitElements(fn, node.args);
  const at = place(node.span);
  const call = `${line(node.span.line)}${at}${builtin(module, name)}(${callArguments(fn, args)})`;
  if (colour === 'sync') return any(call);
  if (colour === 'async' && fn.isAsync) return any(`(${at}await ${call})`);
  if (!fn.isAsync) return any(call);
  const t = fn.temp();
  return any(`((${t} = ${call}) instanceof Promise ? ${at}await ${t} : ${t})`);
}

/** The few builtins that hot loops call all the time. */
function emitInlined(fn: FunctionState, node: Extract<Expression, { kind: 'Call' }>): Code | undefined {
  const [first] = node.args;
  if (node.args.length !== 1 || first === undefined || first.kind === 'Spread') return undefined;
  if (node.callee.name === 'abs') {
    const { first: value, again } = reuse(fn, any(emitValue(fn, first, 'peek')));
    return any(
      `(typeof ${value} === "number" ? Math.abs(${again}) : ${line(node.span.line)}${builtin(fn.module, 'abs')}(${callArguments(fn, again)}))`,
    );
  }
  if (node.callee.name === 'len') return { code: `R.len(${emitValue(fn, first, 'peek')})`, kind: 'num' };
  return undefined;
}

/** `v |> f`. */
export function emitPipe(fn: FunctionState, node: Extract<Expression, { kind: 'Pipe' }>): Code {
  const { right } = node;
  if (right.kind === 'Identifier') {
    return emitCall(fn, { kind: 'Call', callee: right, typeArgs: [], args: [node.left], span: node.span });
  }
  const [value, callee] = emitOperands(fn, [node.left, right]) as [Code, Code];
  const isKnown = right.kind === 'Closure';
  const call = `${line(right.span.line)}${place(right.span)}R.pipeTarget(${boxed(callee)})(${callArguments(fn, boxed(value))})`;
  if (isKnown) {
    return any(
      finishCall(fn, { code: '', isAsync: fn.module.colours.isAsync(right), isUnknown: false, bounces: handsOn(fn.module, right) }, call),
    );
  }
  return any(settleUnknown(fn, call));
}

/** `x.m(args)`: enum construction, a struct's own method, or whatever the receiver turns out to be. */
export function emitMethodCall(fn: FunctionState, node: Extract<Expression, { kind: 'MethodCall' }>): Code {
  const { receiver, name } = node;
  if (receiver.kind === 'Identifier' && fn.variable(receiver) === undefined) {
    if (isEnumName(fn, receiver.name) && !node.isOptional) {
      return any(emitVariant(fn, receiver.name, name, node.args));
    }
  }
  const { builtins } = fn.module.environment;
  // Whatever the receiver is called: it may be the harness.
  if (builtins.has(`harness.${name}`)) fn.module.usedGlobals.add(`harness.${name}`);
  const hasSpread = node.args.some((arg) => arg.kind === 'Spread');
  // A method that a script gives to its own struct may keep the receiver, whatever its name.
  const isBuiltIn = !fn.module.implemented.has(name) && fn.module.environment.importedStructs.size === 0;
  const use: Use = !isBuiltIn ? 'keep' : PEEKING_METHODS.has(name) ? 'peek' : READING_METHODS.has(name) ? 'read' : 'keep';
  const values = emitOperandsWithReceiver(fn, receiver, use, node.args);
  const target = reuse(fn, any(values.receiver));
  const own = node.isOptional || hasSpread ? undefined : ownMethod(fn, name);
  fn.makesCalls = true;
  const at = `${line(node.nameSpan.line)}${place(node.nameSpan)}`;
  // Mentioned in both calls below: a call within a call within a call would double at every level.
  const given = own === undefined ? [] : values.args.map((arg) => (isPlain(arg) ? { first: arg, again: arg } : reuse(fn, any(arg))));
  const args = own === undefined ? values.args : given.map(({ again }) => again);
  const general = `${at}M.${node.isOptional ? 'callMethodOptional' : 'callMethod'}(${fn.context}, d, ${own ? target.again : target.first}, ${JSON.stringify(name)}, [${args.join(', ')}])`;
  const waits = fn.isAsync && (own === undefined || fn.module.colours.nodeWaits(node));
  const settled = (call: string): string => {
    if (!waits) return call;
    const t = fn.temp();
    return `((${t} = ${call}) instanceof Promise ? ${place(node.nameSpan)}await ${t} : ${t})`;
  };
  if (own === undefined) return any(settled(general));
  const direct = `${at}${own.jsName}(${[fn.context, 'd + 64', target.again, ...args].join(', ')})`;
  const finished = finishCall(
    fn,
    { code: '', isAsync: fn.module.colours.isAsync(own.node), isUnknown: false, bounces: handsOn(fn.module, own.node) },
    direct,
  );
  const evaluated = given.filter(({ first, again }) => first !== again).map(({ first }) => `${first}, `);
  const receiverFirst = evaluated.length === 0 ? target.first : target.again;
  const before = evaluated.length === 0 ? '' : `${target.first === target.again ? '' : `${target.first}, `}${evaluated.join('')}`;
  return any(
    `(${before}${receiverFirst} instanceof StructValue && ${target.again}.structName === ${JSON.stringify(own.struct)} ? ${finished} : ${settled(general)})`,
  );
}

/** A name, a number or a text: as short as a name for it would be. */
function isPlain(code: string): boolean {
  return /^(?:[$\w]+|-\d+|"(?:[^"\\]|\\.){0,40}")$/.test(code);
}

/** `E.V(a, b)`: payloads of up to three values go straight into the object. */
function emitVariant(fn: FunctionState, enumName: string, variant: string, args: readonly Element[]): string {
  const payload = emitElements(fn, args);
  const kind = args.some(({ kind: form }) => form === 'Spread') ? undefined : ['', 'One', 'Two', 'Three'][args.length];
  if (!kind) return `R.enumValue(${JSON.stringify(enumName)}, ${JSON.stringify(variant)}, [${payload}])`;
  return `new EnumOf${kind}(${JSON.stringify(enumName)}, ${JSON.stringify(variant)}, ${payload})`;
}

function ownMethod(
  fn: FunctionState,
  name: string,
): { readonly struct: string; readonly node: FunctionDeclaration; readonly jsName: string } | undefined {
  const methods = fn.module.methods.get(name);
  return methods?.length === 1 ? methods[0] : undefined;
}

function emitOperandsWithReceiver(
  fn: FunctionState,
  receiver: Expression,
  use: Use,
  args: readonly Element[],
): { readonly receiver: string; readonly args: readonly string[] } {
  const plain = args.map((arg) => (arg.kind === 'Spread' ? arg.value : arg));
  const [head, ...values] = emitOperands(fn, [receiver, ...plain], 'keep', use).map(boxed);
  const list = args.map((arg, index) =>
    arg.kind === 'Spread' ? `...${place(arg.value.span)}R.spreadList(${values[index]})` : (values[index] as string),
  );
  return { receiver: head as string, args: list };
}

/** `return f(…)` where nothing is left to do afterwards; undefined when it is no call that can be handed on. */
export function emitTailCall(fn: FunctionState, value: Expression): string | undefined {
  const call =
    value.kind === 'Call' ? value : value.kind === 'Pipe' && value.right.kind === 'Identifier' ? pipeAsCall(value, value.right) : undefined;
  if (call === undefined || fn.guarded > 0 || fn.scope.hasDefer || fn.producer !== undefined) return undefined;
  if (call.args.some((arg) => arg.kind === 'Spread')) return undefined;
  const variable = fn.variable(call.callee);
  if (variable === undefined && !fn.module.environment.imports.has(call.callee.name)) return undefined;
  if (variable?.declaration !== undefined && variable.declaration.kind !== 'Function') return undefined;
  const self = variable && emitSelfCall(fn, call, variable);
  if (self !== undefined) return self;
  const target = resolveCallee(fn, call.callee, variable);
  if (!fn.isAsync && target.isAsync) return undefined;
  const args = emitOperands(fn, call.args as readonly Expression[])
    .map(boxed)
    .join(', ');
  const callee = fn.temp();
  fn.makesCalls = true;
  const direct = `${line(call.span.line)}${callee}(${fn.context}, d + 1${args === '' ? '' : `, ${args}`})`;
  return `${callee} = ${target.code}; return (d & 63) === 63 ? new TailCall(${callee}, [${args}]) : ${direct};`;
}

function pipeAsCall(node: Extract<Expression, { kind: 'Pipe' }>, callee: Identifier): Extract<Expression, { kind: 'Call' }> {
  return { kind: 'Call', callee, typeArgs: [], args: [node.left], span: node.span };
}

/** A function that calls itself last goes back to its start with new parameters. */
function emitSelfCall(fn: FunctionState, call: Extract<Expression, { kind: 'Call' }>, variable: Variable): string | undefined {
  const { self } = fn;
  if (self === undefined || variable.declaration !== self) return undefined;
  const params = self.params.map((param) => fn.module.resolution.declared(param, param.name));
  if (self.params.some((param) => param.isRest || param.defaultValue !== undefined) || params.some((param) => param.isCaptured))
    return undefined;
  if (changesItsCopies(fn)) return undefined;
  const args = emitOperands(fn, call.args as readonly Expression[]).map(boxed);
  fn.usesSelfLoop = true;
  const news = params.map((_, index) => {
    const name = fn.temp();
    return { name, value: args[index] ?? 'undefined' };
  });
  const evaluate = news.map(({ name, value }) => `${name} = ${value};`).join(' ');
  const surplus = args.slice(params.length).map((arg) => `${arg};`);
  const assign = params.map((param, index) => `${param.jsName} = ${news[index]?.name};`).join(' ');
  return `${evaluate} ${surplus.join(' ')} ${assign} continue SELF;`;
}

/** Each call starts with captured values as they were: one that changes them cannot just go back to its start. */
function changesItsCopies(fn: FunctionState): boolean {
  const { references } = fn.module.resolution;
  const isForeign = (root: Identifier): boolean => {
    const variable = references.get(root);
    return variable !== undefined && variable.owner !== fn.scope;
  };
  return fn.scope.assigned.some(isForeign);
}
