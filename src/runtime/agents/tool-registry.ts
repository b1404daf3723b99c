import type { ToolSpec } from '../../agent/providers/provider.ts';
import { parametersSchema } from '../../agent/tools/tool.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { copyDict, dictEntries, dictGet, dictHas, dictOf } from '../dict.ts';
import { plainError } from '../errors.ts';
import { Dict, isCallable, type Value } from '../value.ts';
import { field, optionsJson } from './agent-values.ts';

/** Tool registries as values (spec/agents.md 2.2): plain dicts, so that scripts can look into them and save them. */

export function emptyRegistry(): Dict {
  return registryOf([]);
}

export function registryOf(entries: readonly Value[]): Dict {
  return dictOf([
    ['_type', 'tool_registry'],
    ['tools', entries],
  ]);
}

/** @throws plain error, prefixed with the name of the builtin */
export function registryEntries(registry: Value, operation: string): readonly Value[] {
  const entries = field(registry, 'tools');
  if (field(registry, '_type') !== 'tool_registry' || !Array.isArray(entries)) {
    throw plainError(`${operation}: first argument must be a tool registry`);
  }
  return entries;
}

export function findEntry(registry: Value, name: Value, operation: string): Value {
  return registryEntries(registry, operation).find((entry) => field(entry, 'name') === name);
}

/** A registry with this tool; one of the same name is replaced where it stands. */
export function defineTool(args: readonly Value[]): Dict {
  if (args.length !== 4) throw plainError('tool_define: expected 4 arguments: registry, name, description, config');
  const [registry, name, description, config] = args;
  const entries = registryEntries(registry, 'tool_define');
  if (typeof name !== 'string' || name.trim() === '') throw plainError('tool_define: name must be a non-empty string');
  if (!(config instanceof Dict)) throw plainError('tool_define: config must be a dict with parameters and handler');
  const entry = buildEntry(name, description, config);
  const at = entries.findIndex((other) => field(other, 'name') === name);
  return registryOf(at < 0 ? [...entries, entry] : entries.with(at, entry));
}

const EXECUTORS = ['harn', 'harn_builtin', 'host_bridge', 'mcp_server', 'provider_native'] as const;

/** Keys that the entry holds under another name or form. */
const TRANSLATED: ReadonlySet<string> = new Set(['returns', 'executor', 'name', 'description']);

function buildEntry(name: string, description: Value, config: Dict): Dict {
  const executor = checkedExecutor(name, config);
  checkOptions(config);
  const returns = dictGet(config, 'returns');
  const kept = dictEntries(config).filter(([key]) => !TRANSLATED.has(key));
  return dictOf([
    ...kept,
    ['parameters', dictGet(config, 'parameters') ?? new Dict()],
    ...(returns === undefined ? [] : [['outputSchema', returns] as const]),
    ['name', name],
    ['description', typeof description === 'string' ? description : ''],
    ['executor', executor],
  ]);
}

function checkedExecutor(name: string, config: Dict): string {
  const given = dictGet(config, 'executor');
  const handler = dictGet(config, 'handler');
  if (dictHas(config, 'params')) throw plainError('tool_define: use `parameters`, not `params`');
  if (given !== undefined && typeof given !== 'string') throw plainError('tool_define: executor must be a string');
  const executor = EXECUTORS.find((known) => known === given);
  if (given !== undefined && executor === undefined) {
    throw plainError(
      `tool_define: unknown executor "${given}" for tool "${name}". Expected one of: "harn", "host_bridge", "mcp_server", "provider_native"`,
    );
  }
  if (executor === undefined) return callable(handler, handlerMissing(name));
  if (executor === 'harn' || executor === 'harn_builtin') {
    return callable(handler, `tool_define: tool "${name}" declares executor: "${executor}" but has no \`handler\`.`);
  }
  if (handler !== undefined) {
    throw plainError(
      `tool_define: tool "${name}" declares executor: "${executor}" but also has a \`handler\`. Drop the handler — ${DISPATCHED_BY[executor]}`,
    );
  }
  if (executor !== 'provider_native') requireBinding(name, config, executor);
  return executor;
}

