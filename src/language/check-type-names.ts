import { nearestName } from '../base/near-name.ts';
import type { Parameter, TypeNode, TypeParameter } from './ast.ts';
import { CHECKER_CODES } from './check-codes.ts';
import type { CheckState } from './check-state.ts';
import { isKnownTypeName, KNOWN_TYPE_NAMES } from './type-resolve.ts';
import type { TreeNode } from './walk.ts';

/** What other languages call the types of Harn. */
const FOREIGN: Readonly<Record<string, string>> = {
  number: 'write `int` or `float`',
  Number: 'write `int` or `float`',
  num: 'write `int` or `float`',
  integer: 'write `int`',
  Int: 'write `int`',
  i32: 'write `int`',
  i64: 'write `int`',
  long: 'write `int`',
  double: 'write `float`',
  Float: 'write `float`',
  f64: 'write `float`',
  decimal: 'write `float`',
  str: 'write `string`',
  String: 'write `string`',
  char: 'write `string`',
  text: 'write `string`',
  boolean: 'write `bool`',
  Boolean: 'write `bool`',
  Bool: 'write `bool`',
  Array: 'write `list<T>`',
  array: 'write `list<T>`',
  List: 'write `list<T>`',
  tuple: 'write `list`, or `pair<A, B>`',
  Vec: 'write `list<T>`',
  Record: 'write `dict<string, V>`, or a shape `{name: string}`',
  Map: 'write `dict<string, V>`',
  map: 'write `dict<string, V>`',
  Dict: 'write `dict<string, V>`, or a shape `{name: string}`',
  object: 'write `dict`, or a shape `{name: string}`',
  Object: 'write `dict`, or a shape `{name: string}`',
  Set: 'write `set`',
  null: 'write `nil`',
  None: 'write `nil`',
  undefined: 'write `nil`',
  void: 'write `nil`',
  Void: 'write `nil`',
  function: 'write `fn(A) -> B`, or `closure`',
  Function: 'write `fn(A) -> B`, or `closure`',
  Callable: 'write `fn(A) -> B`, or `closure`',
  func: 'write `fn(A) -> B`, or `closure`',
  Any: 'write `any`',
  Optional: 'write `T | nil`',
  Option: 'write `T | nil`',
  Union: 'write `A | B`',
  Promise: 'leave it out: a call that has to wait simply waits',
  Future: 'leave it out: a call that has to wait simply waits',
  Error: 'leave it out: any value can be thrown',
};

/**
 * Names in type positions that nothing declares. Such an annotation is never checked (spec/language.md 8.8), so a
 * misspelt one goes unnoticed for ever.
 */
export function checkTypeNames(state: CheckState): void {
  if (!state.environment.isComplete) return;
  const uses: { readonly name: string; readonly node: TypeNode }[] = [];
  const declared = new Set<string>();
  for (const node of state.environment.names.annotated) readTypes(node, declared, (type) => collectNames(type, uses));
  for (const { name, node } of uses) {
    if (declared.has(name) || isKnownTypeName(name) || state.fileScope.type(name) !== undefined) continue;
    const near = Object.hasOwn(FOREIGN, name)
      ? name
      : nearestName(name, [...KNOWN_TYPE_NAMES, ...declared, ...state.fileScope.types.keys(), ...Object.keys(FOREIGN)]);
    const help = near && (Object.hasOwn(FOREIGN, near) ? FOREIGN[near] : `did you mean \`${near}\`?`);
    state.warn(`unknown type '${name}': nothing is checked here`, node.span, { code: CHECKER_CODES.unknownType.code, help });
  }
}

function collectNames(node: TypeNode, uses: { name: string; node: TypeNode }[]): void {
  switch (node.kind) {
    case 'LiteralType':
      return;
    case 'ShapeType':
      for (const field of node.fields) collectNames(field.type, uses);
      return;
    case 'FunctionType':
      for (const type of [...node.params, node.result]) collectNames(type, uses);
      return;
    case 'UnionType':
    case 'IntersectionType':
      for (const member of node.members) collectNames(member, uses);
      return;
    case 'NamedType':
      uses.push({ name: node.name, node });
      for (const arg of node.args) collectNames(arg, uses);
  }
}

/** The types that stand in one node itself, and the names of types that it declares. */
function readTypes(node: TreeNode, declared: Set<string>, read: (type: TypeNode) => void): void {
  const maybe = (type: TypeNode | undefined): void => {
    if (type !== undefined) read(type);
  };
  const params = (list: readonly Parameter[]): void => {
    for (const { type } of list) maybe(type);
  };
  const generics = (list: readonly TypeParameter[]): void => {
    for (const { name } of list) declared.add(name);
  };
  switch (node.kind) {
    case 'Function':
      generics(node.typeParams);
      params(node.params);
      maybe(node.returnType);
      for (const bound of node.bounds) for (const type of bound.interfaces) read(type);
      break;
    case 'Tool':
    case 'Pipeline':
    case 'Closure':
      params(node.params);
      maybe(node.returnType);
      break;
    case 'Binding':
      maybe(node.type);
      break;
    case 'Call':
      for (const type of node.typeArgs) read(type);
      break;
    case 'TypeAlias':
      declared.add(node.name);
      generics(node.typeParams);
      read(node.type);
      break;
    case 'Struct':
      declared.add(node.name);
      generics(node.typeParams);
      for (const { type } of node.fields) maybe(type);
      break;
    case 'Enum':
      declared.add(node.name);
      generics(node.typeParams);
      for (const variant of node.variants) params(variant.params);
      break;
    case 'Interface':
      declared.add(node.name);
      generics(node.typeParams);
      for (const { name, type } of node.associated) {
        declared.add(name);
        maybe(type);
      }
      for (const method of node.methods) {
        generics(method.typeParams);
        params(method.params);
        maybe(method.returnType);
      }
      break;
    default:
      break;
  }
}
