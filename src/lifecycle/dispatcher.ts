import { errorText, HarnError, hasCode } from '../base/harn-error.ts';
import { type Instant, renderInstant } from '../base/instant.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { interruptAndSuspend } from './broadcast.ts';
import { DeadLetters } from './dead-letters.ts';
import type { Lifecycle } from './lifecycle.ts';
import { askPredicate, type PredicateVerdict, type Spending } from './predicate.ts';
import { isSpecObject, type Opaque, type SpecObject } from './spec-value.ts';
import type { Binding } from './trigger-registry.ts';

/**
 * From an accepted event to the handlers of its bindings (spec/agents.md 9.4): dedupe, match, filter, predicate,
 * handler, retries, dead letters. A binding of a suspension has the resume as its handler and is never tried again.
 */
export interface TriggerEvent {
  readonly id: string;
  readonly provider: string;
  readonly kind: string;
  readonly receivedAt: Instant;
  readonly payload: Json;
  readonly headers: JsonObject;
  readonly dedupeKey: string;
  /** Ties together all that one event led to. */
  readonly traceId: string;
  readonly tenantId: string | null;
}

export interface EventRequest {
  readonly provider: string;
  readonly kind: string;
  readonly payload?: Json | undefined;
  readonly headers?: JsonObject | undefined;
  readonly id?: string | undefined;
  readonly dedupeKey?: string | undefined;
  readonly traceId?: string | undefined;
}

/** What closures need of the world around them; supplied by the runtime. */
export interface HandlerCalls {
  /**
   * Calls a closure with the event as scripts see it.
   * @throws HarnError `BEYOND_TIER` for one that did what the tier of its binding does not allow
   */
  call(callable: Opaque, event: JsonObject, binding: Binding, replayOf: string | null): Promise<Json>;
  /** A handler URI: `a2a://…` or `worker://…`. */
  callUri(uri: string, event: JsonObject, binding: Binding): Promise<Json>;
  /** What model calls of this run have used up so far, for the budget of a predicate. */
  spending(): Spending;
  /** Evaluates a `filter` or `dedupe_key` expression over the event. */
  evaluate(expression: string, event: JsonObject): Json;
}

export type DispatchStatus = 'dispatched' | 'skipped' | 'dlq' | 'duplicate' | 'failed';

/** Code of the error of a handler that its `autonomy_tier` stopped: it is neither tried again nor kept for a replay. */
export const BEYOND_TIER = 'beyond_autonomy_tier';

const SVIX_DELAYS_MS = [0, 5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 36_000_000];

export class Dispatcher {
  readonly #lifecycle: Lifecycle;
  readonly #calls: HandlerCalls;
  readonly #seen = new Set<string>();
  readonly #events = new Map<string, { readonly event: TriggerEvent; readonly bindingIds: readonly string[] }>();
  /** Verdicts of predicates by binding and event: a replay does not ask a model again. */
  readonly #verdicts = new Map<string, PredicateVerdict>();
  readonly deadLetters: DeadLetters;

  constructor(lifecycle: Lifecycle, calls: HandlerCalls) {
    this.#lifecycle = lifecycle;
    this.#calls = calls;
    this.deadLetters = new DeadLetters(lifecycle.platform);
  }

  /** `trigger_fire`: hands one event to one binding. @throws plain HarnError for an unknown or inactive binding */
  async fire(bindingId: string, request: EventRequest): Promise<JsonObject> {
    const binding = this.#lifecycle.triggers.find(bindingId);
    if (binding === undefined || binding.state !== 'active') {
      throw new HarnError(
        'plain',
        `trigger_fire: binding '${bindingId}' is ${binding === undefined ? 'unknown' : `not active (${binding.state})`}`,
      );
    }
    const event = this.accept(request);
    this.#remember(event, [bindingId]);
    return this.#dispatch(binding, event, null);
  }

  /** Hands an event to every active binding that listens to it, one after another. */
  async publish(request: EventRequest): Promise<readonly JsonObject[]> {
    const event = this.accept(request);
    const bindings = this.#lifecycle.triggers.matching(event.provider, event.kind);
    return this.publishTo(bindings, event);
  }

