import { parseTextResponse, renderToolList } from '../../agent/tools/text-tools.ts';
import { type Json, parseJsonObject } from '../../base/json.ts';
import { agentValue, field, withoutHarness } from '../agents/agent-values.ts';
import { lifecycleRegistryEntries } from '../agents/lifecycle-tools.ts';
import { clearToolHooks, registerToolHook } from '../agents/tool-hooks.ts';
import {
  defineTool,
  emptyRegistry,
  entrySpec,
  findEntry,
  registryEntries,
  registryOf,
  registrySchema,
  withoutHandler,
} from '../agents/tool-registry.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import { callValue } from '../call.ts';
import type { Context } from '../context.ts';
import { display } from '../display.ts';
import { plainError } from '../errors.ts';
import { stringify } from '../json.ts';
import { isCallable, type Value } from '../value.ts';

/** Registries of tools and the text grammar of their calls (spec/agents.md chapter 2). */

type Args = readonly Value[];

function pure(signature: string, doc: string, run: (args: Args, context: Context) => Value): Builtin {
  return { signature, doc, call: (context, _depth, ...args) => run(withoutHarness(args), context) };
}

const BOUND = Symbol('bound tool registry');

/** The registry that `tool_ref` and `tool_def` look into. */
function boundRegistry(context: Context): { registry: Value } {
  return context.run.service(BOUND, () => ({ registry: undefined }));
}

function boundEntry(context: Context, name: Value, operation: string): Value {
  const { registry } = boundRegistry(context);
  if (registry === undefined) throw plainError(`${operation}: no tool registry bound`);
  const entry = findEntry(registry, name, operation);
  if (entry === undefined) throw plainError(`${operation}: unknown tool \`${display(name)}\``);
  return entry;
}

/** With a function the binding ends when the function does. */
function bind([registry, body]: Args, context: Context, depth: number): Value | Promise<Value> {
  const bound = boundRegistry(context);
  const before = bound.registry;
  if (registry !== undefined) registryEntries(registry, 'tool_bind');
  bound.registry = registry;
  if (!isCallable(body)) return registry;
  const restore = (): void => {
    bound.registry = before;
  };
  try {
    const answer = callValue(context, depth, body);
    if (answer instanceof Promise) return answer.finally(restore);
    restore();
    return answer;
  } catch (error) {
    restore();
    throw error;
  }
}

/** Both ways in which models write a call: the grammar of 2.5, and a JSON object with `name` and `arguments`. */
function parseCalls(text: string): Value {
  const calls: Json[] = [];
  for (const [, body = ''] of text.matchAll(/<tool_call>([\s\S]*?)<\/tool_call>/g)) {
    const call = jsonCall(body) ?? grammarCall(body);
    if (call !== undefined) calls.push(call);
  }
  return agentValue(calls);
}

function jsonCall(body: string): Json | undefined {
  const value = parseJsonObject(body);
  return typeof value?.name === 'string' ? { name: value.name, arguments: value.arguments ?? {} } : undefined;
}

function grammarCall(body: string): Json | undefined {
  const name = /^\s*([A-Za-z_][\w.-]*)/.exec(body)?.[1];
  if (name === undefined) return undefined;
  const [call] = parseTextResponse(`<tool_call>${body}</tool_call>`, new Set([name])).calls;
  return call === undefined ? undefined : { name: call.name, arguments: call.arguments };
}

function formatResult(name: Value, value: Value): string {
  return `<tool_result>{"name": ${stringify(name)}, "result": ${stringify(value)}}</tool_result>`;
}

function without(registry: Value, name: Value): Value {
  return registryOf(registryEntries(registry, 'tool_remove').filter((entry) => field(entry, 'name') !== name));
}

function only(registry: Value, names: Value): Value {
  if (!Array.isArray(names)) throw plainError('tool_select: names must be a list');
  return registryOf(registryEntries(registry, 'tool_select').filter((entry) => names.includes(field(entry, 'name'))));
}

function describe(registry: Value, operation: string): string {
  return renderToolList(registryEntries(registry, operation).map(entrySpec));
}

