import { EventHub } from '../../agent/events.ts';
import type { HookAnswer, TurnHook } from '../../agent/loop-live.ts';
import type { Feedback } from '../../agent/loop-state.ts';
import { retryFacts } from '../../agent/model-call/call-events.ts';
import type { ModelRouter, ModelWorld } from '../../agent/model-call/model-call.ts';
import type { CapabilityRules } from '../../agent/providers/capabilities.ts';
import type { HttpWorld } from '../../agent/providers/http-provider.ts';
import { type LlmSettings, mergeRules, NO_SETTINGS } from '../../agent/providers/llm-settings.ts';
import { MockProvider } from '../../agent/providers/mock-provider.ts';
import { costUsd } from '../../agent/providers/pricing.ts';
import type { ModelAnswer, Provider } from '../../agent/providers/provider.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { SessionStore } from '../../agent/transcript/session.ts';
import type { NewEvent, Transcript } from '../../agent/transcript/transcript.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Files, FileWatcher } from '../../platform/platform.ts';
import { rateLimits } from '../concurrency/rate-limit.ts';
import type { Run } from '../context.ts';

/** What the agent half remembers for a run: the scripted model, sessions, listeners, and what was spent. */
export interface AgentServices extends ModelWorld {
  readonly mock: MockProvider;
  readonly sessions: SessionStore;
  readonly events: EventHub;
  readonly spending: Spending;
  /** What waits for the next turn of a session's loop. */
  readonly inboxes: Map<string, SessionInbox>;
  readonly env: (name: string) => string | undefined;
  readonly files: Files;
  readonly watcher: FileWatcher | undefined;
  /** Tools of the loops of this run, by worker. */
  readonly loopTools: Map<string, readonly Tool[]>;
  /** Whether a worker of this session runs or is parked: such a session is never evicted. Set by the lifecycle of the run. */
  isSessionInUse: (id: string) => boolean;
  /** The history of the parked worker of a session. Set by the lifecycle of the run. */
  parkedTranscript: (sessionId: string) => Transcript | undefined;
  /** Who started a worker, nearest first. Set by the lifecycle of the run. */
  ancestorsOf: (workerId: string) => readonly string[];
  /** Answers of real models, in order, while `--llm-mock-record` is on. */
  recorder: ((answer: ModelAnswer) => void) | undefined;
  /** Told of retries, whoever asked. */
  readonly listeners: Set<(event: JsonObject) => void>;
  /** Calls, retries and corrections of the run, oldest first, for `agent_trace`. */
  readonly trace: JsonObject[];
  /** What the script says of models (`provider_capabilities_install`). */
  capabilityRules: CapabilityRules;
  /** Runs the session hooks around a turn; set by the lifecycle of the run. */
  runTurnHook: ((event: TurnHook, payload: JsonObject, sessionId: string) => Promise<HookAnswer>) | undefined;
}

/** Messages of hosts and feedback of background work, for whichever loop runs the session next. */
export interface SessionInbox {
  readonly hostMessages: string[];
  readonly feedback: Feedback[];
  /** Calls of hooks, for the transcript. */
  readonly tape: NewEvent[];
}

/** Totals of a run, and its ceiling in dollars. */
export interface Spending {
  costUsd: number;
  inputTokens: number;
  outputTokens: number;
  calls: number;
  durationMs: number;
  budgetUsd: number | undefined;
}

const SERVICES = Symbol('agent services');

export function agentServices(run: Run): AgentServices {
  return run.service(SERVICES, createServices);
}

function createServices(run: Run): AgentServices {
  const { clock, random, env, files, http } = run.platform;
  const mock = new MockProvider();
  const services: AgentServices = {
    clock,
    random,
    env: (name) => env.get(name),
    files,
    watcher: run.platform.watcher,
    mock,
    sessions: new SessionStore({
      newId: () => random.uuidV7(),
      isInUse: (id) => services.isSessionInUse(id),
      parked: (id) => services.parkedTranscript(id),
    }),
    isSessionInUse: () => false,
    parkedTranscript: () => undefined,
    ancestorsOf: () => [],
    inboxes: new Map(),
    loopTools: new Map(),
    events: new EventHub(),
    spending: { costUsd: 0, inputTokens: 0, outputTokens: 0, calls: 0, durationMs: 0, budgetUsd: undefined },
    recorder: undefined,
    runTurnHook: undefined,
    listeners: new Set(),
    trace: [],
    capabilityRules: {},
    models: createRouter(run, mock, { http, env: (name) => env.get(name), clock }, () => services),
  };
  if (run.onAgentEvent !== undefined) services.events.subscribeAll(run.onAgentEvent);
  return services;
}