  /** @param bindings chosen by the caller, as channels do by their selectors */
  async publishTo(bindings: readonly Binding[], event: TriggerEvent): Promise<readonly JsonObject[]> {
    this.#remember(
      event,
      bindings.map(({ id }) => id),
    );
    const results: JsonObject[] = [];
    for (const binding of bindings) results.push(await this.#dispatch(binding, event, null));
    return results;
  }

  /** `trigger_replay`: dispatches an event of this run once more, whatever was seen. @throws plain HarnError for an unknown event */
  async replay(eventId: string): Promise<JsonObject> {
    const known = this.#events.get(eventId);
    const binding = known?.bindingIds.map((id) => this.#lifecycle.triggers.find(id)).find((candidate) => candidate?.state === 'active');
    if (known === undefined || binding === undefined) throw new HarnError('plain', `trigger_replay: unknown event '${eventId}'`);
    const event = { ...known.event, id: this.#lifecycle.platform.random.id('trigger_evt') };
    return this.#dispatch(binding, { ...event, dedupeKey: event.id }, eventId);
  }

  /** Gives an event its id and time, and notes that it came in. */
  accept(request: EventRequest): TriggerEvent {
    const { platform } = this.#lifecycle;
    const id = request.id ?? platform.random.id('trigger_evt');
    const event: TriggerEvent = {
      id,
      provider: request.provider,
      kind: request.kind,
      receivedAt: platform.clock.now(),
      payload: request.payload ?? null,
      headers: request.headers ?? {},
      dedupeKey: request.dedupeKey ?? id,
      traceId: request.traceId ?? id,
      tenantId: null,
    };
    const named = { event_id: id, provider: event.provider, kind: event.kind };
    this.#log('trigger.inbox.envelopes', 'accepted', named);
    // Bodies and headers of events stay out of what is kept: they may be private.
    this.#log('triggers.events', event.kind, { ...named, dedupe_key: event.dedupeKey, trace_id: event.traceId });
    return event;
  }

  #remember(event: TriggerEvent, bindingIds: readonly string[]): void {
    this.#events.set(event.id, { event, bindingIds });
  }

  async #dispatch(binding: Binding, event: TriggerEvent, replayOf: string | null): Promise<JsonObject> {
    binding.metrics.received++;
    binding.metrics.last_received_ms = event.receivedAt;
    const shown = shownEvent(event);
    const facts = { event, binding, replayOf };
    const key = `${binding.id}\n${dedupeKey(binding, shown, event, this.#calls)}`;
    if (this.#seen.has(key)) return dispatchHandle(facts, 'duplicate');
    this.#seen.add(key);
    this.#log('trigger.inbox.claims', 'claimed', { event_id: event.id, binding_id: binding.id });
    this.#graph(facts, 'trigger');
    const { filter, when } = binding.spec;
    if (filter !== undefined && this.#calls.evaluate(filter, shown) !== true) return skipped(facts, null);
    if (when === undefined) return this.#handle(facts, shown);
    const verdict = await this.#ask(facts, when, shown);
    if (verdict.kind === 'threw') return dispatchHandle(facts, 'failed', { error: verdict.error });
    return verdict.kind === 'yes' ? this.#handle(facts, shown) : skipped(facts, verdict.reason);
  }

  async #ask(facts: DispatchFacts, when: Opaque, shown: JsonObject): Promise<PredicateVerdict> {
    const { binding, event, replayOf } = facts;
    const known = this.#verdicts.get(`${binding.id}\n${replayOf}`);
    const verdict =
      known ??
      (await askPredicate(() => this.#calls.call(when, shown, binding, replayOf), binding.spec.whenBudget, {
        spending: () => this.#calls.spending(),
        clock: this.#lifecycle.platform.clock,
      }));
    this.#verdicts.set(`${binding.id}\n${event.id}`, verdict);
    const budget = verdict.kind === 'no' && verdict.reason === 'budget_exceeded' ? verdict.spent : undefined;
    if (budget !== undefined) this.#lifecycleEvent('predicate.budget_exceeded', facts, { tokens: budget.tokens, cost_usd: budget.costUsd });
    this.#lifecycleEvent('predicate.evaluated', facts, {
      result: verdict.kind === 'yes',
      reason: verdict.kind === 'no' ? verdict.reason : null,
      error: verdict.kind === 'threw' ? verdict.error : null,
      cached: known !== undefined,
      replay_of_event_id: replayOf,
    });
    this.#graph(facts, 'predicate', 'predicate_gate');
    return verdict;
  }

  async #handle(facts: DispatchFacts, shown: JsonObject): Promise<JsonObject> {
    const { binding, replayOf } = facts;
    const tries = { count: 0 };
    binding.metrics.in_flight++;
    this.#lifecycleEvent('DispatchStarted', facts, {});
    this.#graph(facts, 'dispatch', 'trigger_dispatch');
    try {
      const result = await this.#attempts(facts, shown, tries);
      binding.metrics.dispatched++;
      if (replayOf !== null) this.deadLetters.resolve(binding, replayOf);
      this.#lifecycleEvent('DispatchSucceeded', facts, {});
      this.#log('trigger.outbox', 'dispatched', { event_id: facts.event.id, binding_id: binding.id, replay_of_event_id: replayOf });
      return dispatchHandle(facts, 'dispatched', { result });
    } catch (error) {
      if (hasCode(error, BEYOND_TIER)) {
        binding.metrics.failed++;
        return dispatchHandle(facts, 'failed', { error: errorText(error) });
      }
      return this.#bury(facts, shown, { error: errorText(error), attempts: tries.count });
    } finally {
      binding.metrics.in_flight--;
    }
  }

  /** @param tries counts them, however they end */
  async #attempts(facts: DispatchFacts, shown: JsonObject, tries: { count: number }): Promise<Json> {
    const { binding, event } = facts;
    const { max, backoff } = binding.spec.retry;
    for (;;) {
      const attempt = ++tries.count;
      try {
        this.#log('trigger.attempts', 'attempt', { binding_id: binding.id, event_id: event.id, attempt });
        return await this.#call(facts, shown);
      } catch (error) {
        this.#lifecycleEvent('DispatchFailed', facts, { attempt, error: errorText(error) });
        if (attempt >= max || hasCode(error, BEYOND_TIER)) throw error;
        const delayMs = backoff === 'immediate' ? 0 : (SVIX_DELAYS_MS[Math.min(attempt, SVIX_DELAYS_MS.length - 1)] ?? 0);
        this.#lifecycleEvent('RetryScheduled', facts, { attempt: attempt + 1, delay_ms: delayMs });
        this.#graph(facts, 'retry', 'retry');
        if (delayMs > 0) await this.#lifecycle.platform.clock.sleep(delayMs);
      }
    }
  }

  async #call(facts: DispatchFacts, shown: JsonObject): Promise<Json> {
    const { binding, event, replayOf } = facts;
    if (binding.handlerKind === 'auto_resume') return this.#wake(binding, event);
    const { handler } = binding.spec;
    switch (handler?.kind) {
      case 'local':
        return this.#calls.call(handler.callable, shown, binding, replayOf);
      case 'a2a':
      case 'worker': {
        const answer = await this.#calls.callUri(handler.uri, shown, binding);
        if (handler.kind === 'a2a') this.#graph(facts, 'a2a_hop', 'a2a_dispatch');
        else this.#graph(facts, 'worker_enqueue', 'worker_dispatch');
        return answer;
      }
      case 'effect':
        return this.#runEffect(handler.effect, shown, binding);
      case undefined:
        throw new HarnError('plain', `binding '${binding.id}' has no handler`);
    }
  }

  async #wake(binding: Binding, event: TriggerEvent): Promise<Json> {
    const woken = await this.#lifecycle.waker.fireTrigger(binding.id, { id: event.id, payload: event.payload });
    if (woken === undefined) return { status: 'lost', worker_id: null };
    return { status: woken.outcome, worker_id: woken.workerId };
  }

  async #runEffect(effect: SpecObject, shown: JsonObject, binding: Binding): Promise<Json> {
    const spec = isSpecObject(effect.InterruptAndSuspend) ? effect.InterruptAndSuspend : effect;
    const isBroadcast =
      effect.InterruptAndSuspend !== undefined || effect.kind === 'InterruptAndSuspend' || effect.effect === 'InterruptAndSuspend';
    if (!isBroadcast) throw new HarnError('plain', 'trigger handler: unknown effect');
    return interruptAndSuspend(this.#lifecycle, spec, (callable) => this.#calls.call(callable, shown, binding, null));
  }

  #bury(facts: DispatchFacts, shown: JsonObject, { error, attempts }: { readonly error: string; readonly attempts: number }): JsonObject {
    const { binding, replayOf } = facts;
    binding.metrics.failed++;
    binding.metrics.dlq++;
    const letter = this.deadLetters.add(binding, { event: shown, error, attempts, replayOf });
    this.#lifecycleEvent('DlqMoved', facts, { error });
    this.#log('trigger.dlq', 'moved', { dlq_entry_id: letter.id, binding_id: binding.id, event_id: facts.event.id, error });
    this.#graph(facts, 'dlq', 'dlq_move');
    return dispatchHandle(facts, 'dlq', { dlq_entry_id: letter.id, error });
  }

  #lifecycleEvent(kind: string, { binding, event }: DispatchFacts, payload: JsonObject): void {
    const named = { binding_id: binding.id, binding_version: binding.version, event_id: event.id, ...payload };
    this.#log('triggers.lifecycle', kind, named, { trigger_id: binding.id, event_id: event.id, trace_id: event.traceId });
  }

  /** A step of what an event led to, for `trigger_inspect_action_graph`; each step hangs on the trigger itself. */
  #graph({ binding, event }: DispatchFacts, kind: string, edge?: string): void {
    const root = `trigger:${event.id}`;
    const id = kind === 'trigger' ? root : `${kind}:${binding.id}:${event.id}`;
    const node = { id, kind, trace_id: event.traceId, label: kind === 'trigger' ? `${event.provider}:${event.kind}` : binding.id };
    const edges = edge === undefined ? [] : [{ from_id: root, to_id: id, kind: edge }];
    const observability = { action_graph_nodes: [node], action_graph_edges: edges };
    this.#log('observability.action_graph', 'action_graph', { trace_id: event.traceId, observability }, { trace_id: event.traceId });
  }

  #log(topic: string, kind: string, payload: JsonObject, headers: JsonObject = {}): void {
    this.#lifecycle.eventLog.append({
      topic,
      kind,
      payload,
      headers,
      occurredAt: this.#lifecycle.platform.clock.now(),
      durability: 'lazy',
    });
  }
}

