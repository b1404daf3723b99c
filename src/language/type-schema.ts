import type { TypeNode } from './ast.ts';
import type { SchemaJson } from './tool-schema.ts';

/**
 * The schema that stands in for a type alias where a value is wanted (spec/language.md 8.9): plain JSON, embedded in
 * emitted code. Aliases are expanded in place; one that contains itself is written once under `definitions` and
 * referred to.
 */
export function typeSchema(aliases: ReadonlyMap<string, TypeNode>, name: string): SchemaJson {
  const builder = new SchemaBuilder(aliases);
  const schema = builder.buildAlias(name, []);
  return builder.definitions.size === 0 ? schema : { ...(schema as object), definitions: Object.fromEntries(builder.definitions) };
}

const BASE: ReadonlySet<string> = new Set(['any', 'int', 'float', 'string', 'bool', 'nil', 'list', 'dict', 'set', 'closure', 'bytes']);

class SchemaBuilder {
  readonly definitions = new Map<string, SchemaJson>();
  readonly #aliases: ReadonlyMap<string, TypeNode>;
  readonly #recursive = new Set<string>();

  constructor(aliases: ReadonlyMap<string, TypeNode>) {
    this.#aliases = aliases;
  }

  build(type: TypeNode, inside: readonly string[]): SchemaJson {
    switch (type.kind) {
      case 'LiteralType':
        return { type: literalKind(type.value), const: literal(type.value) };
      case 'FunctionType':
        return { type: 'closure' };
      case 'ShapeType':
        return {
          type: 'dict',
          properties: Object.fromEntries(type.fields.map((field) => [field.name, this.build(field.type, inside)])),
          required: type.fields.filter((field) => !field.isOptional).map((field) => field.name),
        };
      case 'IntersectionType':
        return { all_of: type.members.map((member) => this.build(member, inside)) };
      case 'UnionType':
        return literalUnion(type.members) ?? { union: type.members.map((member) => this.build(member, inside)) };
      case 'NamedType':
        return this.#named(type.name, type.args, inside);
    }
  }

  buildAlias(name: string, inside: readonly string[]): SchemaJson {
    const alias = this.#aliases.get(name);
    if (alias === undefined) return { type: 'any' };
    if (inside.includes(name)) {
      this.#recursive.add(name);
      return { $ref: `#/definitions/${name}` };
    }
    const schema = this.build(alias, [...inside, name]);
    if (this.#recursive.has(name)) this.definitions.set(name, schema);
    return schema;
  }

  #named(name: string, args: readonly TypeNode[], inside: readonly string[]): SchemaJson {
    const [first, second] = args;
    if (name === 'list' && first !== undefined) return { type: 'list', items: this.build(first, inside) };
    if (name === 'dict' && second !== undefined) return { type: 'dict', additional_properties: this.build(second, inside) };
    return BASE.has(name) ? { type: name } : this.buildAlias(name, inside);
  }
}

/** A union of literals of one kind is an enumeration. */
function literalUnion(members: readonly TypeNode[]): SchemaJson | undefined {
  const values: (string | bigint)[] = [];
  for (const member of members) {
    if (member.kind !== 'LiteralType') return undefined;
    values.push(member.value);
  }
  const [first] = values;
  if (first === undefined || values.some((value) => typeof value !== typeof first)) return undefined;
  return { type: literalKind(first), enum: values.map(literal) };
}

function literalKind(value: string | bigint): string {
  return typeof value === 'string' ? 'string' : 'int';
}

function literal(value: string | bigint): string | number {
  return typeof value === 'bigint' ? Number(value) : value;
}
