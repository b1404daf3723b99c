import { hostMock, hostMocks } from '../agents/host-mocks.ts';
import { HOST_CAPABILITIES } from '../agents/host-operations.ts';
import { textArgument } from '../arguments.ts';
import type { BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { dictOf } from '../dict.ts';
import { thrownText } from '../errors.ts';
import type { MaybeAsync } from '../maybe-async.ts';
import { Dict, type Value } from '../value.ts';

/** Operations of a host around the run, and what stands in for them in tests. */
export const HOST: BuiltinGroup = {
  name: 'host',
  title: 'Host operations',
  errors: [
    { text: "host_call: 'N' is not of the form capability.operation", when: '`host_call`' },
    { text: 'host_call: the host has no operation N', when: 'neither a mock nor this process offers it' },
    { text: "host_tool_call: no host offers the tool 'N'", when: '`host_tool_call` without a host' },
  ],
  builtins: {
    host_call: {
      signature: '(name: any, params: any = nil) -> any',
      doc: 'Calls `capability.operation` of the host: a mock when one fits, else what this process offers.',
      colour: 'async',
      call: (c, _d, name, params) => callHost(c, textArgument(name), params),
    },
    host_capabilities: {
      signature: '() -> dict',
      doc: 'Capabilities with their `description` and `operations`, mocked ones included.',
      call: (c) => capabilities(c),
    },
    host_has: {
      signature: '(capability: any, operation: any = nil) -> bool',
      doc: 'Whether the host, or a mock, has a capability, or one operation of it.',
      call: (c, _d, capability, operation) =>
        hostHas(c, textArgument(capability), operation === undefined ? undefined : textArgument(operation)),
    },
    host_mock: {
      signature: '(capability: any, operation: any, answer: any = nil, params: any = nil) -> nil',
      doc: 'Scripts an operation: `answer` is the result, or a dict of `result` or `error`, and `params` that a call must hold. The newest fitting mock answers.',
      call: (c, _d, capability, operation, answer, params) =>
        hostMocks(c).add(hostMock(textArgument(capability), textArgument(operation), answer, params)),
    },
    host_mock_clear: {
      signature: '() -> nil',
      doc: 'Forgets the mocks and the calls of the current scope.',
      call: (c) => hostMocks(c).clear(),
    },
    host_mock_calls: {
      signature: '() -> list<dict>',
      doc: 'The calls that mocks answered in the current scope: `{capability, operation, params}`.',
      call: (c) => hostMocks(c).calls,
    },
    host_mock_push_scope: {
      signature: '() -> nil',
      doc: 'Begins a scope without mocks and calls.',
      call: (c) => hostMocks(c).push(),
    },
    host_mock_pop_scope: {
      signature: '() -> nil',
      doc: 'Ends the scope and brings back the mocks and calls before it.',
      call: (c) => hostMocks(c).pop(),
    },
    host_tool_list: {
      signature: '() -> list<dict>',
      doc: 'Tools that the host offers; none without a host.',
      call: () => [],
    },
    host_tool_call: {
      signature: '(name: any, args: any = nil) -> any',
      doc: 'Calls a tool of the host.',
      call: (_c, _d, name) => {
        throw thrownText(`host_tool_call: no host offers the tool '${textArgument(name)}'`);
      },
    },
  },
};

function callHost(context: Context, name: string, given: Value): MaybeAsync<Value> {
  const [capability = '', operation = ''] = splitName(name);
  const params = given ?? new Dict();
  const mocked = hostMocks(context).answer(capability, operation, params);
  if (mocked !== undefined) return mocked.result;
  const known = operationOf(capability, operation);
  if (known === undefined) throw thrownText(`host_call: the host has no operation ${name}`);
  return known.run(context, params);
}

function splitName(name: string): [string, string] {
  const dot = name.indexOf('.');
  if (dot < 0) throw thrownText(`host_call: '${name}' is not of the form capability.operation`);
  return [name.slice(0, dot), name.slice(dot + 1)];
}

function operationOf(capability: string, operation: string) {
  const operations = Object.hasOwn(HOST_CAPABILITIES, capability) ? HOST_CAPABILITIES[capability]?.operations : undefined;
  return operations !== undefined && Object.hasOwn(operations, operation) ? operations[operation] : undefined;
}

function hostHas(context: Context, capability: string, operation: string | undefined): boolean {
  const isMocked = hostMocks(context).mocks.some(
    (mock) => mock.capability === capability && (operation === undefined || mock.operation === operation),
  );
  if (isMocked) return true;
  return operation === undefined ? Object.hasOwn(HOST_CAPABILITIES, capability) : operationOf(capability, operation) !== undefined;
}

function capabilities(context: Context): Dict {
  const found = new Map<string, { description: string; operations: Map<string, string> }>();
  for (const [name, { description, operations }] of Object.entries(HOST_CAPABILITIES)) {
    found.set(name, { description, operations: new Map(Object.entries(operations).map(([key, value]) => [key, value.description])) });
  }
  for (const { capability, operation } of hostMocks(context).mocks) {
    const entry = found.get(capability) ?? { description: 'Mocked', operations: new Map<string, string>() };
    found.set(capability, entry);
    if (!entry.operations.has(operation)) entry.operations.set(operation, 'Mocked');
  }
  return dictOf([...found].map(([name, entry]) => [name, capabilityValue(entry.description, entry.operations)]));
}

function capabilityValue(description: string, operations: ReadonlyMap<string, string>): Dict {
  return dictOf([
    ['description', description],
    ['operations', dictOf([...operations].map(([name, text]) => [name, dictOf([['description', text]])]))],
  ]);
}
