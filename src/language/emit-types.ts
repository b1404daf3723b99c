import type { TypeNode } from './ast.ts';

/**
 * What an emitted module needs of its types at run time, as plain data that is embedded as JSON:
 * descriptors for parameter checks (spec/language.md 8.8). `undefined` means that nothing is enforced.
 */
export type TypeDescriptor =
  | { readonly t: 'scalar'; readonly name: string }
  | { readonly t: 'list'; readonly item?: TypeDescriptor }
  | { readonly t: 'dict'; readonly value?: TypeDescriptor }
  | {
      readonly t: 'shape';
      readonly fields: readonly {
        readonly name: string;
        readonly optional: boolean;
        readonly type?: TypeDescriptor;
        readonly text: string;
      }[];
    }
  | { readonly t: 'union'; readonly members: readonly TypeDescriptor[] }
  | { readonly t: 'literal'; readonly value: string | number }
  | { readonly t: 'callable' }
  | { readonly t: 'interface'; readonly name: string };

const SCALARS: ReadonlySet<string> = new Set(['int', 'float', 'string', 'bool', 'nil', 'closure', 'bytes', 'set']);

/** Names a type can refer to in its file: aliases (expanded), interfaces (checked loosely), parameters (not checked). */
export interface TypeNames {
  readonly aliases: ReadonlyMap<string, TypeNode>;
  readonly interfaces: ReadonlySet<string>;
}

/** Builds the descriptor of an annotation; recursion through an alias stops unchecked. */
export function describeType(type: TypeNode, names: TypeNames, seen: ReadonlySet<string> = new Set()): TypeDescriptor | undefined {
  const inner = (node: TypeNode): TypeDescriptor | undefined => describeType(node, names, seen);
  switch (type.kind) {
    case 'LiteralType':
      return { t: 'literal', value: typeof type.value === 'bigint' ? Number(type.value) : type.value };
    case 'FunctionType':
      return { t: 'callable' };
    case 'ShapeType':
      return {
        t: 'shape',
        fields: type.fields.map((field) =>
          withType({ name: field.name, optional: field.isOptional, text: renderType(field.type) }, inner(field.type)),
        ),
      };
    case 'IntersectionType': {
      const members = type.members.map(inner);
      const fields = members.flatMap((member) => (member?.t === 'shape' ? member.fields : []));
      return members.every((member) => member?.t === 'shape') ? { t: 'shape', fields } : undefined;
    }
    case 'UnionType': {
      const members = type.members.map(inner);
      return members.every((member) => member !== undefined) ? { t: 'union', members: members as TypeDescriptor[] } : undefined;
    }
    case 'NamedType': {
      if (SCALARS.has(type.name)) return { t: 'scalar', name: type.name };
      if (type.name === 'list') {
        const item = type.args[0] && inner(type.args[0]);
        return item === undefined ? { t: 'list' } : { t: 'list', item };
      }
      if (type.name === 'dict') {
        const value = type.args[1] && inner(type.args[1]);
        return value === undefined ? { t: 'dict' } : { t: 'dict', value };
      }
      if (names.interfaces.has(type.name)) return { t: 'interface', name: type.name };
      const alias = names.aliases.get(type.name);
      if (alias === undefined || seen.has(type.name)) return undefined;
      return describeType(alias, names, new Set([...seen, type.name]));
    }
  }
}

function withType<T extends object>(field: T, type: TypeDescriptor | undefined): T & { type?: TypeDescriptor } {
  return type === undefined ? field : { ...field, type };
}

/** A type as messages print it (spec/language.md 8.2). */
export function renderType(type: TypeNode): string {
  switch (type.kind) {
    case 'NamedType':
      return type.args.length === 0 ? type.name : `${type.name}<${type.args.map(renderType).join(', ')}>`;
    case 'LiteralType':
      return typeof type.value === 'bigint' ? String(type.value) : JSON.stringify(type.value);
    case 'ShapeType':
      return `{${type.fields.map((field) => `${field.name}${field.isOptional ? '?' : ''}: ${renderType(field.type)}`).join(', ')}}`;
    case 'FunctionType':
      return `fn(${type.params.map(renderType).join(', ')}) -> ${renderType(type.result)}`;
    case 'UnionType':
      return type.members.map(renderType).join(' | ');
    case 'IntersectionType':
      return type.members.map(renderType).join(' & ');
  }
}