/** The texts of this and the next table are compared word for word by published programs. */
const DISPATCHED_BY = {
  host_bridge: 'host-bridge tools are dispatched by the host shell, not the VM.',
  mcp_server: 'the MCP client calls such a tool.',
  provider_native: 'the provider has run such a tool already.',
} as const;

const BINDINGS = {
  host_bridge: [
    'host_capability',
    'Set it to the canonical bridge identifier (e.g. "interaction.ask") so `harn check` can validate the binding against the host capability manifest.',
  ],
  mcp_server: ['mcp_server', 'Set it to the name of the server that offers the tool.'],
} as const;

function handlerMissing(name: string): string {
  return [
    `tool_define: tool "${name}" has no \`handler\` and no \`executor\`.`,
    'Either attach a `handler` fn (executor: "harn") or declare an alternate backend, e.g. executor: "host_bridge" + host_capability: "cap.op",',
    'executor: "mcp_server" + mcp_server: "server-name", executor: "provider_native".',
    `Defining a handlerless tool would surface as \`[builtin_call] unhandled: ${name}\` at the first model call.`,
  ].join(' ');
}

function callable(handler: Value, missing: string): string {
  if (handler === undefined) throw plainError(missing);
  if (!isCallable(handler)) throw plainError('tool_define: handler must be a function');
  return 'harn';
}

function requireBinding(name: string, config: Dict, executor: keyof typeof BINDINGS): void {
  const [key, advice] = BINDINGS[executor];
  const value = dictGet(config, key);
  if (typeof value !== 'string' || value.trim() === '') {
    throw plainError(`tool_define: tool "${name}" declares executor: "${executor}" but is missing \`${key}\`. ${advice}`);
  }
}

function checkOptions(config: Dict): void {
  const deferred = dictGet(config, 'defer_loading');
  if (deferred !== undefined && typeof deferred !== 'boolean') throw plainError('tool_define: defer_loading must be a bool');
  const namespace = dictGet(config, 'namespace');
  if (namespace !== undefined && (typeof namespace !== 'string' || namespace.trim() === '')) {
    throw plainError('tool_define: namespace must be a non-empty string');
  }
  for (const key of ['parameters', 'annotations']) {
    const value = dictGet(config, key);
    if (value !== undefined && !(value instanceof Dict)) throw plainError(`tool_define: ${key} must be a dict`);
  }
  const idempotent = dictGet(config, 'idempotent');
  if (idempotent !== undefined && typeof idempotent !== 'boolean') throw plainError('tool_define: idempotent must be a bool');
  const timeout = dictGet(config, 'timeout_ms');
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout > 0)) {
    throw plainError('tool_define: timeout_ms must be a positive int, in milliseconds');
  }
}

/** An entry as a model is shown it. */
export function entrySpec(entry: Value): ToolSpec {
  const facts = optionsJson(entry);
  return {
    name: String(facts.name ?? ''),
    description: typeof facts.description === 'string' ? facts.description : '',
    parameters: parametersSchema(isJsonObject(facts.parameters) ? facts.parameters : undefined),
  };
}

/** The registry as a document for other programs. */
export function registrySchema(entries: readonly Value[]): Json {
  return {
    schema_version: 'harn-tools/1.0',
    tools: entries.map((entry): JsonObject => {
      const { name, description, parameters } = entrySpec(entry);
      const { outputSchema, annotations } = optionsJson(entry);
      return {
        name,
        description,
        inputSchema: parameters,
        ...(isJsonObject(outputSchema) ? { outputSchema } : {}),
        ...(isJsonObject(annotations) ? { annotations } : {}),
      };
    }),
  };
}

/** Without its handler: what may be shown and saved. */
export function withoutHandler(entry: Value): Value {
  return entry instanceof Dict ? dictOf(dictEntries(copyDict(entry)).filter(([key]) => key !== 'handler')) : entry;
}
