import { schemaFaults } from '../agent/json-schema.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Lifecycle } from '../lifecycle/lifecycle.ts';
import { shownPathOf } from '../lifecycle/persist.ts';
import type { StartOptions } from '../lifecycle/start.ts';
import { summaryOf } from '../lifecycle/summary.ts';
import type { Worker } from '../lifecycle/worker.ts';
import { currentLoop, type LoopPlace } from './agent-context.ts';
import { createLive, withServerTools } from './agent-live.ts';
import { loopSeed, loopSpec } from './agent-loop.ts';
import { describeProgram } from './agent-program.ts';
import { agentServices } from './agent-services.ts';
import { agentValue, field, optionalText, withoutKeys } from './agent-values.ts';
import type { Context } from './context.ts';
import { dictGet, dictKeys, dictOf, mergeDicts } from './dict.ts';
import { plainError } from './errors.ts';
import { toJson } from './json.ts';
import { objectJson, optionalCallable, suspensionValue } from './lifecycle-values.ts';
import { Dict, type HarnFunction, type Value } from './value.ts';

/** From the arguments of `spawn_agent` and `sub_agent_run` to what lifecycle starts (spec/agents.md 4.2, 4.4). */
export interface SpawnRequest {
  readonly start: StartOptions;
  readonly wait: boolean;
  /** Conditions of a worker that is born parked. */
  readonly resumeWhen: Value;
  readonly resumeBy: HarnFunction | undefined;
}

const CONFIG_KEYS = [
  'task',
  'name',
  'node',
  'graph',
  'artifacts',
  'transcript',
  'wait',
  'system',
  'options',
  'tools',
  'policy',
  'permissions',
  'execution',
  'audit',
  'carry',
];
const CARRY_KEYS = ['artifact_mode', 'transcript_mode', 'context_policy', 'resume_workflow', 'persist_state', 'retriggerable', 'policy'];

/** @throws plain error for an unknown key or a missing task, before anything starts */
export async function spawnOptions(context: Context, config: Value): Promise<SpawnRequest> {
  if (!(config instanceof Dict)) throw plainError('spawn_agent: config must be a dict');
  if (dictGet(config, '_type') === 'sub_agent_request') return subAgentOptions(context, field(config, 'task'), field(config, 'options'));
  refuseUnknown(config, CONFIG_KEYS, 'spawn_agent: unknown config key');
  const carry = dictGet(config, 'carry');
  if (carry instanceof Dict) refuseUnknown(carry, CARRY_KEYS, 'spawn_agent: unknown carry key');
  const task = requiredTask(dictGet(config, 'task'), 'spawn_agent: task is required');
  const node = objectJson(dictGet(config, 'node'));
  const given = dictGet(config, 'options');
  const options = loopOptions(given, config, node);
  return {
    start: {
      ...(await commonStart(context, task, dictGet(config, 'system'), options)),
      name: optionalText(dictGet(config, 'name')) ?? 'worker',
      mode: field(config, 'graph') === undefined ? 'stage' : 'workflow',
      carry: objectJson(carry),
      execution: orUndefined(dictGet(config, 'execution')),
      audit: orUndefined(dictGet(config, 'audit')),
      artifacts: listJson(dictGet(config, 'artifacts')),
      config: { node: { kind: 'subagent', mode: 'llm', ...node } },
      request: { task },
    },
    wait: dictGet(config, 'wait') === true,
    resumeWhen: field(given, 'resume_when'),
    resumeBy: optionalCallable(field(given, 'resume_by'), 'spawn_agent: resume_by'),
  };
}

const SUB_AGENT_KEYS = [
  'background',
  'carry',
  'returns',
  'allowed_tools',
  'name',
  'execution',
  'system',
  'resume_when',
  'reminder_propagation',
];

/** @throws plain error for a blank task */
export async function subAgentOptions(
  context: Context,
  task: Value,
  options: Value,
): Promise<SpawnRequest & { readonly isBackground: boolean; readonly returns: Value }> {
  const request = field(task, '_type') === 'sub_agent_request' ? task : undefined;
  const given = request === undefined ? options : field(request, 'options');
  const text = requiredTask(request === undefined ? task : field(request, 'task'), 'sub_agent_run: task is required');
  const loop = given instanceof Dict ? withoutKeys(given, SUB_AGENT_KEYS) : new Dict();
  const sessionId = optionalText(field(given, 'session_id')) ?? agentServices(context.run).random.id('sub_agent_session');
  const named = mergeDicts(loop, dictOf([['session_id', sessionId]]));
  return {
    start: {
      ...(await commonStart(context, text, field(given, 'system'), onlyTools(named, field(given, 'allowed_tools')))),
      name: optionalText(field(given, 'name')) ?? 'sub-agent',
      mode: 'sub_agent',
      carry: objectJson(field(given, 'carry')),
      execution: orUndefined(field(given, 'execution')),
    },
    wait: false,
    isBackground: field(given, 'background') === true,
    returns: field(given, 'returns'),
    resumeWhen: field(given, 'resume_when'),
    resumeBy: optionalCallable(field(given, 'resume_by'), 'sub_agent_run: resume_by'),
  };
}

