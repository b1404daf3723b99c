import type { JsonObject } from '../../base/json.ts';
import { closeNamed } from '../../lifecycle/close.ts';
import type { Lifecycle } from '../../lifecycle/lifecycle.ts';
import { shownPathOf } from '../../lifecycle/persist.ts';
import { resumeWorker } from '../../lifecycle/resume.ts';
import { parseResumeConditions } from '../../lifecycle/resume-condition.ts';
import type { ResumeTarget } from '../../lifecycle/resume-subject.ts';
import { restartWorker, spawnParked, spawnWorker } from '../../lifecycle/start.ts';
import { summaryOf } from '../../lifecycle/summary.ts';
import { DEFAULT_WAIT_MS, suspendNamed } from '../../lifecycle/suspend.ts';
import { unsettledState, unsettledSummary } from '../../lifecycle/unsettled.ts';
import { knownSubject, whenNotElsewhere } from '../../lifecycle/wait-elsewhere.ts';
import type { Worker } from '../../lifecycle/worker.ts';
import { noTargetError } from '../../store/snapshot-error.ts';
import { currentLoop } from '../agents/agent-context.ts';
import { lifecycleOf } from '../agents/agent-lifecycle.ts';
import { field, withoutHarness } from '../agents/agent-values.ts';
import { hookWorkerId } from '../agents/lifecycle-hooks.ts';
import {
  isInsideWorker,
  knownWorker,
  objectJson,
  optionalCallable,
  specValue,
  summaryValue,
  workerSummary,
  workerTarget,
} from '../agents/lifecycle-values.ts';
import { openWork } from '../agents/open-work.ts';
import { spawnOptions, subAgentEnvelope, subAgentOptions } from '../agents/spawn-options.ts';
import { workflowEngine } from '../agents/workflow-port.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { dictGet, dictHas, dictOf, mergeDicts } from '../dict.ts';
import { display } from '../display.ts';
import { plainError } from '../errors.ts';
import { stringify } from '../json.ts';
import { holdWhileStopping, refuseWhileStopping } from '../stopping.ts';
import { Dict, typeOf, type Value } from '../value.ts';

/** Workers of scripts (spec/agents.md chapters 4 and 5). Each function finds its worker and leaves the rest to lifecycle. */
type Args = readonly Value[];

function waiting(signature: string, doc: string, run: (context: Context, lifecycle: Lifecycle, args: Args) => Promise<Value>): Builtin {
  return {
    signature,
    doc,
    colour: 'async',
    call: (context, _depth, ...args) => run(context, lifecycleOf(context.run), withoutHarness(args)),
  };
}

function reading(signature: string, doc: string, run: (lifecycle: Lifecycle, args: Args) => Value): Builtin {
  return { signature, doc, call: (context, _depth, ...args) => run(lifecycleOf(context.run), withoutHarness(args)) };
}