/** The event as closures see it. */
export function shownEvent(event: TriggerEvent): JsonObject {
  const at = renderInstant(event.receivedAt);
  return {
    id: event.id,
    provider: event.provider,
    kind: event.kind,
    received_at: at,
    occurred_at: at,
    dedupe_key: event.dedupeKey,
    trace_id: event.traceId,
    tenant_id: event.tenantId,
    headers: event.headers,
    batch: null,
    provider_payload: { provider: event.provider, [event.provider === 'channel' ? 'payload' : 'raw']: event.payload },
    signature_status: { state: 'unsigned' },
  };
}

function dedupeKey(binding: Binding, shown: JsonObject, event: TriggerEvent, calls: HandlerCalls): string {
  const { dedupeKey: expression } = binding.spec;
  return expression === undefined ? event.dedupeKey : JSON.stringify(calls.evaluate(expression, shown));
}

interface DispatchFacts {
  readonly event: TriggerEvent;
  readonly binding: Binding;
  readonly replayOf: string | null;
}

/** @param reason why a predicate was not asked or not believed; null when it said no */
function skipped(facts: DispatchFacts, reason: string | null): JsonObject {
  return dispatchHandle(facts, 'skipped', { result: { skipped: true, reason } });
}

function dispatchHandle({ event, binding, replayOf }: DispatchFacts, status: DispatchStatus, facts: JsonObject = {}): JsonObject {
  return {
    event_id: event.id,
    binding_id: binding.id,
    binding_version: binding.version,
    status,
    replay_of_event_id: replayOf,
    dlq_entry_id: null,
    error: null,
    result: null,
    ...facts,
  };
}
