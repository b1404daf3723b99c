import { errorText, HarnError } from '../base/harn-error.ts';
import { type Instant, renderInstant } from '../base/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Lifecycle } from './lifecycle.ts';
import { isCallableSpec, isSpecObject, type Opaque, type SpecObject } from './spec-value.ts';
import { suspendWorker } from './suspend.ts';
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
  readonly tenantId: string | null;
}

export interface EventRequest {
  readonly provider: string;
  readonly kind: string;
  readonly payload?: Json | undefined;
  readonly headers?: JsonObject | undefined;
  readonly id?: string | undefined;
  readonly dedupeKey?: string | undefined;
}

/** What closures need of the world around them; supplied by the runtime. */
export interface HandlerCalls {
  /** Calls a closure with the event as scripts see it. */
  call(callable: Opaque, event: JsonObject, binding: Binding): Promise<Json>;
  /** A handler URI: `a2a://…` or `worker://…`. */
  callUri(uri: string, event: JsonObject): Promise<Json>;
  /** Evaluates a `filter` or `dedupe_key` expression over the event. */
  evaluate(expression: string, event: JsonObject): Json;
}

export type DispatchStatus = 'dispatched' | 'skipped' | 'dlq' | 'duplicate' | 'failed';

export interface DeadLetter {
  readonly id: string;
  readonly bindingId: string;
  readonly event: TriggerEvent;
  readonly error: string;
  readonly attempts: number;
}

const SVIX_DELAYS_MS = [0, 5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 36_000_000];

export class Dispatcher {
  readonly #lifecycle: Lifecycle;
  readonly #calls: HandlerCalls;
  readonly #seen = new Set<string>();
  readonly #events = new Map<string, { readonly event: TriggerEvent; readonly bindingIds: readonly string[] }>();
  readonly deadLetters: DeadLetter[] = [];

  constructor(lifecycle: Lifecycle, calls: HandlerCalls) {
    this.#lifecycle = lifecycle;
    this.#calls = calls;
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
      tenantId: null,
    };
    this.#log('trigger.inbox.envelopes', 'accepted', { event_id: id, provider: event.provider, kind: event.kind });
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
    if (!(await this.#isWanted(binding, shown))) return dispatchHandle(facts, 'skipped');
    return this.#handle(binding, event, shown, replayOf);
  }

  async #isWanted(binding: Binding, shown: JsonObject): Promise<boolean> {
    const { filter, when } = binding.spec;
    if (filter !== undefined && this.#calls.evaluate(filter, shown) !== true) return false;
    return when === undefined || (await this.#calls.call(when, shown, binding)) === true;
  }

  async #handle(binding: Binding, event: TriggerEvent, shown: JsonObject, replayOf: string | null): Promise<JsonObject> {
    const facts = { event, binding, replayOf };
    binding.metrics.in_flight++;
    this.#lifecycleEvent('DispatchStarted', binding, event, {});
    try {
      const result = await this.#attempts(binding, event, shown);
      binding.metrics.dispatched++;
      this.#lifecycleEvent('DispatchSucceeded', binding, event, {});
      return dispatchHandle(facts, 'dispatched', { result });
    } catch (error) {
      return this.#bury(binding, event, replayOf, errorText(error));
    } finally {
      binding.metrics.in_flight--;
    }
  }

  async #attempts(binding: Binding, event: TriggerEvent, shown: JsonObject): Promise<Json> {
    const { max, backoff } = binding.spec.retry;
    for (let attempt = 0; ; attempt++) {
      try {
        this.#log('trigger.attempts', 'attempt', { binding_id: binding.id, event_id: event.id, attempt });
        return await this.#call(binding, event, shown);
      } catch (error) {
        this.#lifecycleEvent('DispatchFailed', binding, event, { attempt, error: errorText(error) });
        if (attempt >= max) throw error;
        const delayMs = backoff === 'immediate' ? 0 : (SVIX_DELAYS_MS[Math.min(attempt + 1, SVIX_DELAYS_MS.length - 1)] ?? 0);
        this.#lifecycleEvent('RetryScheduled', binding, event, { attempt: attempt + 1, delay_ms: delayMs });
        if (delayMs > 0) await this.#lifecycle.platform.clock.sleep(delayMs);
      }
    }
  }