export const TOOLS: BuiltinGroup = {
  name: 'tools',
  title: 'Tools',
  errors: [
    {
      text: 'tool_define: …',
      when: 'a tool that could not run: no handler, an unknown executor, a wrong key; the text says what to write',
    },
    { text: 'NAME: first argument must be a tool registry', when: 'a registry that is something else' },
    { text: 'NAME: no tool registry bound', when: '`tool_ref`, `tool_def` outside of `tool_bind`' },
    { text: 'NAME: unknown tool `N`', when: '`tool_ref`, `tool_def`' },
    { text: 'tool_select: names must be a list', when: '`tool_select`' },
  ],
  builtins: {
    tool_registry: pure('() -> dict', 'An empty registry of tools.', () => emptyRegistry()),
    tool_define: pure(
      '(registry: any, name: string | any, description: any, config: ToolConfig | dict | any) -> dict',
      '`tool_define(registry, name, description, config)`: a registry with that tool; the given one stays as it is.',
      (args) => defineTool(args),
    ),
    tool_find: pure('(registry: any, name: any) -> any', 'The entry of a tool, or nil.', ([registry, name]) =>
      findEntry(registry, name, 'tool_find'),
    ),
    tool_list: pure('(registry: any) -> list', 'All entries, without their handlers.', ([registry]) =>
      registryEntries(registry, 'tool_list').map(withoutHandler),
    ),
    tool_count: pure('(registry: any) -> int', 'How many tools there are.', ([registry]) => registryEntries(registry, 'tool_count').length),
    tool_remove: pure('(registry: any, name: any) -> dict', 'A registry without that tool.', ([registry, name]) => without(registry, name)),
    tool_select: pure('(registry: any, names: any) -> dict', 'A registry of only these tools.', ([registry, names]) =>
      only(registry, names),
    ),
    tool_schema: pure('(registry: any = nil, options: any = nil) -> dict', 'The registry as a document with JSON Schemas.', ([registry]) =>
      agentValue(registrySchema(registryEntries(registry, 'tool_schema'))),
    ),
    tool_describe: pure('(registry: any) -> string', 'Names, descriptions and parameters as text.', ([registry]) =>
      describe(registry, 'tool_describe'),
    ),
    tool_prompt: pure('(registry: any) -> string', 'The part of a system prompt that tells a model of its tools.', ([registry]) =>
      describe(registry, 'tool_prompt'),
    ),
    tool_parse_call: pure('(text: any) -> list', 'The tool calls in a text, as `{name, arguments}`.', ([text]) =>
      parseCalls(text === undefined ? '' : display(text)),
    ),
    tool_format_result: pure('(name: any, value: any = nil) -> string', 'A result as text for a model.', ([name, value]) =>
      formatResult(name, value),
    ),
    agent_lifecycle_tools: pure(
      '(registry: any = nil, options: any = nil) -> dict',
      'A registry with the tools that park the agent itself and, when asked for, pause and resume its workers.',
      ([registry, options]) =>
        registryOf(lifecycleRegistryEntries(registry === undefined ? [] : registryEntries(registry, 'agent_lifecycle_tools'), options)),
    ),
    register_tool_hook: pure(
      '(hook: ToolHook | dict | any) -> nil',
      'Puts a hook around the tool calls that a pattern matches: `{pattern, deny?, max_output?, pre?, post?}`.',
      ([hook], context) => {
        registerToolHook(context.run, hook);
        return undefined;
      },
    ),
    clear_tool_hooks: pure('() -> nil', 'Removes all hooks around tool calls.', (_args, context) => {
      clearToolHooks(context.run);
      return undefined;
    }),
    tool_bind: {
      signature: '(registry: any, body: any = nil) -> any',
      doc: 'Makes a registry the current one, for the time of a function when one is given.',
      colour: 'callback',
      call: (context, depth, ...args) => bind(withoutHarness(args), context, depth),
    },
    tool_ref: pure('(name: any) -> string', 'The name of a tool of the current registry; throws when it has none.', ([name], context) =>
      field(boundEntry(context, name, 'tool_ref'), 'name'),
    ),
    tool_def: pure('(name: any) -> dict', 'The entry of a tool of the current registry; throws when it has none.', ([name], context) =>
      withoutHandler(boundEntry(context, name, 'tool_def')),
    ),
  },
};
