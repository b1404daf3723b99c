import { expect, test } from 'vitest';
import { linesOf } from '../runtime/run-text.ts';

const URL = '"https://api.test/graphql"';

/** What a script does with std/graphql, and what it prints. */
const ROWS: readonly (readonly [rule: string, script: string, lines: readonly string[]])[] = [
  [
    'data beside errors are a partial answer',
    'let a = graphql_normalize_response({status: 200, headers: {}, body: "{\\"data\\":{\\"x\\":1},\\"errors\\":[{}]}"})\nprintln("${a.ok} ${a.partial}")',
    ['false true'],
  ],
  ['a body that is no JSON is not ok', 'println(graphql_normalize_response({status: 200, headers: {}, body: "oops"}).ok)', ['false']],
  ['a failed status is not ok', 'println(graphql_normalize_response({status: 500, headers: {}, body: "{\\"data\\":{}}"}).ok)', ['false']],
  [
    'limits come from headers of any case',
    'println(graphql_normalize_response({status: 200, headers: {["X-Complexity"]: "7"}, body: "{}"}).meta.rate_limit.complexity)',
    ['7'],
  ],
  [
    'an operation sends its name, variables and token',
    `http_mock("POST", ${URL}, {status: 200, body: "{\\"data\\":{\\"me\\":{\\"id\\":1}}}"})
let op = graphql_operation("me", "query Me { me { id } }", {root_field: "me"})
let a = graphql_execute_operation({endpoint: ${URL}, auth: {access_token: "t"}}, op, {k: 1})
println("\${a.ok} \${a.result.id} \${a.result.meta.status}")
let call = http_mock_calls({include_sensitive: true})[0]
println(call.headers.authorization)
println(json_parse(call.body))`,
    ['true 1 200', 'Bearer t', '{operationName: Me, query: query Me { me { id } }, variables: {k: 1}}'],
  ],
  [
    'variables are checked before anything is sent',
    `let op = graphql_operation("me", "query Me { me }", {variables_schema: {type: "dict", required: ["id"]}})
println(try { graphql_execute_operation({endpoint: ${URL}}, op, {}) } catch (e) { e })
println(len(http_mock_calls()))`,
    ["at root: missing required key 'id'", '0'],
  ],
  [
    'the scheme of a token',
    'println(graphql_auth_headers({token: "x", scheme: "Basic"}))\nprintln(graphql_auth_headers({api_key: "k"}))',
    ['{authorization: Basic x}', '{authorization: k}'],
  ],
  [
    'pages by nodes or edges',
    'println(graphql_page_info({edges: [{node: 1}]}).nodes)\nprintln(graphql_next_page_variables({first: 1}, {pageInfo: {hasNextPage: true, endCursor: "c"}}))\nprintln(graphql_next_page_variables({}, {}))',
    ['[1]', '{after: c, first: 1}', 'nil'],
  ],
  [
    'the fields of a schema',
    'println(graphql_parse_schema("type A { # note\\n id: ID!\\n all(first: Int): [A!]! }").types)',
    ['[{fields: [{name: id, type: ID!}, {name: all, type: [A!]!}], kind: type, name: A}]'],
  ],
  [
    'a payload without a schema',
    'println(try { graphql_schema_from_introspection({}) } catch (e) { e })',
    ['graphql_schema_from_introspection: there is no __schema in the payload'],
  ],
  [
    'a client has a function for each operation',
    'println(graphql_generate_client([graphql_operation("listIssues", "query A { a }")]).contains("pub fn list_issues(client"))',
    ['true'],
  ],
  ['a persisted query is known by its hash', 'println(len(graphql_persisted_query("q").sha256_hash))', ['64']],
];

test.each(ROWS)('%s', async (_rule, script, lines) => {
  expect(await linesOf(`import "std/graphql"\n${script}`)).toEqual(lines);
});
