import type { Expression, Parameter, TypeNode } from './ast.ts';
import type { TypeNames } from './emit-types.ts';

/** Plain JSON, as it is embedded in emitted code. */
export type SchemaJson = null | boolean | number | string | readonly SchemaJson[] | { readonly [key: string]: SchemaJson };

/** JSON Schema of a tool's parameters (spec/agents.md 2.1): a parameter with a default is optional and carries it. */
export function toolParameters(params: readonly Parameter[], names: TypeNames): SchemaJson {
  const properties: Record<string, SchemaJson> = {};
  const required: string[] = [];
  for (const param of params) {
    const schema = param.type === undefined ? {} : jsonSchema(param.type, names, new Set());
    const fallback = param.defaultValue === undefined ? undefined : literalJson(param.defaultValue);
    properties[param.name] = fallback === undefined ? schema : { ...(schema as object), default: fallback };
    if (param.defaultValue === undefined && !acceptsNil(param.type)) required.push(param.name);
  }
  return { type: 'object', properties, required };
}

function acceptsNil(type: TypeNode | undefined): boolean {
  return type?.kind === 'UnionType' && type.members.some((member) => member.kind === 'NamedType' && member.name === 'nil');
}

const BASE: Readonly<Record<string, string>> = {
  int: 'integer',
  float: 'number',
  string: 'string',
  bool: 'boolean',
  nil: 'null',
  list: 'array',
  dict: 'object',
  set: 'array',
  bytes: 'string',
};

/** A type as JSON Schema; what cannot be said there is left open. */
export function jsonSchema(type: TypeNode, names: TypeNames, seen: ReadonlySet<string>): SchemaJson {
  const inner = (node: TypeNode): SchemaJson => jsonSchema(node, names, seen);
  switch (type.kind) {
    case 'LiteralType':
      return { const: typeof type.value === 'bigint' ? Number(type.value) : type.value };
    case 'FunctionType':
      return {};
    case 'ShapeType': {
      const properties: Record<string, SchemaJson> = {};
      for (const field of type.fields) properties[field.name] = inner(field.type);
      return { type: 'object', properties, required: type.fields.filter((field) => !field.isOptional).map((field) => field.name) };
    }
    case 'IntersectionType':
      return { allOf: type.members.map(inner) };
    case 'UnionType': {
      const literals = type.members.map((member) =>
        member.kind === 'LiteralType' && typeof member.value === 'string' ? member.value : undefined,
      );
      if (literals.every((value) => value !== undefined)) return { type: 'string', enum: literals as string[] };
      return { anyOf: type.members.map(inner) };
    }
    case 'NamedType': {
      const base = BASE[type.name];
      if (type.name === 'list' && type.args[0] !== undefined) return { type: 'array', items: inner(type.args[0]) };
      if (type.name === 'dict' && type.args[1] !== undefined) return { type: 'object', additionalProperties: inner(type.args[1]) };
      if (base !== undefined) return { type: base };
      const alias = names.aliases.get(type.name);
      if (alias === undefined || seen.has(type.name)) return {};
      return jsonSchema(alias, names, new Set([...seen, type.name]));
    }
  }
}

/** The JSON of a literal default; undefined for an expression that has to be run. */
function literalJson(node: Expression): SchemaJson | undefined {
  switch (node.kind) {
    case 'Int':
      return Number(node.value);
    case 'Float':
      return node.value;
    case 'String':
      return node.value;
    case 'Bool':
      return node.value;
    case 'Nil':
      return null;
    case 'List': {
      const items = node.items.map((item) => (item.kind === 'Spread' ? undefined : literalJson(item)));
      return items.every((item) => item !== undefined) ? (items as SchemaJson[]) : undefined;
    }
    case 'Dict': {
      const result: Record<string, SchemaJson> = {};
      for (const entry of node.entries) {
        const value = entry.kind === 'Entry' && typeof entry.key === 'string' ? literalJson(entry.value) : undefined;
        if (value === undefined || entry.kind !== 'Entry' || typeof entry.key !== 'string') return undefined;
        result[entry.key] = value;
      }
      return result;
    }
    case 'Unary': {
      const value = node.operator === '-' ? literalJson(node.operand) : undefined;
      return typeof value === 'number' ? -value : undefined;
    }
    default:
      return undefined;
  }
}