export const WORKERS: BuiltinGroup = {
  name: 'workers',
  title: 'Workers',
  errors: [
    { text: 'HARN-SUS-001: …', when: '`suspend_agent` of a worker that has ended' },
    { text: 'HARN-SUS-003: …', when: '`resume_agent` of a worker that runs' },
    { text: 'HARN-SUS-006: …', when: 'somebody else resumes the same suspension' },
    { text: 'HARN-SUS-010: …', when: '`resume_agent` of a closed worker' },
    { text: 'send_input: task must be a non-empty string', when: '`send_input`' },
    { text: 'worker_trigger: worker ID is not retriggerable', when: '`worker_trigger`' },
    { text: 'resume_agent: continue_transcript must be a bool', when: '`resume_agent`' },
  ],
  builtins: {
    spawn_agent: waiting(
      '(config: SpawnConfig | dict) -> dict',
      'Starts a worker beside the script and gives its handle; with `wait: true` the summary of its end. Throws for an unknown key.',
      (context, lifecycle, [config]) => spawnAgent(context, lifecycle, config),
    ),
    'harness.spawn_settlement_agent': waiting(
      '(config: dict | nil = nil) -> dict',
      'Starts a worker that is to settle what is left open: as spawn_agent, called `settlement` and with a task that says what is open, where the config says nothing else.',
      (context, lifecycle, [config]) => {
        const open = unsettledSummary(unsettledState(lifecycle, openWork(context.run)));
        const usual = dictOf([
          ['name', 'settlement'],
          ['task', `Settle what is left open at the end of the pipeline: ${open}`],
        ]);
        return spawnAgent(context, lifecycle, config instanceof Dict ? mergeDicts(usual, config) : usual);
      },
    ),
    sub_agent_run: waiting(
      '(task: any = nil, options: SubAgentOptions | dict | any = nil) -> dict',
      'Runs a loop on behalf of the caller and gives its envelope, or with `background: true` its handle.',
      async (context, lifecycle, [task, options]) => {
        const request = await subAgentOptions(context, task, options);
        const { worker, summary } = await startWorker(lifecycle, request);
        if (request.isBackground) return summaryValue(summary);
        await worker.atRest(context.signal);
        await holdWhileStopping(context);
        return subAgentEnvelope(lifecycle, worker);
      },
    ),
    sub_agent_request: {
      signature: '(task: any = nil, options: SubAgentOptions | dict | any = nil) -> dict',
      doc: 'A request that `sub_agent_run` and `spawn_agent` take, now or later. Throws for a blank task.',
      call: (_context, _depth, ...args) => {
        const [task, options] = withoutHarness(args);
        if (typeof task !== 'string' || task.trim() === '') throw plainError('sub_agent_request: task is required');
        return dictOf([
          ['_type', 'sub_agent_request'],
          ['task', task],
          ['options', options ?? new Dict()],
        ]);
      },
    },
    __workflow_engine: {
      signature: '(execute: any = nil) -> nil',
      doc: 'Says which function runs the graphs of workers.',
      call: (context, _depth, execute) => {
        workflowEngine(context.run).execute = optionalCallable(execute, '__workflow_engine: execute');
        return undefined;
      },
    },
    wait_agent: waiting(
      '(handle: any) -> any',
      'Waits until a worker has ended or is parked and gives its summary; a list gives a list in its order.',
      async (context, lifecycle, [handle]) => {
        if (!Array.isArray(handle)) return settledSummary(context, lifecycle, workerTarget(handle, 'wait_agent'));
        const targets = handle.map((item: Value) => workerTarget(item, 'wait_agent'));
        for (const target of targets) knownSubject(lifecycle, target);
        return Promise.all(targets.map((target) => settledSummary(context, lifecycle, target)));
      },
    ),
    list_agents: reading('() -> list', 'Summaries of the workers of this run, oldest first, ended and parked ones included.', (lifecycle) =>
      lifecycle.registry.list().map((worker) => workerSummary(lifecycle, worker)),
    ),
    send_input: waiting(
      '(handle: any, task: string) -> dict',
      'Gives a finished worker its next task; its transcript goes on. Throws while it runs, and for a blank task.',
      async (context, lifecycle, [handle, task]) => {
        await refuseWhileStopping(context, 'send_input');
        const worker = knownWorker(lifecycle, handle, 'send_input');
        const text = task === undefined ? '' : display(task);
        if (text.trim() === '') throw plainError('send_input: task must be a non-empty string');
        restartWorker(lifecycle, worker, 'send_input', text);
        return workerSummary(lifecycle, worker);
      },
    ),
    worker_trigger: waiting(
      '(handle: any, payload: any = nil) -> dict',
      'Starts the next cycle of a retriggerable worker with the payload as its task.',
      async (context, lifecycle, [handle, payload]) => {
        await refuseWhileStopping(context, 'worker_trigger');
        const worker = knownWorker(lifecycle, handle, 'worker_trigger');
        if (worker.record.carry_policy.retriggerable !== true) throw plainError(`worker_trigger: worker ${worker.id} is not retriggerable`);
        const text = typeof payload === 'string' ? payload : stringify(payload);
        restartWorker(lifecycle, worker, 'worker_trigger', text, objectJson(payload));
        return workerSummary(lifecycle, worker);
      },
    ),
    suspend_agent: waiting(
      '(worker: any, reason: any = "", options: SuspendOptions | dict | any = nil) -> dict',
      'Asks a worker to park at its next turn boundary and waits for that, two seconds at most. Gives the summary: suspended, or running with `suspend_requested` or `pre_suspend_denied`.',
      suspendAgent,
    ),
    resume_agent: waiting(
      '(worker: any, input: ResumeOptions | dict | string | list | int | float | bool | nil = nil, continue_transcript: bool | any = nil) -> dict',
      'Resumes a parked worker by handle, id, Suspension or path of its snapshot, with or without input.',
      resumeAgent,
    ),
    close_agent: waiting(
      '(worker: any) -> dict',
      'Ends a worker for good. A worker that has ended already is left as it is.',
      async (context, lifecycle, [worker]) => {
        const by = currentLoop(context) === undefined ? 'operator' : 'parent';
        return summaryValue(await closeNamed(lifecycle, workerTarget(worker, 'close_agent'), { by }));
      },
    ),
    __worker_part: reading(
      '(handle: any, part: string) -> any',
      'Behind `worker_request`, `worker_result` and `worker_provenance` of std/agents.',
      (lifecycle, [handle, part]) => summaryPart(lifecycle, handle, String(part)),
    ),
    worker_request: reading('(handle: any) -> any', 'The request of a worker: task, system and payload.', (lifecycle, [handle]) =>
      summaryPart(lifecycle, handle, 'request'),
    ),
    worker_result: reading('(handle: any) -> any', 'The result of a worker; the Suspension while it is parked.', (lifecycle, [handle]) =>
      summaryPart(lifecycle, handle, 'result'),
    ),
    worker_provenance: reading('(handle: any) -> any', 'Where a worker comes from: parents, sessions, paths.', (lifecycle, [handle]) =>
      summaryPart(lifecycle, handle, 'provenance'),
    ),
  },
};

