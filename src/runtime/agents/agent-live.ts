import type { LoopLive } from '../../agent/loop-live.ts';
import { INHERITED_LIMITS } from '../../agent/loop-options.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Context } from '../context.ts';
import { dictEntries, dictOf } from '../dict.ts';
import { toJson } from '../json.ts';
import { deriveContext, taskTree } from '../task-context.ts';
import { Dict, type HarnFunction, isCallable, type Value } from '../value.ts';
import { bindCallbacks, CALLBACK_OPTIONS, MAY_BE_DATA, namedCallbacks } from './agent-callbacks.ts';
import type { LoopPlace } from './agent-context.ts';
import { agentServices, inboxOf } from './agent-services.ts';
import { skillCallback } from './agent-skills.ts';
import { bindTools, isIdempotent, toolEntries } from './agent-tools.ts';
import { field, optionsJson } from './agent-values.ts';
import { isOwnHandle, runningHandles } from './async-registry.ts';
import { assertMayAct, tierOfLimits, underTier } from './autonomy-tier.ts';
import { callablesIn, withCallables } from './callable-paths.ts';
import { daemonPort } from './daemon-service.ts';
import { withLifecycleTools } from './lifecycle-tools.ts';
import { withoutHandler } from './tool-registry.ts';
import { workflowPort } from './workflow-port.ts';

/**
 * What of the options of `agent_loop` is alive and what is data. The data goes into the snapshot
 * (`config.spec.options`); the live part is bound to the script that runs, and again by `agent-rebind.ts` to the
 * script of the snapshot. Both come out of one options value, so a restored loop cannot see other tools.
 */
export interface LiveClosure {
  /** `tools.NAME.handler`, or the name of the option. */
  readonly slot: string;
  readonly fn: HarnFunction;
}

/**
 * @param daemon the daemon block of the snapshot that the loop is restored from
 * @throws plain error for tools and callbacks that cannot be, before the first model call
 */
export function createLive(context: Context, options: Value, place: LoopPlace, daemon?: JsonObject): LoopLive {
  const services = agentServices(context.run);
  const inbox = inboxOf(services, place.sessionId);
  const inside = deriveContext(underTier(context, tierOfLimits(field(options, INHERITED_LIMITS))), { agent: place });
  const servers = field(options, 'mcp_servers');
  const entries = withLifecycleTools(toolEntries(field(options, 'tools')), options);
  const tools = bindTools(inside, entries, servers === undefined ? null : toJson(servers));
  services.loopTools.set(place.workerId, tools);
  return {
    tools,
    callbacks: {
      ...bindCallbacks(inside, namedCallbacks(options), { own: field(options, 'permissions'), inherited: inheritedPermissions(options) }),
      skill: skillCallback(inside, options),
      hook: async (event, payload) => (await services.runTurnHook?.(event, payload, place.sessionId)) ?? { reminders: [] },
    },
    inbox: {
      hasWaiting: () => inbox.hostMessages.length + inbox.feedback.length > 0,
      takeHostMessages: () => inbox.hostMessages.splice(0),
      takeFeedback: () => inbox.feedback.splice(0),
      takeTape: () => inbox.tape.splice(0),
    },
    attach: (history) => {
      const detach = services.sessions.attach(place.sessionId, history);
      return () => {
        detach();
        if (servers !== undefined) taskTree(context.run).track(closeServers(context, place));
      };
    },
    background: {
      running: () => runningHandles(context.run, place.workerId),
      isOurs: (handleId) => isOwnHandle(context.run, handleId),
    },
    daemon: daemonPort(context.run, options, place, daemon),
    workflow: workflowPort(inside, options, place),
    signal: context.signal,
  };
}

/** Options with the tools of MCP servers, where there are any. */
export async function withServerTools(context: Context, options: Value, { sessionId }: LoopPlace): Promise<Value> {
  if (field(options, 'mcp_servers') === undefined) return options;
  assertMayAct(context.run, 'use MCP servers');
  const { withMcpServers } = await import('./mcp.ts');
  return withMcpServers(context, options, sessionId);
}

async function closeServers({ run }: Context, { sessionId }: LoopPlace): Promise<void> {
  const { closeMcpSession } = await import('./mcp.ts');
  closeMcpSession(run, sessionId);
}

/** Data in which closures may stand. */
const DATA_WITH_CLOSURES = ['permissions', 'skills', INHERITED_LIMITS, 'graph'] as const;

