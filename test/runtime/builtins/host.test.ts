import { expect, test } from 'vitest';
import { linesOf, type ScriptRow } from '../run-text.ts';

const ROWS: readonly ScriptRow[] = [
  [
    'the newest fitting mock answers',
    'host_mock("a", "op", {result: 1})\nhost_mock("a", "op", {result: 2, params: {k: 1}})\nprintln(host_call("a.op", {k: 1, z: 0}))\nprintln(host_call("a.op", {}))',
    ['2', '1'],
  ],
  ['a mock may be the bare result', 'host_mock("a", "op", {text: "x"})\nprintln(host_call("a.op"))', ['{text: x}']],
  ['a mock may throw', 'host_mock("a", "op", {error: "no"})\nprintln(try { host_call("a.op") } catch (e) { e })', ['no']],
  [
    'calls of mocks are on record',
    'host_mock("a", "op", 1)\nhost_call("a.op", {k: 1})\nprintln(host_mock_calls())',
    ['[{capability: a, operation: op, params: {k: 1}}]'],
  ],
  [
    'clearing forgets mocks and calls',
    'host_mock("a", "op", 1)\nhost_call("a.op")\nhost_mock_clear()\nprintln(host_mock_calls())\nprintln(host_has("a"))',
    ['[]', 'false'],
  ],
  [
    'scopes nest',
    'host_mock("a", "op", 1)\nhost_mock_push_scope()\nprintln(host_has("a", "op"))\nhost_mock_pop_scope()\nprintln(host_call("a.op"))',
    ['false', '1'],
  ],
  ['there must be a scope to end', 'println(try { host_mock_pop_scope() } catch (e) { e })', ['host_mock_pop_scope: no scope to pop']],
  [
    'an operation that nobody has',
    'println(try { host_call("moon.land") } catch (e) { e })',
    ['host_call: the host has no operation moon.land'],
  ],
  [
    'a name without an operation',
    'println(try { host_call("moon") } catch (e) { e })',
    ["host_call: 'moon' is not of the form capability.operation"],
  ],
  [
    'capabilities tell of mocks too',
    'host_mock("a", "op", 1)\nlet all = host_capabilities()\nprintln(all.process.operations.exec.description != nil)\nprintln(all.a.operations.op.description)',
    ['true', 'Mocked'],
  ],
  [
    'processes of this machine',
    'println(host_call("process.exec", {command: "printf a; printf b >&2"}).combined)\nprintln(host_call("process.exec", {argv: ["printf", "%s", "a b"]}).stdout)',
    ['ab', 'a b'],
  ],
  ['questions to the person', 'mock_stdin("yes\\n")\nprintln(host_call("interaction.ask", {question: "sure?"}))', ['sure? yes']],
  [
    'no tools without a host',
    'println(host_tool_list())\nprintln(try { host_tool_call("Read") } catch (e) { e })',
    ['[]', "host_tool_call: no host offers the tool 'Read'"],
  ],
];

test.each(ROWS)('%s', async (_rule, script, lines) => {
  expect(await linesOf(script)).toEqual(lines);
});