async function startWorker(
  lifecycle: Lifecycle,
  request: Awaited<ReturnType<typeof spawnOptions>>,
): Promise<{ readonly worker: Worker; readonly summary: JsonObject }> {
  if (request.resumeWhen === undefined) return spawnWorker(lifecycle, request.start);
  const conditions = parseResumeConditions(specValue(request.resumeWhen), 'spawn_agent');
  if (conditions === undefined) return spawnWorker(lifecycle, request.start);
  const worker = await spawnParked(lifecycle, request.start, conditions, request.resumeBy);
  return { worker, summary: summaryOf(worker, shownPathOf(lifecycle, worker)) };
}

async function spawnAgent(context: Context, lifecycle: Lifecycle, config: Value): Promise<Value> {
  const request = await spawnOptions(context, config);
  const started = await startWorker(lifecycle, request);
  if (!request.wait) return summaryValue(started.summary);
  await started.worker.atRest(context.signal);
  await holdWhileStopping(context);
  return workerSummary(lifecycle, started.worker);
}

/** The summary once a worker runs no longer, in whichever process; what another one has of it is in its files. */
async function settledSummary(context: Context, lifecycle: Lifecycle, target: ResumeTarget): Promise<Value> {
  const { worker, summary } = await whenNotElsewhere(lifecycle, target, context.signal);
  await worker?.settled(context.signal);
  await holdWhileStopping(context);
  return worker === undefined ? summaryValue(summary()) : workerSummary(lifecycle, worker);
}

/** One part of the summary of a worker. */
function summaryPart(lifecycle: Lifecycle, handle: Value, part: string): Value {
  const { summary } = knownSubject(lifecycle, workerTarget(handle, `worker_${part}`));
  return field(summaryValue(summary()), part);
}

const INITIATORS = ['self', 'parent', 'operator', 'triggered'] as const;

async function suspendAgent(context: Context, lifecycle: Lifecycle, [handle, reason, options]: Args): Promise<Value> {
  const target = workerTarget(handle, 'suspend_agent');
  const id = target.kind === 'worker' ? target.id : undefined;
  if (options !== undefined && !(options instanceof Dict))
    throw plainError(`suspend_agent: options must be a dict, got ${typeOf(options)}`);
  const callback = optionalCallable(field(options, 'resume_by'), 'suspend_agent: resume_by');
  const named = field(options, 'initiator');
  const initiator = INITIATORS.find((known) => known === named) ?? (currentLoop(context) === undefined ? 'operator' : 'parent');
  const waitMs = field(options, 'wait_ms');
  const summary = await suspendNamed(lifecycle, target, {
    reason: reason === undefined ? '' : display(reason),
    initiator,
    conditions: specValue(field(options, 'conditions')),
    resumeBy: callback,
    waitMs: id !== undefined && isInsideWorker(context, id) ? 0 : typeof waitMs === 'number' ? waitMs : DEFAULT_WAIT_MS,
    isInHook: id !== undefined && hookWorkerId(context) === id,
  });
  return summaryValue(summary);
}

const RESUME_KEYS = ['input', 'resume_input', 'continue_transcript', 'initiator', 'resume_initiator', 'trigger_event', 'suspension_id'];

async function resumeAgent(context: Context, lifecycle: Lifecycle, [handle, second, third]: Args): Promise<Value> {
  const startedAt = lifecycle.realClock.now();
  const entry = lifecycle.registry.nextEntry();
  await refuseWhileStopping(context, 'resume_agent');
  const options = second instanceof Dict && RESUME_KEYS.some((key) => dictHas(second, key)) ? second : undefined;
  if (handle === undefined || (typeof handle === 'string' && handle.trim() === '')) throw noTargetError();
  const target = workerTarget(handle, 'resume_agent');
  const suspensionId = field(options, 'suspension_id');
  const continues = third ?? field(options, 'continue_transcript');
  if (continues !== undefined && typeof continues !== 'boolean') throw plainError('resume_agent: continue_transcript must be a bool');
  const event = field(options, 'trigger_event');
  const eventId = field(event, 'id');
  const triggerId = field(event, 'trigger_id') ?? field(event, 'binding_id');
  const summary = await resumeWorker(lifecycle, {
    target: typeof suspensionId === 'string' ? { ...target, suspensionId } : target,
    input: inputText(options === undefined ? second : (dictGet(options, 'input') ?? dictGet(options, 'resume_input'))),
    continueTranscript: continues ?? true,
    cause: resumeCause(context, field(options, 'initiator') ?? field(options, 'resume_initiator'), event !== undefined),
    triggerId: typeof triggerId === 'string' ? triggerId : undefined,
    eventId: typeof eventId === 'string' ? eventId : undefined,
    startedAt,
    entry,
    mayReadResult: true,
    isInHook: target.kind === 'worker' && hookWorkerId(context) === target.id,
  });
  return summaryValue(summary);
}

function inputText(value: Value): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'string' ? value : stringify(value);
}

function resumeCause(context: Context, named: Value, hasEvent: boolean): 'operator' | 'parent' | 'triggered' | 'timeout' {
  if (named === 'operator' || named === 'parent' || named === 'triggered' || named === 'timeout') return named;
  if (hasEvent) return 'triggered';
  return currentLoop(context) === undefined ? 'operator' : 'parent';
}
