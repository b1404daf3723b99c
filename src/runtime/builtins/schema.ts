import type { BuiltinGroup } from '../builtin.ts';
import { mergeDicts } from '../dict.ts';
import { isTruthy } from '../equality.ts';
import { thrownText, typeError } from '../errors.ts';
import { type Defaults, type Validation, validate } from '../formats/schema.ts';
import { canonicalSchema, filterProperties, partialSchema, toJsonSchema, toOpenApiSchema } from '../formats/schema-dialect.ts';
import { errResult, okResult } from '../result.ts';
import { Dict, typeOf, type Value } from '../value.ts';

const VALIDATES = 'A type alias may be given as the schema.';

/** Schemas (spec/language.md 8.9). */
export const SCHEMA: BuiltinGroup = {
  name: 'schema',
  title: 'Schemas',
  errors: [
    { text: "at LOC: expected type 'string', got 'int'; …", when: '`schema_expect` and `json_validate` throw all faults in one text' },
    {
      text: 'Type error: a schema must be a dict, got T',
      when: 'a schema that is something else; functions that change schemas put their name in front',
    },
  ],
  builtins: {
    schema_is: {
      signature: '(value: any, schema: any) -> bool',
      doc: `Whether the value fits the schema. ${VALIDATES}`,
      call: (_c, _d, value, schema) => fits(value, schema),
    },
    is_type: {
      signature: '(value: any, schema: any) -> bool',
      doc: `Whether the value fits the schema. ${VALIDATES}`,
      call: (_c, _d, value, schema) => fits(value, schema),
    },
    schema_check: {
      signature: '<T>(value: any, schema: Schema<T>) -> Result<T, any>',
      doc: `Ok with the value, or Err with a dict of \`message\`, \`errors\` and \`value\`. ${VALIDATES}`,
      call: (_c, _d, value, schema) => asResult(value, validate(value, schema, 'ignore')),
    },
    schema_parse: {
      signature: '<T>(value: any, schema: Schema<T>) -> Result<T, any>',
      doc: `As schema_check, with the defaults of the schema filled in for absent keys. ${VALIDATES}`,
      call: (_c, _d, value, schema) => asResult(value, validate(value, schema, 'apply')),
    },
    schema_expect: {
      signature: '<T>(value: any, schema: Schema<T>, apply_defaults: any = false) -> T',
      doc: `The value when it fits, else throws what is wrong with it. ${VALIDATES}`,
      call: (_c, _d, value, schema, applies) => expected(value, schema, isTruthy(applies) ? 'apply' : 'ignore'),
    },
    json_validate: {
      signature: '(value: any, schema: any) -> bool',
      doc: `True when the value fits, else throws what is wrong with it. ${VALIDATES}`,
      call: (_c, _d, value, schema) => {
        expected(value, schema, 'ignore');
        return true;
      },
    },
    schema_of: {
      signature: '<T>(schema: Schema<T>) -> Schema<T>',
      doc: 'The schema of a type alias; a schema dict is returned as it is.',
      call: (_c, _d, schema) => schemaDict('schema_of', schema),
    },
    schema_extend: {
      signature: '(base: dict, more: dict) -> dict',
      doc: 'Both schemas in one, key by key; the second wins.',
      call: (_c, _d, base, more) => mergeDicts(schemaDict('schema_extend', base), schemaDict('schema_extend', more)),
    },
    schema_partial: {
      signature: '(schema: dict) -> dict',
      doc: 'The schema with no key required, at any depth.',
      call: (_c, _d, schema) => partialSchema(schemaDict('schema_partial', schema)),
    },
    schema_pick: {
      signature: '(schema: dict, keys: list) -> dict',
      doc: 'The schema with only these properties.',
      call: (_c, _d, schema, keys) => {
        const names = namesOf(keys);
        return filterProperties(schemaDict('schema_pick', schema), (name) => names.has(name));
      },
    },
    schema_omit: {
      signature: '(schema: dict, keys: list) -> dict',
      doc: 'The schema without these properties.',
      call: (_c, _d, schema, keys) => {
        const names = namesOf(keys);
        return filterProperties(schemaDict('schema_omit', schema), (name) => !names.has(name));
      },
    },
    schema_from_json_schema: {
      signature: '(schema: dict) -> dict',
      doc: 'A JSON Schema in the spelling of this language.',
      call: (_c, _d, schema) => canonicalSchema(schemaDict('schema_from_json_schema', schema)),
    },
    schema_from_openapi_schema: {
      signature: '(schema: dict) -> dict',
      doc: 'A schema object of OpenAPI in the spelling of this language.',
      call: (_c, _d, schema) => canonicalSchema(schemaDict('schema_from_openapi_schema', schema)),
    },
    schema_to_json_schema: {
      signature: '(schema: dict) -> dict',
      doc: 'A schema as JSON Schema.',
      call: (_c, _d, schema) => toJsonSchema(canonicalSchema(schemaDict('schema_to_json_schema', schema))),
    },
    schema_to_openapi_schema: {
      signature: '(schema: dict) -> dict',
      doc: 'A schema as a schema object of OpenAPI.',
      call: (_c, _d, schema) => toOpenApiSchema(canonicalSchema(schemaDict('schema_to_openapi_schema', schema))),
    },
  },
};

function fits(value: Value, schema: Value): boolean {
  return validate(value, schema, 'ignore').errors.length === 0;
}

function expected(value: Value, schema: Value, defaults: Defaults): Value {
  const validation = validate(value, schema, defaults);
  if (validation.errors.length > 0) throw thrownText(validation.errors.join('; '));
  return validation.value;
}

function asResult(value: Value, { errors, value: result }: Validation): Value {
  if (errors.length === 0) return okResult(result);
  return errResult(Object.assign(new Dict(), { message: errors.join('; '), errors, value }));
}

function schemaDict(builtin: string, schema: Value): Dict {
  if (schema instanceof Dict) return schema;
  throw typeError(`${builtin}: a schema must be a dict, got ${typeOf(schema)}`);
}

function namesOf(keys: Value): ReadonlySet<string> {
  return new Set(Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : []);
}