function inheritedPermissions(options: Value): Value[] {
  const limits = field(options, INHERITED_LIMITS);
  return Array.isArray(limits) ? limits.map((entry: Value) => field(entry, 'permissions')) : [];
}

/** Keys that are live, or kept elsewhere: a seed transcript is in the transcript, a graph beside the options. */
const NOT_DATA: ReadonlySet<string> = new Set([
  ...CALLBACK_OPTIONS.filter((name) => !MAY_BE_DATA.has(name)),
  'tools',
  'transcript',
  'graph',
]);

/** The part of the options that is saved. Tools keep everything but their handlers. */
export function savedOptions(options: Value): JsonObject {
  if (!(options instanceof Dict)) return {};
  const data = dictOf(dictEntries(options).filter(([key, value]) => !NOT_DATA.has(key) && !isCallable(value)));
  const tools = toolEntries(field(options, 'tools')).map((entry): Json => optionsJson(withoutHandler(entry)));
  const saved = optionsJson(data);
  return {
    ...saved,
    ...(Array.isArray(saved.mcp_servers) ? { mcp_servers: saved.mcp_servers.map(withoutSecrets) } : {}),
    ...(tools.length === 0 ? {} : { tools }),
  };
}

/** An MCP server as a snapshot keeps it: names of variables instead of their values, and no headers. */
function withoutSecrets(server: Json): Json {
  if (!isJsonObject(server)) return server;
  const { headers: _headers, env, ...rest } = server;
  return isJsonObject(env) ? { ...rest, env: Object.keys(env) } : { ...rest, ...(env === undefined ? {} : { env }) };
}

/** Every closure that the loop may call, by the slot it is bound to. */
export function liveClosures(options: Value): LiveClosure[] {
  const handlers = toolEntries(field(options, 'tools')).flatMap((entry): LiveClosure[] => {
    const handler = field(entry, 'handler');
    return isCallable(handler) ? [{ slot: toolSlot(String(field(entry, 'name'))), fn: handler }] : [];
  });
  const callbacks = Object.entries(namedCallbacks(options)).map(([slot, fn]): LiveClosure => ({ slot, fn }));
  return [...handlers, ...callbacks, ...DATA_WITH_CLOSURES.flatMap((key) => callablesIn(field(options, key), key))];
}

export function toolSlot(name: string): string {
  return `tools.${name}.handler`;
}

/** The options value again, from what was saved and the closures that were found for its slots. */
export function restoredOptions(saved: Value, tools: readonly Value[], closures: ReadonlyMap<string, HarnFunction>): Dict {
  const entries = saved instanceof Dict ? dictEntries(saved).filter(([key]) => key !== 'tools') : [];
  const callbacks = CALLBACK_OPTIONS.flatMap((name): [string, Value][] => {
    const fn = closures.get(name);
    return fn === undefined ? [] : [[name, fn]];
  });
  const data = entries.map(([key, value]): [string, Value] => [key, isDataWithClosures(key) ? withCallables(value, key, closures) : value]);
  return dictOf([...data, ...callbacks, ['tools', tools]]);
}

function isDataWithClosures(key: string): boolean {
  return DATA_WITH_CLOSURES.some((known) => known === key);
}

/** `tools` of the program block (4.7): how each tool may be bound again. */
export function describeTools(options: Value, sha256: (text: string) => string): JsonObject[] {
  return toolEntries(field(options, 'tools')).map((entry): JsonObject => {
    const facts = optionsJson(entry);
    const handler = field(entry, 'handler');
    const origin = isCallable(handler) ? handler.meta.origin : undefined;
    return {
      name: facts.name,
      binding: bindingOf(facts, handler !== undefined),
      ...(origin === undefined ? {} : { module: origin.module }),
      ...(origin?.symbol === undefined ? {} : { symbol: origin.symbol }),
      schema_sha256: parametersSha256(entry, sha256),
      idempotent: isIdempotent(facts),
    };
  });
}

/** Changes when the parameters of a tool do. */
export function parametersSha256(entry: Value, sha256: (text: string) => string): string {
  const { parameters } = optionsJson(entry);
  return sha256(JSON.stringify(isJsonObject(parameters) ? parameters : {}));
}

function bindingOf({ executor }: JsonObject, isDeclared: boolean): string {
  switch (executor) {
    case 'host_bridge':
      return 'host';
    case 'mcp_server':
      return 'mcp';
    case 'provider_native':
      return 'provider';
    default:
      return isDeclared ? 'declared' : 'unbound';
  }
}
