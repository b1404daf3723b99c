import { join } from 'node:path';
import type { JsonObject } from '../../src/base/json.ts';
import type { LoopEnd } from '../../src/lifecycle/activation.ts';
import { closeWorker } from '../../src/lifecycle/close.ts';
import { createLifecycle, type LifecycleOptions } from '../../src/lifecycle/create-lifecycle.ts';
import { Dispatcher } from '../../src/lifecycle/dispatcher.ts';
import type { Lifecycle } from '../../src/lifecycle/lifecycle.ts';
import { shownPathOf } from '../../src/lifecycle/persist.ts';
import { type ResumeRequest, resumeWorker } from '../../src/lifecycle/resume.ts';
import type { ResumeTarget } from '../../src/lifecycle/resume-subject.ts';
import { runRootLoop, type StartOptions, spawnWorker } from '../../src/lifecycle/start.ts';
import { summaryOf } from '../../src/lifecycle/summary.ts';
import { DEFAULT_WAIT_MS, type SuspendRequest, suspendWorker } from '../../src/lifecycle/suspend.ts';
import type { Worker } from '../../src/lifecycle/worker.ts';
import { ControlledClock } from '../../src/platform/controlled-clock.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { MemoryEventLog } from '../../src/store/event-log.ts';
import { isSnapshotPath, locateState } from '../../src/store/state-root.ts';
import { testPlatform } from '../store/test-platform.ts';
import { type ScriptedLive, type ScriptedRunner, scriptedRunner } from './scripted-runner.ts';

/** One process of the product, as far as lifecycle goes: real files, a scripted loop, a clock that can be frozen. */
export interface TestWorld {
  readonly directory: string;
  readonly lifecycle: Lifecycle;
  readonly runner: ScriptedRunner;
  readonly clock: ControlledClock;
  readonly events: JsonObject[];
  /** Resolves when one of these events of a worker's life was told, or has been. */
  told(...names: readonly string[]): Promise<void>;
  readonly warnings: string[];
  /** What a cold restore binds again. */
  live: ScriptedLive;
}

export interface WorldOptions extends Partial<Omit<LifecycleOptions, 'platform'>> {
  readonly platform?: Partial<Platform>;
  readonly live?: ScriptedLive;
}

export function createWorldAt(directory: string, options: WorldOptions = {}): TestWorld {
  const base = testPlatform({ env: { get: () => undefined, entries: () => ({}) }, ...options.platform });
  const clock = new ControlledClock(base.clock);
  const runner = scriptedRunner();
  const events: JsonObject[] = [];
  const warnings: string[] = [];
  const listeners = new Set<() => void>();
  const world: TestWorld = {
    directory,
    runner,
    clock,
    events,
    warnings,
    told: (...names) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!events.some(({ event }) => names.includes(String(event)))) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
      }),
    live: options.live ?? { turns: [] },
    lifecycle: createLifecycle({
      realClock: base.clock,
      runner,
      rebinder: { rebind: async () => ({ live: world.live, model: { provider: 'mock', model: 'mock' }, warnings: [] }) },
      locations: locateState(base.env, join(directory, '.harn')),
      eventLog: new MemoryEventLog(),
      emit: (event) => {
        events.push(event);
        for (const listener of listeners) listener();
      },
      warn: (text) => warnings.push(text),
      ...options,
      platform: { ...base, clock },
    }),
  };
  return world;
}

export const start = (task: string, live: ScriptedLive, changes: Partial<StartOptions> = {}): StartOptions => ({
  name: 'worker',
  task,
  mode: 'sub_agent',
  spec: { session_id: 'session-1' },
  program: null,
  live,
  ...changes,
});

export async function spawn(world: TestWorld, task: string, live: ScriptedLive, changes: Partial<StartOptions> = {}): Promise<Worker> {
  return (await spawnWorker(world.lifecycle, start(task, live, changes))).worker;
}

export function runRoot(world: TestWorld, task: string, live: ScriptedLive): Promise<LoopEnd> {
  world.live = live;
  return runRootLoop(world.lifecycle, start(task, live));
}

export function suspend(world: TestWorld, worker: Worker, changes: Partial<SuspendRequest> = {}): Promise<JsonObject> {
  return suspendWorker(world.lifecycle, worker, {
    reason: 'pause',
    initiator: 'operator',
    conditions: undefined,
    resumeBy: undefined,
    waitMs: DEFAULT_WAIT_MS,
    ...changes,
  });
}

export function target(text: string): ResumeTarget {
  return isSnapshotPath(text) ? { kind: 'path', path: text } : { kind: 'worker', id: text };
}

export function resume(world: TestWorld, to: string | ResumeTarget, changes: Partial<ResumeRequest> = {}): Promise<JsonObject> {
  return resumeWorker(world.lifecycle, {
    target: typeof to === 'string' ? target(to) : to,
    input: undefined,
    continueTranscript: true,
    cause: 'operator',
    startedAt: world.lifecycle.realClock.now(),
    entry: world.lifecycle.registry.nextEntry(),
    mayReadResult: true,
    ...changes,
  });
}

export function close(world: TestWorld, to: string | ResumeTarget): Promise<JsonObject> {
  return closeWorker(world.lifecycle, typeof to === 'string' ? target(to) : to, { by: 'operator' });
}

/** The summary once the worker has ended or parked. */
export async function outcome(world: TestWorld, id: string): Promise<JsonObject> {
  const worker = world.lifecycle.registry.get(id);
  if (worker === undefined) throw new Error(`no worker ${id}`);
  await worker.settled();
  return summaryOf(worker, shownPathOf(world.lifecycle, worker));
}

export function workerOf(world: TestWorld, id: string): Worker {
  const worker = world.lifecycle.registry.get(id);
  if (worker === undefined) throw new Error(`no worker ${id}`);
  return worker;
}

/** The dispatcher of a world whose triggers have no closures. */
export function dispatcherOf(world: TestWorld): Dispatcher {
  const spending = () => ({ tokens: 0, costUsd: 0 });
  return new Dispatcher(world.lifecycle, { call: async () => null, callUri: async () => null, evaluate: () => null, spending });
}

/** The events of a worker's life as one letter each, so that a life is a word. */
export const LIFE_LETTERS: Readonly<Record<string, string>> = {
  WorkerSpawned: 'S',
  WorkerSuspended: 'P',
  WorkerResumed: 'R',
  WorkerCompleted: 'C',
  WorkerFailed: 'F',
  WorkerCancelled: 'X',
};