  async #call(binding: Binding, event: TriggerEvent, shown: JsonObject): Promise<Json> {
    if (binding.handlerKind === 'auto_resume') return this.#wake(binding, event);
    const { handler } = binding.spec;
    switch (handler?.kind) {
      case 'local':
        return this.#calls.call(handler.callable, shown, binding);
      case 'a2a':
      case 'worker':
        return this.#calls.callUri(handler.uri, shown);
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
    return interruptAndSuspend(this.#lifecycle, spec, (callable) => this.#calls.call(callable, shown, binding));
  }

  #bury(binding: Binding, event: TriggerEvent, replayOf: string | null, error: string): JsonObject {
    binding.metrics.failed++;
    binding.metrics.dlq++;
    const letter: DeadLetter = {
      id: this.#lifecycle.platform.random.id('dlq'),
      bindingId: binding.id,
      event,
      error,
      attempts: binding.spec.retry.max + 1,
    };
    this.deadLetters.push(letter);
    this.#lifecycleEvent('DlqMoved', binding, event, { error });
    return dispatchHandle({ event, binding, replayOf }, 'dlq', { dlq_entry_id: letter.id, error });
  }

  #lifecycleEvent(kind: string, binding: Binding, event: TriggerEvent, facts: JsonObject): void {
    this.#log('triggers.lifecycle', kind, { binding_id: binding.id, binding_version: binding.version, event_id: event.id, ...facts });
  }

  #log(topic: string, kind: string, payload: JsonObject): void {
    this.#lifecycle.eventLog.append({
      topic,
      kind,
      payload,
      headers: {},
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
    trace_id: event.id,
    tenant_id: event.tenantId,
    headers: event.headers,
    batch: null,
    provider_payload: { provider: event.provider, [event.provider === 'channel' ? 'payload' : 'raw']: event.payload },
    signature_status: { state: 'unsigned' },
  };
}

/**
 * The broadcast of 9.4: every target is asked to park as by `suspend_agent`, in the order of their ids.
 * @param call calls the closure that chooses the targets
 */
export async function interruptAndSuspend(
  lifecycle: Lifecycle,
  spec: SpecObject,
  call: (callable: Opaque) => Promise<Json>,
): Promise<JsonObject> {
  const reason = typeof spec.reason === 'string' ? spec.reason : '';
  const { ids, scopeKind } = await broadcastTargets(lifecycle, spec, call);
  const targets: JsonObject[] = [];
  for (const id of [...ids].sort()) targets.push({ handle: id, outcome: await suspendTarget(lifecycle, id, reason) });
  const suspended = targets.filter(({ outcome }) => outcome === 'suspended').length;
  const rollUp = {
    status: 'broadcast',
    scope_kind: scopeKind,
    target_count: targets.length,
    suspended_count: suspended,
    skipped_count: targets.length - suspended,
    reason,
  };
  auditBroadcast(lifecycle, 'roll_up', rollUp);
  for (const entry of targets) auditBroadcast(lifecycle, 'target', { ...entry, reason });
  return { ...rollUp, targets };
}

async function broadcastTargets(
  lifecycle: Lifecycle,
  spec: SpecObject,
  call: (callable: Opaque) => Promise<Json>,
): Promise<{ readonly ids: readonly string[]; readonly scopeKind: 'all' | 'list' | 'closure' }> {
  const { target_agents: scope = 'all' } = spec;
  if (isCallableSpec(scope)) return { ids: handleIds(await call(scope)), scopeKind: 'closure' };
  if (Array.isArray(scope)) return { ids: handleIds(scope as Json), scopeKind: 'list' };
  return {
    ids: lifecycle.registry
      .list()
      .filter((worker) => worker.status === 'running')
      .map((worker) => worker.id),
    scopeKind: 'all',
  };
}

function handleIds(list: Json): string[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: Json) =>
    typeof entry === 'string' ? [entry] : isJsonObject(entry) && typeof entry.id === 'string' ? [entry.id] : [],
  );
}

async function suspendTarget(lifecycle: Lifecycle, id: string, reason: string): Promise<string> {
  const worker = lifecycle.registry.get(id);
  if (worker === undefined) return 'unknown';
  if (worker.status === 'suspended') return 'already_suspended';
  if (worker.status !== 'running') return 'not_running';
  const summary = await suspendWorker(lifecycle, worker, {
    reason,
    initiator: 'triggered',
    conditions: undefined,
    resumeBy: undefined,
    waitMs: 2000,
  });
  return summary.pre_suspend_denied === undefined ? 'suspended' : 'denied';
}

function auditBroadcast(lifecycle: Lifecycle, kind: string, payload: JsonObject): void {
  const occurredAt = lifecycle.platform.clock.now();
  lifecycle.eventLog.append({ topic: 'triggers.interrupt_and_suspend.audit', kind, payload, headers: {}, occurredAt, durability: 'lazy' });
}

function dedupeKey(binding: Binding, shown: JsonObject, event: TriggerEvent, calls: HandlerCalls): string {
  const { dedupeKey: expression } = binding.spec;
  return expression === undefined ? event.dedupeKey : JSON.stringify(calls.evaluate(expression, shown));
}

function dispatchHandle(
  { event, binding, replayOf }: { readonly event: TriggerEvent; readonly binding: Binding; readonly replayOf: string | null },
  status: DispatchStatus,
  facts: JsonObject = {},
): JsonObject {
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