function createRouter(run: Run, mock: MockProvider, base: Omit<HttpWorld, 'settings'>, services: () => AgentServices): ModelRouter {
  let project: LlmSettings = NO_SETTINGS;
  let reading: Promise<void> | undefined;
  const settings = (): LlmSettings => ({ ...project, capabilities: mergeRules(services().capabilityRules, project.capabilities) });
  const read = async (): Promise<void> => {
    const { readLlmSettings } = await import('./llm-project.ts');
    project = readLlmSettings(run);
  };
  const world: HttpWorld = {
    ...base,
    get settings() {
      return settings();
    },
  };
  return {
    get settings() {
      return settings();
    },
    prepare: () => {
      if (run.projectRoot === undefined) return Promise.resolve();
      reading ??= read();
      return reading;
    },
    provider: (name) => observed(services(), mock.answersFor(name) ? mock : remoteProvider(world, name)),
    hasNativeTools: async (provider, model) => {
      if (provider === 'mock') return false;
      const { capabilitiesOf } = await import('../../agent/providers/capabilities.ts');
      return capabilitiesOf(provider, model, settings().capabilities).native_tools;
    },
    toolSearch: async (provider, model) => {
      const { capabilitiesOf } = await import('../../agent/providers/capabilities.ts');
      return capabilitiesOf(provider, model, settings().capabilities).tool_search;
    },
    // A scripted answer waits for nobody.
    admit: async (provider, signal) => {
      if (!mock.answersFor(provider)) await rateLimits(run).admit(provider, signal);
    },
    observe: (event, request) => {
      const facts = event.type === 'retry' || event.type === 'schema_retry' ? retryFacts(event) : undefined;
      if (facts === undefined) return;
      addTrace(services(), { provider: request.provider, model: request.model, ...facts });
      for (const listener of services().listeners) listener(facts);
    },
  };
}

/** As many events as a long run may keep for `agent_trace`. */
const TRACE_LIMIT = 10_000;

function addTrace({ trace }: AgentServices, event: JsonObject): void {
  trace.push(event);
  if (trace.length > TRACE_LIMIT) trace.shift();
}

/** Adapters load with the first call: a run that asks no model, or the scripted one, does without them. */
function remoteProvider(world: HttpWorld, name: string): Provider {
  return {
    async *stream(request, signal) {
      const { createRemoteProvider } = await import('../../agent/providers/remote-provider.ts');
      yield* createRemoteProvider(world, name).stream(request, signal);
    },
  };
}

/** Every answer of the run passes here, whoever asked. */
function note(services: AgentServices, answer: ModelAnswer, durationMs: number): void {
  const { spending } = services;
  const { provider, model, usage } = answer;
  const cost = costUsd(model, usage);
  spending.costUsd += cost;
  spending.inputTokens += usage.input_tokens;
  spending.outputTokens += usage.output_tokens;
  spending.calls += 1;
  spending.durationMs += durationMs;
  const stopReason = answer.stopReason ?? null;
  addTrace(services, { type: 'llm_call', provider, model, ...usage, cost_usd: cost, stop_reason: stopReason, duration_ms: durationMs });
  services.recorder?.(answer);
}

function observed(services: AgentServices, provider: Provider): Provider {
  return {
    async *stream(request, signal) {
      const startedMs = services.clock.monotonicMs();
      for await (const event of provider.stream(request, signal)) {
        if (event.type === 'finish') note(services, event.answer, Math.round(services.clock.monotonicMs() - startedMs));
        yield event;
      }
    },
  };
}

export function inboxOf({ inboxes }: AgentServices, sessionId: string): SessionInbox {
  const known = inboxes.get(sessionId);
  if (known !== undefined) return known;
  const inbox = { hostMessages: [], feedback: [], tape: [] };
  inboxes.set(sessionId, inbox);
  return inbox;
}
