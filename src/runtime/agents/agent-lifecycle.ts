import { dirname } from 'node:path';
import { decodeReminderSpec } from '../../agent/reminder.ts';
import { createLoopRunner } from '../../agent/runner.ts';
import { isTranscript, plainEvent } from '../../agent/transcript/transcript.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { ancestorsOf } from '../../lifecycle/ancestors.ts';
import { createLifecycle } from '../../lifecycle/create-lifecycle.ts';
import { drainPipeline } from '../../lifecycle/drain.ts';
import type { HookTape } from '../../lifecycle/hooks.ts';
import type { Lifecycle } from '../../lifecycle/lifecycle.ts';
import { shownPathOf } from '../../lifecycle/persist.ts';
import { parkForSignal, settleForSignal, workersAtWork } from '../../lifecycle/signal.ts';
import { summaryOf } from '../../lifecycle/summary.ts';
import type { Worker } from '../../lifecycle/worker.ts';
import { realClock } from '../../platform/controlled-clock.ts';
import type { StopSignal } from '../../platform/platform.ts';
import { createEventLog } from '../../store/event-log.ts';
import { locateState } from '../../store/state-root.ts';
import { approvalsOf } from '../approvals.ts';
import type { Run } from '../context.ts';
import { isUnfiled } from '../program/project-root.ts';
import { handleStop, type StoppedLoops } from '../stop-signals.ts';
import { rootContext } from '../task-context.ts';
import type { HarnFunction } from '../value.ts';
import { createRebinder } from './agent-rebind.ts';
import { type AgentServices, agentServices, inboxOf } from './agent-services.ts';
import { removeWorktree } from './execution.ts';
import { setFinishStages } from './finish-hook.ts';
import { ownerCallback } from './lifecycle-values.ts';
import { withLoopEnds } from './loop-ends.ts';
import { registerManifestHooks } from './manifest-hooks.ts';
import { openWork } from './open-work.ts';

const LIFECYCLE = Symbol('lifecycle');

/** The one lifecycle of a run: whatever suspends, resumes, closes or lists workers in it goes through here. */
export function lifecycleOf(run: Run): Lifecycle {
  return run.service(LIFECYCLE, createForRun);
}

function createForRun(run: Run): Lifecycle {
  const { platform } = run;
  const services = agentServices(run);
  const locations = locateState(platform.env, run.stateRoot);
  const lifecycle = createLifecycle({
    platform,
    realClock: realClock(platform.clock),
    runner: withLoopEnds(createLoopRunner(services), run),
    rebinder: createRebinder(run, {
      enterProject: (root) => registerManifestHooks(run, root, lifecycle.hooks),
      scriptEvents: () => lifecycle.hooks.scriptEvents(),
    }),
    locations,
    projectRoot: run.projectRoot,
    scriptDirectory: isUnfiled(run.scriptPath) ? undefined : dirname(run.scriptPath),
    eventLog: createEventLog(platform.files, platform.env, { defaultBackend: 'file', directory: locations.events }),
    emit: (event) => services.events.emit(event),
    bindOwner: (callback) => ownerCallback(rootContext(run), callback as HarnFunction), // a `resume_by` closure
    warn: (text) => run.output.err(`${text}\n`),
    hookTape: (sessionId) => tapeOf(services, sessionId),
  });
  services.isSessionInUse = (id) => lifecycle.registry.usesSession(id) || [...lifecycle.running].some((worker) => worker.sessionId === id);
  services.ancestorsOf = (id) => ancestorsOf(lifecycle, id);
  services.parkedTranscript = (id) => {
    const transcript = lifecycle.registry.parkedIn(id)?.state.transcript;
    return isTranscript(transcript) ? transcript : undefined;
  };
  lifecycle.hooks.isApproved = approvalsOf(run).areGranted;
  removeEndedWorktrees(run, lifecycle);
  registerManifestHooks(run, run.projectRoot, lifecycle.hooks);
  setFinishStages(run, {
    before: () => lifecycle.hooks.notify('pre_finish', { event: 'PreFinish' }, (text) => lifecycle.warn(text)),
    after: async () => {
      await drainPipeline(lifecycle, openWork(run));
      await lifecycle.hooks.notify('post_finish', { event: 'PostFinish' }, (text) => lifecycle.warn(text));
    },
  });
  handleStop(run, {
    park: (signal, graceMs) => parkForSignal(lifecycle, signal, graceMs),
    settle: (signal) => stoppedLoops(lifecycle, signal),
    running: () => cutOff(lifecycle, workersAtWork(lifecycle)),
  });
  services.runTurnHook = async (event, payload, sessionId) => {
    const outcome = await lifecycle.hooks.runChain(event, payload, tapeOf(services, sessionId));
    const denied = outcome.control === 'deny' ? outcome.reason : undefined;
    return { denied, reminders: outcome.reminders.map((spec) => ({ source: 'hook', ...decodeReminderSpec(spec) })) };
  };
  return lifecycle;
}

/** Lets the loops of a session look at their inbox, should they idle. */
export function wakeSession(run: Run, sessionId: string): void {
  for (const worker of lifecycleOf(run).running) if (worker.sessionId === sessionId) worker.announceChange();
}

/** Only their payloads are made to be logged (10.4); what other hooks are given may quote the transcript. */
const LOGGED_PAYLOADS = ['pre_suspend', 'post_suspend', 'pre_resume', 'post_resume'];

/** A work tree that was made for one worker and is not to be kept goes with it (4.2 `worktree.cleanup`). */
function removeEndedWorktrees(run: Run, { hooks, registry }: Lifecycle): void {
  for (const event of ['WorkerCompleted', 'WorkerFailed', 'WorkerCancelled']) {
    hooks.registerWorker(event, '*', async ({ worker_id: id }) => {
      const execution = registry.get(String(id))?.record.execution;
      if (isJsonObject(execution)) await removeWorktree(rootContext(run), execution);
      return { value: null };
    });
  }
}

/** Calls of hooks go to whoever follows the events, and to the transcript of the session with the next turn or park (10.3). */
function tapeOf(services: AgentServices, sessionId: string): HookTape {
  const { tape } = inboxOf(services, sessionId);
  return ({ kind, event, payload, reason }) => {
    const facts = { event, ...(reason === undefined ? {} : { reason }) };
    tape.push(plainEvent(kind, event, facts));
    const shown = payload !== undefined && LOGGED_PAYLOADS.includes(event) ? { payload } : {};
    services.events.emit({ type: kind, session_id: sessionId, ...facts, ...shown });
  };
}

function stoppedLoops(lifecycle: Lifecycle, signal: StopSignal): StoppedLoops {
  const { parked, interrupted } = settleForSignal(lifecycle, signal);
  return {
    suspensions: rootsFirst(parked).map((worker) => suspensionOf(lifecycle, worker)),
    interrupted: cutOff(lifecycle, interrupted),
  };
}

function cutOff(lifecycle: Lifecycle, workers: readonly Worker[]): StoppedLoops['interrupted'] {
  return workers.map((worker) => ({ workerId: worker.id, snapshotPath: shownPathOf(lifecycle, worker) }));
}

function rootsFirst(workers: readonly Worker[]): Worker[] {
  const isRoot = (worker: Worker): boolean => worker.record.mode === 'top_level_agent';
  return [...workers.filter(isRoot), ...workers.filter((worker) => !isRoot(worker))];
}

/** The Suspension of 5.2: the result of a parked worker. */
function suspensionOf(lifecycle: Lifecycle, worker: Worker): JsonObject {
  const { result } = summaryOf(worker, shownPathOf(lifecycle, worker));
  return isJsonObject(result) ? result : {};
}
