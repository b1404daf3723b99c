import { errorText } from '../base/harn-error.ts';
import type { JsonObject } from '../base/json.ts';
import type { Clock, Platform } from '../platform/platform.ts';
import type { EventLog } from '../store/event-log.ts';
import { ownIdentity } from '../store/process-identity.ts';
import type { StateLocations } from '../store/state-root.ts';
import { addWaiter, removeWaiter } from '../store/waiter-file.ts';
import type { LoopRunner } from './activation.ts';
import { AuditLog } from './audit.ts';
import { type CloudHarness, cloudHarnessFromEnvironment } from './cloud-harness.ts';
import { DueQueue } from './due-queue.ts';
import { expireWorker } from './expire.ts';
import { HookRegistry, type HookTape } from './hooks.ts';
import type { Lifecycle, Rebinder } from './lifecycle.ts';
import { ObservedEventLog } from './observed-event-log.ts';
import { loadedWorker } from './rearm.ts';
import { WorkerRegistry } from './registry.ts';
import { isLostWake, resumeWorker } from './resume.ts';
import { type ResumeByCallback, ResumeOwners } from './resume-by.ts';
import { timeoutActionError } from './sus-errors.ts';
import { TriggerRegistry } from './trigger-registry.ts';
import type { TriggerSpec } from './trigger-spec.ts';
import type { ParkedWorker } from './waiting.ts';
import { type WaiterIndex, type Wake, type WakeOutcome, Waker } from './waker.ts';

export interface LifecycleOptions {
  readonly platform: Platform;
  readonly realClock: Clock;
  readonly runner: LoopRunner;
  readonly rebinder: Rebinder;
  readonly locations: StateLocations;
  readonly projectRoot?: string | undefined;
  readonly scriptDirectory?: string | undefined;
  readonly eventLog: EventLog;
  readonly emit?: (event: JsonObject) => void;
  readonly warn?: (text: string) => void;
  readonly hookTape?: (sessionId: string) => HookTape;
  readonly cloud?: CloudHarness;
  /** Makes the callback that a park request carries callable; left out, it is a `ResumeByCallback` already. */
  readonly bindOwner?: (callback: unknown) => ResumeByCallback;
  /** Says why a provider of triggers refuses a spec. */
  readonly admitTrigger?: (spec: TriggerSpec) => string | undefined;
}

/** Puts the parts of lifecycle together. */
export function createLifecycle(options: LifecycleOptions): Lifecycle {
  const { platform, realClock } = options;
  const eventLog = new ObservedEventLog(options.eventLog, realClock);
  const audit = new AuditLog(eventLog, platform.clock);
  const triggers = new TriggerRegistry(options.admitTrigger);
  const waker = new Waker({
    platform,
    triggers,
    eventLog,
    audit,
    queue: new DueQueue(platform.clock, realClock),
    index: waiterIndex(options),
    calls: {
      // Whoever stops the process for good takes its waits with it; the files keep them.
      resume: async (wake) => (lifecycle.stopping === undefined ? wakeWorker(lifecycle, wake) : 'failed'),
      expire: (parked, suspensionId) => expireWorker(lifecycle, loadedWorker(lifecycle, parked), suspensionId),
      refuseTimeout: (worker, suspensionId, action) =>
        noteLost(lifecycle, worker, suspensionId, 'timeout', timeoutActionError('auto_resume', { text: action })),
    },
  });
  const owners = new ResumeOwners({
    audit,
    waker,
    realClock,
    cloud: options.cloud ?? cloudHarnessFromEnvironment(platform),
    bind: options.bindOwner ?? ((callback) => callback as ResumeByCallback),
  });
  const lifecycle: Lifecycle = {
    platform,
    realClock,
    claims: { files: platform.files, random: platform.random, processes: platform.processes, system: platform.system, realClock },
    runner: options.runner,
    rebinder: options.rebinder,
    locations: options.locations,
    projectRoot: options.projectRoot,
    scriptDirectory: options.scriptDirectory,
    registry: new WorkerRegistry(),
    running: new Set(),
    stopping: undefined,
    hooks: new HookRegistry(),
    audit,
    eventLog,
    owners,
    triggers,
    waker,
    emit: options.emit ?? (() => undefined),
    warn: options.warn ?? (() => undefined),
    hookTape: options.hookTape ?? (() => () => undefined),
  };
  return lifecycle;
}

/**
 * The index of waiters is a help for the next host and never a reason to fail: it can be built again from the
 * snapshots.
 */
function waiterIndex({ platform, locations, warn }: LifecycleOptions): WaiterIndex {
  const attempt = (action: () => void): void => {
    try {
      action();
    } catch (error) {
      warn?.(`harn: ${locations.waiters} cannot be written (${errorText(error)}); harn serve will rebuild it`);
    }
  };
  return {
    add: (waiter) => attempt(() => addWaiter(platform.files, locations.waiters, { ...waiter, armed_by: ownIdentity(platform) })),
    remove: (workerId, suspensionId) => attempt(() => removeWaiter(platform.files, locations.waiters, workerId, suspensionId)),
  };
}

/** An automatic wake is a resume like any other; that it lost is a note, not an error to anyone. */
async function wakeWorker(lifecycle: Lifecycle, wake: Wake): Promise<WakeOutcome> {
  const { worker, suspensionId, cause, triggerId, eventId } = wake;
  try {
    const summary = await resumeWorker(lifecycle, {
      target: { kind: 'worker', id: worker.id, suspensionId },
      input: wake.input,
      continueTranscript: wake.continueTranscript,
      cause,
      triggerId,
      eventId,
      startedAt: lifecycle.realClock.now(),
      entry: lifecycle.registry.nextEntry(),
      mayReadResult: false,
    });
    if (summary.pre_resume_denied !== undefined) return 'denied';
    lifecycle.audit.emit(cause === 'timeout' ? 'auto_resume_expired' : 'auto_resume_fired', {
      handle: worker.id,
      mechanism:
        worker.suspension?.resume_by_mechanism ?? lifecycle.registry.get(worker.id)?.record.last_suspension?.resume_by_mechanism ?? null,
      ...(triggerId === undefined ? {} : { trigger_id: triggerId }),
      ...(eventId === undefined ? {} : { event_id: eventId }),
    });
    return 'resumed';
  } catch (error) {
    if (!isLostWake(error)) {
      lifecycle.warn(`harn: ${worker.id} could not be woken: ${errorText(error)}`);
      return 'failed';
    }
    noteLost(lifecycle, worker, suspensionId, cause, error);
    return 'lost';
  }
}

function noteLost(lifecycle: Lifecycle, worker: ParkedWorker, suspensionId: string, cause: string, error: { readonly code: string }): void {
  lifecycle.audit.emit('auto_resume_lost', {
    handle: worker.id,
    cause,
    code: error.code,
    suspension_id: suspensionId,
    winner_generation: lifecycle.registry.get(worker.id)?.generation ?? null,
  });
}