/** What the caller of a foreground child gets: the outcome, not the conversation. */
export function subAgentEnvelope(lifecycle: Lifecycle, worker: Worker, returns: Value): Value {
  const summary = summaryOf(worker, shownPathOf(lifecycle, worker));
  const result = isJsonObject(summary.result) ? summary.result : {};
  const isParked = worker.status === 'suspended';
  const llm = isJsonObject(result.llm) ? result.llm : {};
  const isDone = worker.status === 'completed' && result.status === 'done';
  const invalid = isDone ? validateAgainst(returns, result.data ?? null) : undefined;
  const envelope = agentValue({
    ok: isDone && invalid === undefined,
    summary: typeof result.summary === 'string' ? result.summary : '',
    artifacts: worker.record.artifacts,
    evidence_added: 0,
    tokens_used: numberOf(llm.input_tokens) + numberOf(llm.output_tokens),
    budget_exceeded: result.status === 'budget_exhausted',
    data: result.data ?? null,
    error: envelopeError(worker, isDone, isParked, result, invalid),
    session_id: worker.sessionId,
    transcript: isParked ? null : (worker.state.transcript ?? null),
    status: isParked ? 'suspended' : typeof result.status === 'string' ? result.status : worker.status,
    suspension: null,
  });
  return isParked && envelope instanceof Dict ? mergeDicts(envelope, dictOf([['suspension', suspensionValue(result)]])) : envelope;
}

/** `returns: {schema}`; undefined when the data fits, or nothing was asked for. */
function validateAgainst(returns: Value, data: Json): string | undefined {
  const schema = toJson(field(returns, 'schema'));
  const faults = isJsonObject(schema) ? schemaFaults(data, schema) : [];
  return faults.length === 0 ? undefined : faults.join('; ');
}

function envelopeError(
  worker: Worker,
  isDone: boolean,
  isParked: boolean,
  result: JsonObject,
  invalid: string | undefined,
): JsonObject | null {
  if (invalid !== undefined) return { category: 'schema_validation', message: invalid };
  if (isDone || isParked) return null;
  const message = worker.record.latest_error ?? `the loop ended with status ${String(result.status ?? worker.status)}`;
  return { category: worker.status === 'cancelled' ? 'cancelled' : 'generic', message };
}

/** @param workerId drawn before, when something had to know it */
export async function commonStart(
  context: Context,
  task: string,
  system: Value,
  given: Dict,
  workerId = agentServices(context.run).random.id('worker'),
): Promise<Omit<StartOptions, 'name' | 'mode'>> {
  const services = agentServices(context.run);
  const named = optionalText(dictGet(given, 'session_id'));
  const place: LoopPlace = { kind: 'loop', workerId, sessionId: named ?? services.random.uuidV7() };
  const options = await withServerTools(context, given, place);
  return {
    workerId: place.workerId,
    task,
    spec: loopSpec(context, place, system, options),
    live: createLive(context, options, place),
    program: describeProgram(context.run, options),
    ...loopSeed(context, named, options),
    parentWorkerId: currentLoop(context)?.workerId,
  };
}

/** Options of the loop: those given, under what the node and the top level of the configuration say. */
function loopOptions(given: Value, config: Dict, node: JsonObject): Dict {
  const own = given instanceof Dict ? withoutKeys(given, ['resume_when']) : new Dict();
  const model = isJsonObject(node.model_policy) ? agentValue(node.model_policy) : new Dict();
  const passed = ['policy', 'permissions', 'transcript'].flatMap((key): [string, Value][] => {
    const value = dictGet(config, key);
    return value === undefined ? [] : [[key, value]];
  });
  const merged = mergeDicts(mergeDicts(model instanceof Dict ? model : new Dict(), own), dictOf(passed));
  const tools = dictGet(config, 'tools');
  // Names choose among the tools of the options; anything else brings tools of its own.
  if (Array.isArray(tools) && tools.every((tool) => typeof tool === 'string')) return onlyTools(merged, tools);
  return tools === undefined ? merged : mergeDicts(merged, dictOf([['tools', tools]]));
}

function onlyTools(options: Dict, names: Value): Dict {
  if (!Array.isArray(names)) return options;
  const registry = dictGet(options, 'tools');
  const entries = Array.isArray(registry) ? registry : field(registry, 'tools');
  if (!Array.isArray(entries)) return options;
  const kept = entries.filter((entry: Value) => names.includes(field(entry, 'name')));
  return mergeDicts(options, dictOf([['tools', kept]]));
}

function requiredTask(value: Value, message: string): string {
  const text = optionalText(value);
  if (text === undefined || text.trim() === '') throw plainError(message);
  return text;
}

function refuseUnknown(dict: Dict, known: readonly string[], text: string): void {
  const unknown = dictKeys(dict).find((key) => !known.includes(key));
  if (unknown !== undefined) throw plainError(`${text} \`${unknown}\``);
}

function orUndefined(value: Value): JsonObject | undefined {
  return value instanceof Dict ? objectJson(value) : undefined;
}

function listJson(value: Value) {
  const json = toJson(value);
  return Array.isArray(json) ? json : undefined;
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
