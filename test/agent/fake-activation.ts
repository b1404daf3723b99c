import type { LoopWorld } from '../../src/agent/loop-context.ts';
import type { LoopLive } from '../../src/agent/loop-live.ts';
import { NOTHING_LIVE } from '../../src/agent/loop-live.ts';
import { MockProvider } from '../../src/agent/providers/mock-provider.ts';
import type { ModelRequest } from '../../src/agent/providers/provider.ts';
import { createLoopRunner } from '../../src/agent/runner.ts';
import { parametersSchema, type Tool, type ToolHandler } from '../../src/agent/tools/tool.ts';
import type { Json, JsonObject } from '../../src/base/json.ts';
import type {
  Activation,
  HookVerdict,
  JournalRecord,
  LoopEnd,
  LoopState,
  ParkRequest,
  ResumeFacts,
} from '../../src/lifecycle/activation.ts';
import { ControlledClock } from '../../src/platform/controlled-clock.ts';

export const WORKER_ID = 'worker_00000000-0000-7000-8000-000000000001';
export const SESSION_ID = '00000000-0000-7000-8000-000000000002';

/** What a test may decide about the worker around a loop. */
export interface FakeWorker {
  /** Requests to suspend, by the number of boundaries passed (0 is B0 of this activation). */
  readonly suspendAt?: Readonly<Record<number, ParkRequest>>;
  readonly verdict?: HookVerdict;
  readonly prepare?: (request: ParkRequest) => void;
  readonly parkError?: Error;
  readonly signal?: AbortSignal;
  readonly onWake?: Activation['onWake'];
  readonly topic?: Activation['topic'];
  readonly log?: Activation['log'];
}

export interface Run {
  readonly end: LoopEnd;
  readonly records: readonly JournalRecord[];
  readonly events: readonly JsonObject[];
  /** What `park` was given, after a trip through JSON text. */
  readonly parkedState: LoopState | undefined;
  readonly boundaries: readonly string[];
  /** What a daemon wrote into its own file. */
  readonly saved: readonly JsonObject[];
  /** Records for topics of the event log. */
  readonly logged: readonly JsonObject[];
}

export interface Setup {
  readonly prompt?: string;
  readonly system?: string;
  readonly options?: JsonObject;
  readonly live?: Partial<LoopLive>;
  readonly worker?: FakeWorker;
  readonly mock?: MockProvider;
  readonly state?: LoopState;
  readonly resume?: ResumeFacts;
  readonly clock?: ControlledClock;
  /** Modification times of files, by path. */
  readonly files?: () => Readonly<Record<string, number>>;
}

/** A clock that stands still until a test moves it; sleeping moves it. */
export function frozenClock(): ControlledClock {
  const clock = new ControlledClock({ now: () => 0, monotonicMs: () => 0, sleep: async () => {}, timer: () => () => {} });
  clock.mock(0);
  return clock;
}

/** A loop's world: the mock model, and a clock that only tests move. */
export function fakeWorld(mock: MockProvider, clock = frozenClock()): LoopWorld {
  return {
    clock,
    random: { id: (prefix) => prefix, uuidV4: () => 'v4', uuidV7: () => 'v7', float: () => 0, bytes: (count) => new Uint8Array(count) },
    models: { provider: () => mock, hasNativeTools: (provider) => provider !== 'mock' },
    env: () => undefined,
    files: { stat: () => undefined, list: () => [] },
  };
}

export function script(...entries: Json[]): MockProvider {
  const mock = new MockProvider();
  for (const entry of entries) mock.enqueue(entry);
  return mock;
}

export function tool(name: string, handler: (args: JsonObject) => Json, change: Partial<Tool> = {}): Tool {
  const call: ToolHandler = async (args) => ({ kind: 'value', value: handler(args) });
  return {
    name,
    description: `The tool ${name}`,
    parameters: parametersSchema({}),
    annotations: {},
    policy: {},
    idempotent: false,
    timeoutMs: undefined,
    executor: 'harn',
    handler: call,
    ...change,
  };
}

