import { intersectPolicies } from '../../agent/tools/policy.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Lifecycle } from '../../lifecycle/lifecycle.ts';
import { shownPathOf } from '../../lifecycle/persist.ts';
import type { StartOptions } from '../../lifecycle/start.ts';
import { summaryOf } from '../../lifecycle/summary.ts';
import type { Worker } from '../../lifecycle/worker.ts';
import type { Context } from '../context.ts';
import { dictGet, dictKeys, dictOf, mergeDicts } from '../dict.ts';
import { display } from '../display.ts';
import { plainError } from '../errors.ts';
import { toJson } from '../json.ts';
import { Dict, type HarnFunction, typeOf, type Value } from '../value.ts';
import { currentLoop } from './agent-context.ts';
import { agentServices } from './agent-services.ts';
import { agentValue, field, optionalText, withoutKeys } from './agent-values.ts';
import { type PreparedExecution, prepareExecution } from './execution.ts';
import { objectJson, optionalCallable, suspensionValue } from './lifecycle-values.ts';
import { loopStart, reminderInheritance } from './loop-start.ts';

/** From the arguments of `spawn_agent` and `sub_agent_run` to what lifecycle starts (spec/agents.md 4.2, 4.4). */
export interface SpawnRequest {
  readonly start: StartOptions;
  readonly wait: boolean;
  /** Conditions of a worker that is born parked. */
  readonly resumeWhen: Value;
  readonly resumeBy: HarnFunction | undefined;
}

