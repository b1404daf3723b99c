import type { Json, JsonObject } from '../../base/json.ts';
import { brandRequest, parseAwaitResumption } from '../../lifecycle/await-resumption.ts';
import { closeWorker } from '../../lifecycle/close.ts';
import { drainPipeline, resumeDrained } from '../../lifecycle/drain.ts';
import { hostPayload } from '../../lifecycle/hook-payload.ts';
import { sessionEventNamed } from '../../lifecycle/hooks.ts';
import { PARENT_LLM, type PresetName } from '../../lifecycle/resume-by.ts';
import { parseResumeConditions } from '../../lifecycle/resume-condition.ts';
import { notStructuralError } from '../../lifecycle/sus-errors.ts';
import { isSettled, unsettledCounts, unsettledState, unsettledSummary } from '../../lifecycle/unsettled.ts';
import { lifecycleOf } from '../agents/agent-lifecycle.ts';
import { agentValue, field, withoutHarness } from '../agents/agent-values.ts';
import { setFinishHook } from '../agents/finish-hook.ts';
import { hookHandler } from '../agents/lifecycle-hooks.ts';
import { harnessValue, objectJson, ownerCallback, specValue, summaryValue, valueOfSpec, workerTarget } from '../agents/lifecycle-values.ts';
import { openWork } from '../agents/open-work.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import { builtinFunction } from '../builtin-access.ts';
import type { Context } from '../context.ts';
import { dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { plainError } from '../errors.ts';
import { toJson } from '../json.ts';
import { Dict, type HarnFunction, isCallable, typeOf, type Value } from '../value.ts';

/** Conditions, owners, hooks, audits and the end of a pipeline (spec/agents.md chapters 6 to 8 and 10, spec/language.md 15.4). */
type Args = readonly Value[];

function plain(signature: string, doc: string, run: (args: Args, context: Context) => Value): Builtin {
  return { signature, doc, call: (context, _depth, ...args) => run(withoutHarness(args), context) };
}

function waiting(signature: string, doc: string, run: (args: Args, context: Context) => Promise<Value>): Builtin {
  return { signature, doc, colour: 'async', call: (context, _depth, ...args) => run(withoutHarness(args), context) };
}

/** Functions whose own first parameter is the harness: their arguments are never shifted (0.3). */
function withHarness(signature: string, doc: string, run: (args: Args, context: Context) => Promise<Value>): Builtin {
  return { signature, doc, colour: 'async', call: (context, _depth, ...args) => run(args, context) };
}

// One function must not stand behind two names: each alias is made anew.
const takeAudits = () =>
  plain(
    '() -> list',
    'The audit records of the run so far; the log is empty afterwards.',
    (_args, context) => agentValue(lifecycleOf(context.run).audit.take() as unknown as Json), // records are JSON by their fields
  );

const readAudits = () =>
  plain(
    '() -> list',
    'The audit records of the run so far; the log stays as it is.',
    (_args, context) => agentValue(lifecycleOf(context.run).audit.snapshot() as unknown as Json), // records are JSON by their fields
  );

const onFinish = () =>
  plain(
    '(callback: any) -> nil',
    'Registers the function that runs after the entry with the harness and the entry value; what it gives replaces that value. A later call replaces it.',
    ([callback], context) => {
      if (callback !== undefined && !isCallable(callback))
        throw plainError(`pipeline_on_finish: callback must be a function, got ${typeOf(callback)}`);
      setFinishHook(context.run, callback, harnessValue(context));
      return undefined;
    },
  );

const PRESET_DOCS: Readonly<Record<PresetName, string>> = {
  parent_llm: "The parent's model answers for the wake; always takes it.",
  local_runtime: 'This process arms trigger, topic and timeout; declines without conditions.',
  cloud_harness: 'The bound receiver outside answers for the wake; declines without a cloud session.',
  pipeline_drain: 'The end of the pipeline decides; always takes it.',
};

function preset(name: PresetName): Builtin {
  return {
    signature: '(harness: any, suspension: dict) -> dict',
    doc: PRESET_DOCS[name],
    colour: 'callback',
    call: (context, _depth, _harness, suspension) => {
      const answer = lifecycleOf(context.run).owners.preset(name, objectJson(suspension));
      return answer instanceof Promise ? answer.then(agentValue) : agentValue(answer);
    },
  };
}

const PRESET_NAMES: readonly PresetName[] = ['parent_llm', 'local_runtime', 'cloud_harness', 'pipeline_drain'];

/** Presets belong to no file. */
const HERE = { path: 'std/agent/resume_by', directory: '/' };

export const LIFECYCLE: BuiltinGroup = {
  name: 'lifecycle',
  title: 'Suspending and resuming',
  errors: [
    { text: 'HARN-SUS-002: …', when: 'conditions that are not valid; `field` names the place' },
    { text: 'HARN-SUS-005: …', when: '`agent_await_resumption` with a blank reason, or where no loop can park' },
    { text: 'pipeline_on_finish: callback must be a function, got T', when: '`pipeline_on_finish`' },
    { text: 'invoke_resume_by: callback must be a function or nil, got T', when: '`invoke_resume_by`' },
  ],
  builtins: {
    parse_resume_conditions: plain(
      '(value: ResumeConditions | dict | any = nil) -> any',
      'Checks resume conditions and fills in their defaults; nil gives nil.',
      ([value]) => valueOfSpec(parseResumeConditions(specValue(value), 'parse_resume_conditions')?.spec),
    ),
    agent_await_resumption: plain(
      '(reason: string | any = nil, conditions: ResumeConditions | dict | any = nil, resume_by: closure | any = nil) -> dict',
      'Checks what an agent would wait for and gives the request. A tool handler or callback that returns it parks its loop; the function itself has no effect.',
      ([reason, conditions, resumeBy]) => {
        // As the handler of a tool it would be called with the dict of arguments.
        if (reason instanceof Dict) throw notStructuralError();
        const request = parseAwaitResumption(specValue(reason), specValue(conditions), specValue(resumeBy));
        const value = dictOf([
          ['reason', request.reason],
          ['conditions', valueOfSpec(request.conditions?.spec)],
          ['resume_by', resumeBy],
        ]);
        return brandRequest(value, request);
      },
    ),
    register_session_hook: plain(
      '(event: string, pattern_or_handler: any, handler: any = nil) -> nil',
      'Runs a function at a point of the lifecycle, such as pre_suspend. Throws for an unknown event and lists the known ones.',
      ([event, second, third], context) => {
        const { pattern, handler } = hookArguments('register_session_hook', second, third);
        lifecycleOf(context.run).hooks.registerSession(display(event), pattern, hookHandler(context, handler));
        return undefined;
      },
    ),
    clear_session_hooks: plain(
      '(event: any = nil) -> nil',
      'Removes the session hooks of scripts, of one event or of all.',
      ([event], context) => {
        lifecycleOf(context.run).hooks.clearSession(event === undefined ? undefined : display(event));
        return undefined;
      },
    ),
    register_worker_hook: plain(
      '(event_or_pattern: string, handler_or_event: any, handler: any = nil) -> nil',
      'Tells a function of the life of workers, such as WorkerSuspended. It only observes.',
      ([first, second, third], context) => {
        const hooks = lifecycleOf(context.run).hooks;
        if (isCallable(second)) hooks.registerWorker(display(first), '*', hookHandler(context, second));
        else hooks.registerWorker(display(second), display(first), hookHandler(context, requireCallable('register_worker_hook', third)));
        return undefined;
      },
    ),
    __host_fire_session_hook: waiting(
      '(event: string, payload: any = nil) -> dict',
      'Runs the session hooks of an event without a transition and gives what they decided.',
      async ([event, payload], context) => {
        const name = sessionEventNamed(display(event));
        const given = hostPayload(name, objectJson(payload));
        const outcome = await lifecycleOf(context.run).hooks.runChain(name, given);
        if (outcome.control === 'deny') return agentValue({ control: 'block', reason: outcome.reason });
        const isModified = JSON.stringify(outcome.payload) !== JSON.stringify(given);
        return agentValue(isModified ? { control: 'modify', modify: outcome.payload } : { control: 'allow' });
      },
    ),
    lifecycle_audit_log_take: takeAudits(),
    lifecycle_audit_log_snapshot: readAudits(),
    pipeline_lifecycle_audit_log_take: takeAudits(),
    pipeline_lifecycle_audit_log_snapshot: readAudits(),
    pipeline_on_finish: onFinish(),

    'ResumeBy.parent_llm': preset('parent_llm'),
    'ResumeBy.local_runtime': preset('local_runtime'),
    'ResumeBy.cloud_harness': preset('cloud_harness'),
    'ResumeBy.pipeline_drain': preset('pipeline_drain'),
    resume_by_parent_llm: preset('parent_llm'),
    resume_by_local_runtime: preset('local_runtime'),
    resume_by_cloud_harness: preset('cloud_harness'),
    resume_by_pipeline_drain: preset('pipeline_drain'),
    ResumeBy: plain('() -> dict', 'The four presets by name.', (_args, context) =>
      dictOf(PRESET_NAMES.map((name): [string, Value] => [name, builtinFunction(context.run, `resume_by_${name}`, HERE)])),
    ),
    __resume_by_note_declined: plain(
      '(suspension: any, answer: dict) -> nil',
      'Notes in the audit log that an owner declined.',
      ([suspension, answer], context) => {
        lifecycleOf(context.run).owners.noteDeclined(objectJson(suspension), toJson(answer));
        return undefined;
      },
    ),
    __cloud_session_id: plain(
      '() -> any',
      'The cloud session that is bound to this run; nil without one.',
      (_args, context) => lifecycleOf(context.run).owners.cloudSessionId,
    ),
    __emit_audit: plain(
      '(kind: string, payload: any = nil) -> nil',
      'Adds a record to the audit log of the run.',
      ([kind, payload], context) => {
        lifecycleOf(context.run).audit.emit(display(kind), toJson(payload));
        return undefined;
      },
    ),
    __is_settled: plain('() -> bool', 'Whether nothing is left open.', (_args, context) => isSettled(stateOf(context))),
    __drain_pipeline: waiting(
      '() -> list',
      'Decides about everything that is left open and gives what became of it.',
      async (_args, context) =>
        (await drainPipeline(lifecycleOf(context.run), openWork(context.run))).map((item) => agentValue({ ...item })),
    ),
    __wait_for_settlement: waiting('(timeout_ms: int) -> dict', 'Waits until no worker runs any more.', waitForSettlement),
    invoke_resume_by: withHarness(
      '(callback: any, harness: any, suspension: dict) -> dict',
      'Asks one owner as the runtime does at a park, with the fall back to the parent, and gives who answers for the wake.',
      async ([callback, , suspension], context) => {
        const owners = lifecycleOf(context.run).owners;
        const subject = objectJson(suspension);
        if (callback === undefined) return agentValue(await owners.preset('parent_llm', subject));
        if (!isCallable(callback)) throw plainError(`invoke_resume_by: callback must be a function or nil, got ${typeOf(callback)}`);
        const mechanism = await owners.dispatch(ownerCallback(context, callback), subject, undefined);
        return agentValue({ handled: true, mechanism: mechanism === '' ? PARENT_LLM : mechanism });
      },
    ),

    'harness.emit_audit': plain(
      '(kind: any, payload: any = nil) -> dict',
      'Adds a record to the audit log of the run.',
      ([kind, payload], context) => {
        const entry = lifecycleOf(context.run).audit.emit(display(kind), toJson(payload));
        return recorded('emit_audit', 'recorded', entry as unknown as JsonObject); // JSON by its fields
      },
    ),
    'harness.finalize': plain(
      '(disposition: any = nil) -> dict',
      'Notes in the audit log that the pipeline is over.',
      ([disposition], context) => {
        const entry = lifecycleOf(context.run).audit.emit('pipeline_finalized', { disposition: toJson(disposition) });
        return recorded('finalize', 'finalized', entry as unknown as JsonObject); // JSON by its fields
      },
    ),
    'harness.unsettled_state': plain('() -> dict', 'What would be left open if the pipeline ended now, in five lists.', (_args, context) =>
      agentValue(stateOf(context)),
    ),
    'harness.is_empty': plain('(state: any = nil) -> bool', 'Whether nothing is left open.', ([state], context) =>
      isSettled(givenState(state, context)),
    ),
    'harness.counts': plain('(state: any = nil) -> dict', 'How much is left open, by kind.', ([state], context) =>
      agentValue(unsettledCounts(givenState(state, context))),
    ),
    'harness.unsettled_counts': plain('(state: any = nil) -> dict', 'The same as `counts`.', ([state], context) =>
      agentValue(unsettledCounts(givenState(state, context))),
    ),
    'harness.summary': plain('(state: any = nil) -> string', 'What is left open, in one line.', ([state], context) =>
      unsettledSummary(givenState(state, context)),
    ),
    'harness.cloud_session_id': plain(
      '() -> any',
      'The cloud session that is bound to this run; nil without one.',
      (_args, context) => lifecycleOf(context.run).owners.cloudSessionId,
    ),
    'harness.current_pipeline_id': plain(
      '() -> any',
      'The id of the pipeline that runs; nil outside of one.',
      (_args, context) => lifecycleOf(context.run).audit.pipelineId,
    ),
    'harness.pipeline_on_finish': onFinish(),
    'harness.handoff_to': plain(
      '(target: any = nil, payload: any = nil) -> dict',
      'Hands work to another pipeline; it counts as open until it is acknowledged.',
      ([target, payload], context) => {
        if (target === undefined)
          return agentValue({ status: 'rejected', method: 'handoff_to', reason: 'missing target pipeline argument' });
        const envelope = { id: context.run.platform.random.id('handoff'), target: display(target), payload: toJson(payload) };
        openWork(context.run).handoffs.set(envelope.id, envelope);
        return agentValue({ status: 'queued', method: 'handoff_to', envelope });
      },
    ),
    'harness.acknowledge_handoff': plain(
      '(id: any, decision: any = nil) -> dict',
      'Closes a handoff and notes it in the audit log.',
      ([id, decision], context) => {
        const handoffId = display(field(id, 'id') ?? id);
        openWork(context.run).handoffs.delete(handoffId);
        const entry = lifecycleOf(context.run).audit.emit('handoff_acknowledged', { id: handoffId, decision: toJson(decision) });
        return recorded('acknowledge_handoff', 'acknowledged', entry as unknown as JsonObject); // JSON by its fields
      },
    ),
    'harness.acknowledge_trigger': plain('(id: any) -> dict', 'Takes a deferred event off the list of open work.', ([id], context) => {
      const eventId = display(field(id, 'event_id') ?? id);
      const isKnown = openWork(context.run).deferredTriggers.delete(eventId);
      return agentValue({ status: isKnown ? 'acknowledged' : 'unknown', method: 'acknowledge_trigger', event_id: eventId });
    }),
    'harness.defer_trigger': plain(
      '(event: any) -> dict',
      'Leaves an event for later; it counts as open until it is acknowledged.',
      ([event], context) => {
        const eventId = display(field(event, 'id') ?? field(event, 'event_id') ?? event);
        openWork(context.run).deferredTriggers.set(eventId, { event_id: eventId });
        return agentValue({ status: 'deferred', method: 'defer_trigger', event_id: eventId });
      },
    ),
    'harness.resume_subagent': waiting(
      '(handle: any, input: any = nil) -> dict',
      'Resumes a parked worker at the end of the pipeline and waits for it.',
      async ([handle, input], context) => {
        const target = workerTarget(handle, 'resume_subagent');
        const summary = await resumeDrained(
          lifecycleOf(context.run),
          target.kind === 'worker' ? target.id : target.path,
          input === undefined ? undefined : display(input),
        );
        return summaryValue(summary);
      },
    ),
    'harness.cancel_subagent': waiting(
      '(handle: any) -> dict',
      'Closes a parked worker at the end of the pipeline.',
      async ([handle], context) =>
        summaryValue(await closeWorker(lifecycleOf(context.run), workerTarget(handle, 'cancel_subagent'), { by: 'operator' })),
    ),
    'harness.wait_for_any_settlement': waiting(
      '(max: any = nil) -> dict',
      'Waits until a running worker has settled, at most `max` milliseconds.',
      waitForSettlement,
    ),
  },
};

async function waitForSettlement([max]: Args, context: Context): Promise<Value> {
  const lifecycle = lifecycleOf(context.run);
  const running = lifecycle.registry.list().filter((worker) => !worker.isAtRest);
  const limitMs = typeof max === 'number' ? max : 0;
  let isTimedOut = false;
  if (running.length > 0 && limitMs > 0) {
    const timeout = lifecycle.platform.clock.sleep(limitMs, context.signal).then(() => {
      isTimedOut = true;
    });
    await Promise.race([timeout, ...running.map((worker) => worker.atRest(context.signal))]);
  }
  const state = stateOf(context);
  return agentValue({ status: isSettled(state) ? 'settled' : 'unsettled', timed_out: isTimedOut, state });
}

function stateOf(context: Context): JsonObject {
  return unsettledState(lifecycleOf(context.run), openWork(context.run));
}

function givenState(state: Value, context: Context): JsonObject {
  return state instanceof Dict ? objectJson(state) : stateOf(context);
}

function recorded(method: string, status: string, entry: JsonObject): Value {
  return agentValue({ status, method, entry });
}

function hookArguments(operation: string, second: Value, third: Value): { readonly pattern: string; readonly handler: HarnFunction } {
  if (isCallable(second)) return { pattern: '*', handler: second };
  // With one value behind the event it is the handler, whatever it is.
  return { pattern: second === undefined ? '*' : display(second), handler: requireCallable(operation, third ?? second) };
}

function requireCallable(operation: string, value: Value): HarnFunction {
  if (!isCallable(value)) throw plainError(`${operation}: expected a function, got ${typeOf(value)}`);
  return value;
}