/** Runs one activation against a worker that exists in memory only. */
export async function runActivation(setup: Setup): Promise<Run> {
  const mock = setup.mock ?? script();
  const runner = createLoopRunner({
    ...fakeWorld(mock, setup.clock),
    ...(setup.files === undefined ? {} : { files: fakeFiles(setup.files) }),
  });
  const config: JsonObject = {
    task: setup.prompt ?? 'Do it',
    session_id: SESSION_ID,
    system: setup.system ?? null,
    options: { provider: 'mock', tool_format: 'native', ...setup.options },
  };
  const records: JournalRecord[] = [];
  const events: JsonObject[] = [];
  const boundaries: string[] = [];
  const saved: JsonObject[] = [];
  const logged: JsonObject[] = [];
  let parkedState: LoopState | undefined;
  const activation: Activation = {
    workerId: WORKER_ID,
    sessionId: SESSION_ID,
    mode: 'top_level_agent',
    config,
    live: { ...NOTHING_LIVE, ...setup.live },
    state: throughText(setup.state ?? runner.initialState(config)),
    resume: setup.resume,
    signal: setup.worker?.signal ?? new AbortController().signal,
    atBoundary: (boundary) => {
      boundaries.push(boundary);
      return setup.worker?.suspendAt?.[boundaries.length - 1];
    },
    hasParkRequest: false,
    changed: () => new Promise(() => {}),
    onWake: (wake) => setup.worker?.onWake?.(wake),
    topic: (name) => setup.worker?.topic?.(name) ?? { latest: () => 0, next: () => undefined, close: () => {} },
    daemon: undefined,
    saveDaemon: (request, state, facts) => {
      saved.push(throughText({ request: request ?? null, state, ...facts } as unknown as JsonObject));
    },
    approveSelfPark: async (request) => setup.worker?.verdict ?? { decision: 'allow', reason: request.reason },
    prepareConditions: async (request) => setup.worker?.prepare?.(request),
    park: async (request, state, facts) => {
      if (setup.worker?.parkError !== undefined) throw setup.worker.parkError;
      parkedState = throughText(state);
      return {
        status: 'suspended',
        handle: { id: WORKER_ID },
        reason: request.reason,
        initiator: request.initiator,
        conditions: request.conditions ?? null,
        iterations_completed: facts.iterationsCompleted,
        suspended_at_turn: facts.turn ?? null,
      };
    },
    record: (record) => {
      records.push(throughText(record));
    },
    emit: (event) => {
      events.push(event);
    },
    log: (topic, kind, payload) => {
      logged.push({ topic, kind, ...payload });
      setup.worker?.log?.(topic, kind, payload);
    },
    progressed: () => {},
  };
  const end = await runner.run(activation);
  return { end, records, events, parkedState, boundaries, saved, logged };
}

function fakeFiles(times: () => Readonly<Record<string, number>>): LoopWorld['files'] {
  const stat = { sizeBytes: 1, isFile: true, isDirectory: false, isSymbolicLink: false, readonly: false, mode: 0o600 };
  return {
    list: () => [],
    stat: (path) => {
      const modifiedAt = times()[path];
      return modifiedAt === undefined ? undefined : { ...stat, modifiedAt };
    },
  };
}

/** Whatever is saved has been text on disk before it is read again. */
export function throughText<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

export function result(run: Run): JsonObject {
  return run.end.result;
}

export function sent(mock: MockProvider): Pick<ModelRequest, 'messages' | 'system'>[] {
  return mock.calls() as never; // the log holds the requests as JSON
}

/** The state of a parked run as the next activation finds it. */
export function parkedAndBack(run: Run): LoopState {
  if (run.parkedState === undefined) throw new Error('the run did not park');
  return run.parkedState;
}
