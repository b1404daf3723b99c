import type { Attribute, FunctionDeclaration, Parameter, Pipeline, Statement, ToolDeclaration, TypeParameter } from './ast.ts';
import type { Scope } from './check-scope.ts';
import type { CheckState } from './check-state.ts';
import { abstractScope, resolveType } from './type-resolve.ts';
import { ANY, type FunctionType, generic, listOf, type Type, union } from './types.ts';
import { isProducer } from './walk.ts';

interface SignatureParameter {
  readonly name: string;
  readonly type: Type;
  /** `int | any` takes everything and makes something of an int only. */
  readonly meant: Type | undefined;
}

/** What a caller has to know of a function. Its type parameters appear as types of their own. */
export interface Signature {
  readonly kind: 'function' | 'builtin';
  readonly name: string;
  readonly typeParams: readonly TypeParameter[];
  /** Without `self` and the rest parameter. */
  readonly params: readonly SignatureParameter[];
  readonly required: number;
  /** What each further argument is; undefined when there is no rest parameter. */
  readonly rest: SignatureParameter | undefined;
  readonly result: Type;
  readonly bounds: readonly { readonly parameter: string; readonly wanted: Type }[];
}

type Callable = FunctionDeclaration | ToolDeclaration | Pipeline;

export function attributesOf(statement: Statement | undefined): readonly Attribute[] {
  return statement?.kind === 'Attributed' ? statement.attributes : [];
}

export function isCallableDeclaration(statement: Statement): statement is Callable {
  return statement.kind === 'Function' || statement.kind === 'Tool' || statement.kind === 'Pipeline';
}

/** `scope` is the one in which the function is declared. */
export function signatureOf(state: CheckState, node: Callable, scope: Scope): Signature {
  const known = state.signatures.get(node);
  if (known !== undefined) return known;
  const signature = readSignature(node, scope);
  state.signatures.set(node, signature);
  return signature;
}

/** `scope` is the one in which its types are looked up. */
export function readSignature(node: Callable, outer: Scope): Signature {
  const typeParams = node.kind === 'Function' ? node.typeParams : [];
  const scope = abstractScope(typeParams, outer);
  const own = node.params.filter((param, index) => !param.isRest && !(index === 0 && param.name === 'self'));
  const rest = node.params.find((param) => param.isRest);
  const firstDefault = own.findIndex((param) => param.defaultValue !== undefined);
  return {
    kind: 'function',
    name: node.name,
    typeParams,
    params: own.map((param) => ({ name: param.name, type: parameterType(param, scope), meant: meantType(param, scope) })),
    required: firstDefault === -1 ? own.length : firstDefault,
    rest: rest && { name: rest.name, type: parameterType(rest, scope), meant: meantType(rest, scope) },
    result: resultType(node, scope),
    bounds:
      node.kind === 'Function'
        ? node.bounds.flatMap(({ parameter, interfaces }) =>
            interfaces.map((wanted) => ({ parameter, wanted: resolveType(wanted, scope) })),
          )
        : [],
  };
}

function meantType({ type }: Parameter, scope: Scope): Type | undefined {
  if (type?.kind !== 'UnionType') return undefined;
  const meant = type.members.filter((member) => member.kind !== 'NamedType' || member.name !== 'any');
  return meant.length === type.members.length ? undefined : union(meant.map((member) => resolveType(member, scope)));
}

function parameterType(param: Parameter, scope: Scope): Type {
  return param.type === undefined ? ANY : resolveType(param.type, scope);
}

function resultType(node: Callable, scope: Scope): Type {
  if (node.returnType !== undefined) return resolveType(node.returnType, scope);
  if (node.kind !== 'Function' || !isProducer(node)) return ANY;
  return generic(node.isStream ? 'Stream' : 'Generator', [ANY]);
}

/** The function as a value. */
export function signatureType(signature: Signature): FunctionType {
  const { params, result, required, rest } = signature;
  return {
    kind: 'function',
    params: params.map(({ type }) => type),
    result,
    required,
    hasRest: rest !== undefined,
    names: params.map(({ name }) => name),
  };
}

/** The type a parameter has inside of the body. */
export function parameterInside(param: Parameter, scope: Scope): Type {
  const type = parameterType(param, scope);
  return param.isRest ? listOf(type) : type;
}