/** Every key of the config of `spawn_agent`. */
export const CONFIG_KEYS = [
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
const CARRY_WORDS: Readonly<Record<string, readonly Value[]>> = {
  artifact_mode: ['inherit', 'none'],
  transcript_mode: ['inherit', 'fork', 'reset', 'compact'],
  resume_workflow: [true, false],
  persist_state: [true, false],
  retriggerable: [true, false],
};
export const CARRY_KEYS = [
  'artifact_mode',
  'transcript_mode',
  'context_policy',
  'resume_workflow',
  'persist_state',
  'retriggerable',
  'policy',
];

/** @throws plain error for an unknown key or a missing task, before anything starts */
export async function spawnOptions(context: Context, config: Value): Promise<SpawnRequest> {
  if (!(config instanceof Dict)) throw plainError('spawn_agent: config must be a dict');
  if (dictGet(config, '_type') === 'sub_agent_request') return subAgentOptions(context, field(config, 'task'), field(config, 'options'));
  refuseUnknown(config, CONFIG_KEYS, 'spawn_agent: unknown config key');
  const carry = carryOf(dictGet(config, 'carry'), 'spawn_agent');
  const task = requiredTask(dictGet(config, 'task'), 'spawn_agent: task is required');
  const node = objectJson(dictGet(config, 'node'));
  const given = optionsOf(dictGet(config, 'options'), 'spawn_agent');
  const graph = workflowGraph(dictGet(config, 'graph'));
  const loop = carriedPolicy(loopOptions(given, config, node), carry);
  const options = graph === undefined ? loop : mergeDicts(loop, dictOf([['graph', graph]]));
  const execution = await executionOf(context, dictGet(config, 'execution'), 'spawn_agent');
  const system = dictGet(config, 'system') ?? field(dictGet(config, 'node'), 'system');
  const reminders = reminderInheritance(field(given, 'reminder_propagation'), 'spawn_agent');
  const start = await loopStart(context, { task, system, options, execution: execution?.execution, reminders });
  return {
    start: {
      ...start,
      parentWorkerId: currentLoop(context)?.workerId,
      name: optionalText(dictGet(config, 'name')) ?? 'worker',
      mode: graph === undefined ? 'stage' : 'workflow',
      carry: { ...objectJson(carry), ...start.carry },
      execution: execution?.record,
      audit: orUndefined(dictGet(config, 'audit')),
      artifacts: listJson(dictGet(config, 'artifacts')),
      config: graph === undefined ? { node: { kind: 'subagent', mode: 'llm', ...node } } : { graph: toJson(graph) },
      parentStageId: optionalText(field(field(dictGet(config, 'node'), 'metadata'), 'parent_stage_id')),
      request: requestOf(task, dictGet(config, 'system'), isJsonObject(node.metadata) ? node.metadata : {}),
    },
    wait: dictGet(config, 'wait') === true,
    resumeWhen: field(given, 'resume_when'),
    resumeBy: optionalCallable(field(given, 'resume_by'), 'spawn_agent: resume_by'),
  };
}

/** @throws plain error for a graph that `workflow_graph` did not make */
function workflowGraph(graph: Value): Value {
  if (graph === undefined || field(graph, '_type') === 'workflow_graph') return graph;
  throw plainError('spawn_agent: graph must come from workflow_graph');
}

/** What a worker is asked for beside its task; kept on its summary for whoever reads it (4.5). */
const REQUEST_LISTS = ['research_questions', 'action_items', 'workflow_stages', 'verification_steps'];

function requestOf(task: string, system: Value, given: JsonObject): JsonObject {
  const lists = REQUEST_LISTS.flatMap((key): [string, Json][] => (Array.isArray(given[key]) ? [[key, given[key]]] : []));
  return { task, system: optionalText(system) ?? null, payload: given.request ?? null, ...Object.fromEntries(lists) };
}

/** Keys of `sub_agent_run` that are no options of its loop. */
export const SUB_AGENT_KEYS = [
  'background',
  'carry',
  'returns',
  'allowed_tools',
  'name',
  'execution',
  'system',
  'resume_when',
  'reminder_propagation',
  'request',
];

/** @throws plain error for a blank task */
export async function subAgentOptions(
  context: Context,
  task: Value,
  options: Value,
): Promise<SpawnRequest & { readonly isBackground: boolean }> {
  const request = field(task, '_type') === 'sub_agent_request' ? task : undefined;
  const given = optionsOf(request === undefined ? options : field(request, 'options'), 'sub_agent_run');
  const carry = carryOf(field(given, 'carry'), 'sub_agent_run');
  const text = requiredTask(request === undefined ? task : field(request, 'task'), 'sub_agent_run: task is required');
  const loop = given instanceof Dict ? withoutKeys(given, [...SUB_AGENT_KEYS, ...REQUEST_LISTS]) : new Dict();
  const schema = toJson(field(field(given, 'returns'), 'schema'));
  const execution = await executionOf(context, field(given, 'execution'), 'sub_agent_run');
  const start = await loopStart(context, {
    task: text,
    execution: execution?.execution,
    system: field(given, 'system'),
    options: carriedPolicy(allowedTools(loop, field(given, 'allowed_tools')), carry),
    sessionId: agentServices(context.run).random.id('sub_agent_session'),
    returnsSchema: isJsonObject(schema) ? schema : undefined,
    reminders: reminderInheritance(field(given, 'reminder_propagation'), 'sub_agent_run'),
  });
  return {
    start: {
      ...start,
      parentWorkerId: currentLoop(context)?.workerId,
      name: optionalText(field(given, 'name')) ?? 'sub-agent',
      mode: 'sub_agent',
      carry: { ...objectJson(field(given, 'carry')), ...start.carry },
      execution: execution?.record,
      request: requestOf(text, field(given, 'system'), objectJson(given)),
    },
    wait: false,
    isBackground: field(given, 'background') === true,
    resumeWhen: field(given, 'resume_when'),
    resumeBy: optionalCallable(field(given, 'resume_by'), 'sub_agent_run: resume_by'),
  };
}

async function executionOf(context: Context, given: Value, operation: string): Promise<PreparedExecution | undefined> {
  if (given === undefined) return undefined;
  if (!(given instanceof Dict)) throw plainError(`${operation}: execution must be a dict, got ${typeOf(given)}`);
  return prepareExecution(context, objectJson(given), operation);
}

/** @throws plain error for anything but a dict; what it says to the loop is checked there */
function optionsOf(given: Value, operation: string): Dict | undefined {
  if (given === undefined || given instanceof Dict) return given;
  throw plainError(`${operation}: options must be a dict, got ${typeOf(given)}`);
}

/** @throws plain error for a key or a value that means nothing: a worker would inherit what it was to be spared */
function carryOf(carry: Value, operation: string): Dict | undefined {
  if (carry === undefined) return undefined;
  if (!(carry instanceof Dict)) throw plainError(`${operation}: carry must be a dict, got ${typeOf(carry)}`);
  refuseUnknown(carry, CARRY_KEYS, `${operation}: unknown carry key`);
  for (const [key, words] of Object.entries(CARRY_WORDS)) {
    const value = dictGet(carry, key);
    if (value !== undefined && !words.includes(value))
      throw plainError(`${operation}: carry.${key} must be ${words.join(', ')}, got ${display(value)}`);
  }
  return carry;
}

/** `carry.policy` narrows as any other. */
function carriedPolicy(options: Dict, carry: Value): Dict {
  const carried = objectOrUndefined(toJson(field(carry, 'policy')));
  if (carried === undefined) return options;
  return mergeDicts(
    options,
    dictOf([['policy', agentValue(intersectPolicies(carried, objectOrUndefined(toJson(field(options, 'policy')))))]]),
  );
}

/** Its tools are the allowed ones, and a call of any other is denied, not unknown. */
function allowedTools(options: Dict, names: Value): Dict {
  const chosen = onlyTools(options, names);
  const allowed = toJson(names);
  if (!Array.isArray(allowed)) return chosen;
  const policy = intersectPolicies(objectOrUndefined(toJson(field(options, 'policy'))), { tools: allowed });
  return mergeDicts(chosen, dictOf([['policy', agentValue(policy)]]));
}

function objectOrUndefined(json: Json): JsonObject | undefined {
  return isJsonObject(json) ? json : undefined;
}

/**
 * The envelope of a foreground child (4.4): what its loop made of its end, or why there is none.
 */
export function subAgentEnvelope(lifecycle: Lifecycle, worker: Worker): Value {
  const { result } = summaryOf(worker, shownPathOf(lifecycle, worker));
  const outcome = isJsonObject(result) ? result : {};
  if (worker.status === 'completed') return agentValue(outcome);
  const isParked = worker.status === 'suspended';
  const category = worker.status === 'cancelled' ? 'cancelled' : (worker.failureCategory ?? 'generic');
  const message = worker.record.latest_error ?? `the worker ended as ${worker.status}`;
  return dictOf([
    ['ok', false],
    ['summary', ''],
    ['artifacts', agentValue(worker.record.artifacts)],
    ['evidence_added', 0],
    ['tokens_used', tokensUsed(worker)],
    ['budget_exceeded', false],
    ['data', undefined],
    ['error', isParked ? undefined : agentValue({ category, message })],
    ['session_id', worker.sessionId],
    ['transcript', isParked ? undefined : agentValue(worker.state.transcript)],
    ['status', worker.status],
    ['suspension', isParked ? suspensionValue(outcome) : undefined],
  ]);
}

function tokensUsed({ state: { loop } }: Worker): number {
  return numberOf(loop.input_tokens) + numberOf(loop.output_tokens);
}

/** Options of the loop: those given, under what the node and the top level of the configuration say. */
function loopOptions(given: Value, config: Dict, node: JsonObject): Dict {
  const own = given instanceof Dict ? withoutKeys(given, ['resume_when']) : new Dict();
  const model = isJsonObject(node.model_policy) ? agentValue(node.model_policy) : new Dict();
  const nodeTools = field(dictGet(config, 'node'), 'tools');
  const passed = ['policy', 'permissions', 'transcript'].flatMap((key): [string, Value][] => {
    const value = dictGet(config, key);
    return value === undefined ? [] : [[key, value]];
  });
  const ofNode = nodeTools === undefined ? new Dict() : dictOf([['tools', nodeTools]]);
  const merged = [ofNode, own, dictOf(passed)].reduce(mergeDicts, model instanceof Dict ? model : new Dict());
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
