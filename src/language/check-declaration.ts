import type { Attribute, FunctionDeclaration, ImplDeclaration, Parameter, Pipeline, Statement, ToolDeclaration } from './ast.ts';
import { CHECKER_CODES } from './check-codes.ts';
import { parameterInside } from './check-signature.ts';
import type { CheckState, Frame } from './check-state.ts';
import { checkLostResult } from './check-useless.ts';
import { checkVariance } from './check-variance.ts';
import { abstractScope, resolveType } from './type-resolve.ts';
import { ANY, generic, renderType, type Type } from './types.ts';
import { isProducer } from './walk.ts';

export function checkDeclaration(state: CheckState, node: Statement): void {
  switch (node.kind) {
    case 'Attributed':
      for (const attribute of node.attributes) checkAttribute(state, attribute, node.declaration);
      checkDeclaration(state, node.declaration);
      break;
    case 'Function':
      checkVariance(state, node);
      checkFunction(state, node);
      checkLostResult(state, node);
      break;
    case 'Tool':
      checkBody(state, node, { kind: 'tool', emits: undefined });
      break;
    case 'Pipeline':
      checkMain(state, node);
      checkBody(state, node, { kind: 'pipeline', emits: undefined });
      break;
    case 'Override':
      state.activation(newFrame('function'), () => {
        for (const param of node.params) state.declare(param.name, ANY);
        state.statements(node.body.statements);
      });
      break;
    case 'Impl':
      checkImpl(state, node);
      break;
    case 'Skill':
      for (const field of node.fields) state.infer(field.value);
      break;
    case 'EvalPack':
      state.activation(newFrame('pipeline'), () => {
        for (const field of node.fields) state.infer(field.value);
        state.statements(node.body);
        if (node.summarize !== undefined) state.block(node.summarize);
      });
      break;
    case 'TypeAlias':
    case 'Enum':
    case 'Struct':
    case 'Interface':
      checkVariance(state, node);
      break;
    default:
      break;
  }
}

function newFrame(kind: Frame['kind']): Frame {
  return { kind, result: undefined, emits: undefined, returned: [], bounds: new Map() };
}

function checkFunction(state: CheckState, node: FunctionDeclaration, self?: Type): void {
  if (node.name === 'main' && state.scope === state.fileScope) checkMain(state, node);
  const scope = abstractScope(node.typeParams, state.scope);
  const declared = node.returnType && resolveType(node.returnType, scope);
  if (node.isStream) {
    const isStream = declared === undefined || declared.kind === 'any' || (declared.kind === 'generic' && declared.name === 'Stream');
    if (!isStream) state.error(`\`gen fn\` must return Stream<T>, got ${renderType(declared)}`, node.span);
    const emits = declared?.kind === 'generic' && declared.name === 'Stream' ? declared.args[0] : undefined;
    checkBody(state, node, { kind: 'stream', emits }, self);
  } else {
    checkBody(state, node, { kind: 'function', emits: undefined }, self);
  }
}

function checkBody(
  state: CheckState,
  node: FunctionDeclaration | ToolDeclaration | Pipeline,
  { kind, emits }: Pick<Frame, 'kind' | 'emits'>,
  self?: Type,
): void {
  const typeParams = node.kind === 'Function' ? node.typeParams : [];
  const outer = state.scope;
  const scope = abstractScope(typeParams, outer);
  const bounds = new Map<string, Type[]>();
  for (const bound of node.kind === 'Function' ? node.bounds : []) {
    const wanted = bound.interfaces.map((type) => resolveType(type, scope));
    bounds.set(bound.parameter, [...(bounds.get(bound.parameter) ?? []), ...wanted]);
  }
  const frame: Frame = { kind, result: returnable(node, scope, kind), emits, returned: [], bounds };
  state.nested(
    () =>
      state.activation(frame, () => {
        for (const param of node.params) checkParameter(state, param, scope, self);
        state.body(node.body);
      }),
    scope,
  );
}

/** What `return` has to fit. A generator takes nothing: its values go out through `yield`. */
function returnable(
  node: FunctionDeclaration | ToolDeclaration | Pipeline,
  scope: typeof CheckState.prototype.scope,
  kind: Frame['kind'],
): Type | undefined {
  if (node.returnType !== undefined) return resolveType(node.returnType, scope);
  if (kind === 'stream') return generic('Stream', [ANY]);
  return kind === 'function' && isProducer(node) ? generic('Generator', [ANY]) : undefined;
}

function checkParameter(state: CheckState, param: Parameter, scope: typeof state.scope, self: Type | undefined): void {
  const type = param.name === 'self' && param.type === undefined && self !== undefined ? self : parameterInside(param, scope);
  if (param.defaultValue !== undefined) state.infer(param.defaultValue);
  state.declare(param.name, type);
}

function checkImpl(state: CheckState, node: ImplDeclaration): void {
  const meaning = state.scope.type(node.name);
  const struct = meaning?.kind === 'declared' && meaning.node.kind === 'Struct' ? { node: meaning.node, scope: meaning.scope } : undefined;
  const self: Type = struct === undefined ? ANY : { kind: 'struct', declaration: struct, args: struct.node.typeParams.map(() => ANY) };
  state.nested(
    () => {
      for (const method of node.methods) {
        checkFunction(state, method, self);
        checkLostResult(state, method);
      }
    },
    abstractScope(struct?.node.typeParams ?? [], state.scope),
  );
}

/** The first parameter of an entry point is the capability handle (spec/language.md 15.2). */
function checkMain(state: CheckState, node: FunctionDeclaration | Pipeline): void {
  if (state.environment.role !== 'entry' || node.name !== 'main') return;
  const [first] = node.params;
  if (first === undefined) return;
  // Pipelines of the older style take values that the host injects by name.
  if (node.kind === 'Pipeline' && node.params.every(({ name, type }) => type === undefined && INJECTED.has(name))) return;
  const isHandle = first.type === undefined || (first.type.kind === 'NamedType' && first.type.name === 'Harness');
  if ((first.name === 'harness' || first.name === '_harness') && isHandle) return;
  state.error(CHECKER_CODES.badMain.text, first.span, {
    code: CHECKER_CODES.badMain.code,
    help: `write \`${node.kind === 'Pipeline' ? 'pipeline' : 'fn'} main(harness: Harness)\``,
  });
}

const INJECTED: ReadonlySet<string> = new Set(['task', 'project', 'context', 'harness', '_task', '_project', '_context']);

const ATTRIBUTES: ReadonlySet<string> = new Set([
  'deprecated',
  'test',
  'complexity',
  'acp_tool',
  'acp_skill',
  'invariant',
  'deterministic',
  'semantic',
  'archivist',
  'retroactive',
  'retry',
]);

function checkAttribute(state: CheckState, attribute: Attribute, declaration: Statement): void {
  if (!ATTRIBUTES.has(attribute.name)) {
    state.warn(`unknown attribute \`@${attribute.name}\``, attribute.span);
  } else if (attribute.name === 'test' && declaration.kind !== 'Pipeline') {
    state.warn('`@test` only applies to pipeline declarations', attribute.span);
  } else if (attribute.name === 'acp_tool' && declaration.kind !== 'Function') {
    state.warn('`@acp_tool` only applies to function declarations', attribute.span);
  }
}
