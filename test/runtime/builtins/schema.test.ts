import { expect, test } from 'vitest';
import { linesOf, type ScriptRow } from '../run-text.ts';

/** Value, schema and what is wrong with it, both as Harn source. */
const REFUSALS: readonly (readonly [value: string, schema: string, message: string])[] = [
  ['5', '{type: "string"}', "at root: expected type 'string', got 'int'"],
  ['5.0', '{type: "int"}', "at root: expected type 'int', got 'float'"],
  ['5', '{type: "number"}', "at root: expected type 'float', got 'int'"],
  ['{}', '{type: "dict", required: ["age"]}', "at root: missing required key 'age'"],
  ['{k: 1}', '{type: "dict", properties: {}, additional_properties: false}', "at root: unexpected key 'k'"],
  ['{k: 1}', '{type: "object", additional_properties: {type: "string"}}', "at k: expected type 'string', got 'int'"],
  ['{user: {name: 1}}', '{properties: {user: {properties: {name: {type: "string"}}}}}', "at user.name: expected type 'string', got 'int'"],
  ['[{id: "a"}]', '{type: "array", items: {properties: {id: {type: "int"}}}}', "at [0].id: expected type 'int', got 'string'"],
  ['3', '{const: 4}', 'at root: expected constant 4, got 3'],
  ['"z"', '{enum: ["a", "b"]}', 'at root: value must be one of [a, b]'],
  ['true', '{type: ["int", "string"]}', 'at root: value did not match any union branch'],
  ['true', '{union: [{type: "int"}, {type: "nil"}]}', 'at root: value did not match any union branch'],
  ['[]', '{min_items: 1}', 'at root: expected at least 1 items, got 0'],
  ['[1, 2]', '{maxItems: 1}', 'at root: expected at most 1 items, got 2'],
  ['"é"', '{min_length: 2}', 'at root: expected length >= 2, got 1'],
  ['"abc"', '{max_length: 2}', 'at root: expected length <= 2, got 3'],
  ['"abc"', '{pattern: "^b"}', "at root: value does not match pattern '^b'"],
  ['1', '{min: 2}', 'at root: expected value >= 2, got 1'],
  ['2.5', '{maximum: 2}', 'at root: expected value <= 2, got 2.5'],
  ['nil', '{type: "int"}', "at root: expected type 'int', got 'nil'"],
  [
    '{a: {a: {a: 1}}}',
    '{"$ref": "#/definitions/N", definitions: {N: {type: "dict", properties: {a: {"$ref": "#/definitions/N"}}}}}',
    "at a.a.a: expected type 'dict', got 'int'",
  ],
  [
    '{a: 1, b: 2}',
    '{properties: {a: {type: "bool"}, b: {type: "bool"}}}',
    "at a: expected type 'bool', got 'int'; at b: expected type 'bool', got 'int'",
  ],
];

test.each(REFUSALS)('%s does not fit %s', async (value, schema, message) => {
  expect(await linesOf(`println(try { schema_expect(${value}, ${schema}) } catch (e) { e })`)).toEqual([message]);
});

