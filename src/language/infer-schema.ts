import type { Expression } from './ast.ts';
import type { CheckState } from './check-state.ts';
import { resolveType } from './type-resolve.ts';
import { ANY, generic, type Type } from './types.ts';

/** The type that a schema argument stands for: an alias, `schema_of(alias)`, or a value of type `Schema<T>`. */
export function schemaType(state: CheckState, node: Expression): Type {
  if (node.kind === 'Call' && node.callee.name === 'schema_of') {
    const [argument] = node.args;
    return argument === undefined || argument.kind === 'Spread' ? ANY : schemaType(state, argument);
  }
  if (node.kind !== 'Identifier') return ANY;
  const type = state.scope.value(node.name)?.type ?? aliasSchema(state, node.name);
  return type?.kind === 'generic' && type.name === 'Schema' ? (type.args[0] ?? ANY) : ANY;
}

/** A type alias in the place of a value is its schema. */
export function aliasSchema(state: CheckState, name: string): Type | undefined {
  const meaning = state.scope.type(name);
  if (meaning?.kind !== 'declared' || meaning.node.kind !== 'TypeAlias') return undefined;
  const { span } = meaning.node;
  return generic('Schema', [resolveType({ kind: 'NamedType', name, args: [], span }, meaning.scope)]);
}
