import { AWAIT_RESUMPTION_SPEC } from '../../agent/self-park.ts';
import type { JsonObject } from '../../base/json.ts';
import { notStructuralError } from '../../lifecycle/sus-errors.ts';
import { builtinFunction, loadBuiltins } from '../builtin-access.ts';
import { callValue } from '../call.ts';
import type { Context } from '../context.ts';
import { dictOf } from '../dict.ts';
import { plainError, thrownText } from '../errors.ts';
import { Dict, type HarnFunction, isCallable, typeOf, type Value } from '../value.ts';
import { currentLoop } from './agent-context.ts';
import { agentServices } from './agent-services.ts';
import { agentValue, field } from './agent-values.ts';

/**
 * Tools with which a model manages workers (spec/agents.md 7.5). They are no second way to suspend or resume: their
 * handlers call the functions that scripts call, as the parent.
 */
const PARENT = { agent_lifecycle: true, initiator: 'parent' };

/** Entries of a registry with the tools that `options` ask for; idempotent, since earlier ones are put in afresh. */
export function withLifecycleTools(entries: readonly Value[], options: Value): Value[] {
  const own = entries.filter((entry) => field(field(entry, 'annotations'), 'agent_lifecycle') !== true);
  const had = entries.some((entry) => field(entry, 'name') === 'subagent_pause');
  const wanted = field(options, 'subagents') ?? field(options, 'subagent_tools');
  const offersWorkers = own.some((entry) => field(entry, 'name') === 'spawn_agent' || field(entry, 'name') === 'sub_agent_run');
  return wanted === true || (wanted !== false && (had || offersWorkers)) ? [...own, PAUSE, RESUME] : own;
}

/** The lifecycle tool of the loop itself as an entry, for registries that scripts show or pass on. */
export function awaitEntry(): Value {
  const { name, description, parameters, annotations } = AWAIT_RESUMPTION_SPEC;
  return entryOf(name, description, parameters, annotations ?? {}, () => {
    throw notStructuralError();
  });
}

const PAUSE = entryOf(
  'subagent_pause',
  'Pause a worker that you started; it stops at its next turn boundary.',
  {
    type: 'object',
    properties: { handle: { description: 'Id or handle of the worker.' }, reason: { type: 'string', description: 'Why it is paused.' } },
    required: [],
  },
  PARENT,
  async (context, args) => {
    const handle = ownHandle(context, 'subagent_pause', field(args, 'handle'));
    const reason = field(args, 'reason');
    if (typeof reason !== 'string' || reason.trim() === '') throw thrownText('subagent_pause: reason is required');
    audit(context, 'subagent_pause', handle, reason);
    return shown(await callBuiltin(context, 'suspend_agent', handle, reason, dictOf([['initiator', 'parent']])), reason);
  },
);

const RESUME = entryOf(
  'subagent_resume',
  'Resume a worker that is parked, with an answer for it when there is one.',
  {
    type: 'object',
    properties: {
      handle: { description: 'Id or handle of the worker.' },
      input: { type: 'string', description: 'What the worker waits for.' },
      continue_transcript: { description: 'false starts it from a summary instead of the whole conversation.' },
    },
    required: [],
  },
  PARENT,
  async (context, args) => {
    const handle = ownHandle(context, 'subagent_resume', field(args, 'handle'));
    const continued = field(args, 'continue_transcript') ?? true;
    if (typeof continued !== 'boolean') throw thrownText('subagent_resume: continue_transcript must be a bool');
    audit(context, 'subagent_resume', handle, undefined);
    const options = dictOf([
      ['input', field(args, 'input')],
      ['continue_transcript', continued],
      ['initiator', 'parent'],
    ]);
    return shown(await callBuiltin(context, 'resume_agent', handle, options), undefined);
  },
);

type Handler = (context: Context, args: Value) => Promise<Value>;

function entryOf(name: string, description: string, parameters: JsonObject, annotations: JsonObject, run: Handler): Value {
  const handler = ((context: Context, _depth: number, args: Value) => run(context, args)) as unknown as HarnFunction;
  (handler as { meta: HarnFunction['meta'] }).meta = { kind: 'builtin', name, params: ['args'], isAsync: true };
  return dictOf([
    ['name', name],
    ['description', description],
    ['parameters', agentValue(parameters)],
    ['annotations', agentValue(annotations)],
    ['executor', 'harn'],
    ['handler', handler],
  ]);
}

async function callBuiltin(context: Context, name: string, ...args: Value[]): Promise<Value> {
  await loadBuiltins(context.run, new Set([name]));
  const place = { path: 'std/agent', directory: context.run.executionRoot };
  const fn = builtinFunction(context.run, name, place);
  if (!isCallable(fn)) throw thrownText(`${name} is not available here`);
  return callValue(context, 0, fn, ...args);
}

/** A parent may address only what it started, directly or through its workers, in this process or an earlier one. */
function ownHandle(context: Context, operation: string, handle: Value): string {
  const id = typeof handle === 'string' ? handle : field(handle, 'id');
  if (typeof id !== 'string' || id.trim() === '') throw thrownText(`${operation}: handle is required`);
  const self = currentLoop(context)?.workerId;
  if (self === undefined || !agentServices(context.run).ancestorsOf(id).includes(self)) throw thrownText(`unknown worker: ${id}`);
  return id;
}

function audit(context: Context, name: string, handle: string, reason: string | undefined): void {
  agentServices(context.run).events.emit({
    type: 'tool_call_audit',
    session_id: currentLoop(context)?.sessionId ?? null,
    tool_call_id: null,
    tool_name: name,
    audit: { layer: 'agent_lifecycle', status: 'invoked', initiator: 'parent', reason: reason ?? null, handle },
  });
}

/** No task, transcript or input of the worker: those are not for its parent's history. */
function shown(summary: Value, reason: string | undefined): Value {
  const suspension = field(summary, 'suspension');
  return dictOf([
    ['id', field(summary, 'id')],
    ['status', field(summary, 'status')],
    ['reason', field(suspension, 'reason') ?? reason],
    ['iterations_completed', field(suspension, 'iterations_completed')],
    ['snapshot_path', field(summary, 'snapshot_path')],
  ]);
}

const REGISTRY_OPTIONS = ['subagents', 'subagent_tools', 'agent_await_resumption_enabled'];

/**
 * What `agent_lifecycle_tools` gives (7.5).
 *
 * @param options those of a loop may be given as they are
 * @throws plain error for one of its own that is no bool
 */
export function lifecycleRegistryEntries(entries: readonly Value[], options: Value): Value[] {
  const operation = 'agent_lifecycle_tools';
  if (options !== undefined && !(options instanceof Dict)) throw plainError(`${operation}: options must be a dict, got ${typeOf(options)}`);
  for (const name of REGISTRY_OPTIONS) {
    const value = field(options, name);
    if (value !== undefined && typeof value !== 'boolean')
      throw plainError(`${operation}: option \`${name}\` must be a bool, got ${typeOf(value)}`);
  }
  const withParents = withLifecycleTools(entries, options);
  return field(options, 'agent_await_resumption_enabled') === false ? withParents : [...withParents, awaitEntry()];
}