const ROWS: readonly ScriptRow[] = [
  ['a pattern is not anchored', 'println(schema_is("xabcx", {pattern: "b."}))', ['true']],
  ['a pattern is written as for regex_match', 'println(schema_is("AB", {pattern: "(?i)^(?P<x>a)b$"}))', ['true']],
  ['nullable accepts nil', 'println(schema_is(nil, {type: "int", nullable: true}))', ['true']],
  ['a reference that leads to itself says nothing', 'println(is_type(1, {"$ref": "#"}))', ['true']],
  ['check gives the value back', 'println(schema_check(1, {type: "int"}))', ['Result.Ok(1)']],
  [
    'check explains itself',
    'println(unwrap_err(schema_check(1, {type: "bool"})))',
    ["{errors: [at root: expected type 'bool', got 'int'], message: at root: expected type 'bool', got 'int', value: 1}"],
  ],
  [
    'parse fills in defaults at every depth',
    'println(unwrap(schema_parse({in: {}}, {properties: {a: {default: 1}, in: {properties: {b: {default: 2}}}}})))',
    ['{a: 1, in: {b: 2}}'],
  ],
  ['expect leaves defaults out unless asked', 'println(schema_expect({}, {properties: {a: {default: 1}}}))', ['{}']],
  ['expect fills in defaults when asked', 'println(schema_expect({}, {properties: {a: {default: 1}}}, true))', ['{a: 1}']],
  ['json_validate answers true', 'println(json_validate([1], {type: "list"}))', ['true']],
  ['schema_of keeps a dict', 'println(schema_of({type: "int"}))', ['{type: int}']],
  [
    'extend is shallow',
    'println(schema_extend({type: "dict", properties: {a: 1}}, {properties: {b: 2}}))',
    ['{properties: {b: 2}, type: dict}'],
  ],
  [
    'partial requires nothing at any depth',
    'println(schema_partial({required: ["a"], properties: {a: {required: ["b"]}}}))',
    ['{properties: {a: {}}}'],
  ],
  [
    'pick filters properties and required',
    'println(schema_pick({properties: {a: 1, b: 2}, required: ["a", "b"]}, ["a"]))',
    ['{properties: {a: 1}, required: [a]}'],
  ],
  [
    'omit is the opposite of pick',
    'println(schema_omit({properties: {a: 1, b: 2}, required: ["a"]}, ["a"]))',
    ['{properties: {b: 2}, required: []}'],
  ],
  [
    'JSON Schema becomes canonical',
    'println(schema_from_json_schema({type: "object", additionalProperties: false, properties: {a: {anyOf: [{type: "integer"}, {type: "null"}]}}}))',
    ['{additional_properties: false, properties: {a: {union: [{type: int}, {type: nil}]}}, type: dict}'],
  ],
  [
    'canonical becomes JSON Schema',
    'println(schema_to_json_schema({type: "dict", properties: {a: {type: "list", min_items: 1}, b: {union: [{type: "bool"}]}}}))',
    ['{properties: {a: {minItems: 1, type: array}, b: {anyOf: [{type: boolean}]}}, type: object}'],
  ],
  [
    'an alias stands for its schema',
    'type T = {id: int, note?: string}\nprintln(schema_of(T))',
    ['{properties: {id: {type: int}, note: {type: string}}, required: [id], type: dict}'],
  ],
  [
    'literals become an enumeration',
    'type T = "a" | "b"\ntype U = 1 | 2\nprintln(schema_of(T))\nprintln(schema_of(U))',
    ['{enum: [a, b], type: string}', '{enum: [1, 2], type: int}'],
  ],
  ['one literal becomes a constant', 'type T = "a"\nprintln(schema_of(T))', ['{const: a, type: string}']],
  [
    'containers carry the schema of their parts',
    'type T = list<int>\ntype U = dict<string, float>\nprintln(schema_of(T))\nprintln(schema_of(U))',
    ['{items: {type: int}, type: list}', '{additional_properties: {type: float}, type: dict}'],
  ],
  ['other unions list their branches', 'type T = int | list\nprintln(schema_of(T))', ['{union: [{type: int}, {type: list}]}']],
  ['functions are closures', 'type T = fn(int) -> int\nprintln(schema_is({ x -> x }, T))', ['true']],
  [
    'a type that contains itself checks to any depth',
    'type Tree = {kids: list<Tree>}\nprintln(schema_is({kids: [{kids: []}]}, Tree))\nprintln(schema_is({kids: [{kids: 1}]}, Tree))',
    ['true', 'false'],
  ],
];

test.each(ROWS)('%s', async (_rule, script, lines) => {
  expect(await linesOf(script)).toEqual(lines);
});
