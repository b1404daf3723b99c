import { HarnError } from '../base/harn-error.ts';
import type { Instant } from '../base/instant.ts';
import type { JsonObject } from '../base/json.ts';
import type { TriggerSpec } from './trigger-spec.ts';

/** Bindings of triggers (spec/agents.md 9.3), found by provider and kind of event in one look. */
export type BindingState = 'registering' | 'active' | 'draining' | 'terminated';

export interface Binding {
  readonly id: string;
  readonly version: number;
  readonly source: 'manifest' | 'dynamic';
  /** `auto_resume` for the wake of a suspension. */
  readonly kind: string;
  readonly spec: TriggerSpec;
  readonly handlerKind: 'local' | 'a2a' | 'worker' | 'auto_resume';
  state: BindingState;
  readonly metrics: {
    received: number;
    dispatched: number;
    failed: number;
    dlq: number;
    in_flight: number;
    last_received_ms: Instant | null;
  };
}

export interface BindingRequest {
  readonly id: string;
  readonly source: 'manifest' | 'dynamic';
  readonly kind: string;
  readonly spec: TriggerSpec;
  readonly handlerKind: Binding['handlerKind'];
  readonly state: 'registering' | 'active';
}

/** How many ended bindings `trigger_list` still shows. */
const REMEMBERED_ENDS = 100;

export class TriggerRegistry {
  readonly #bindings = new Map<string, Binding>();
  /** Most kinds of events have one listener, and a set for each of them would be the largest thing here. */
  readonly #byEvent = new Map<string, Binding | Set<Binding>>();
  readonly #admit: (spec: TriggerSpec) => string | undefined;

  /** @param admit says why a provider refuses a spec; undefined lets it in */
  constructor(admit: (spec: TriggerSpec) => string | undefined = () => undefined) {
    this.#admit = admit;
  }

  /** @throws plain HarnError when the provider refuses, or the id is taken by a live binding */
  register(request: BindingRequest): Binding {
    const refusal = this.#admit(request.spec);
    if (refusal !== undefined) throw new HarnError('plain', refusal);
    const previous = this.#bindings.get(request.id);
    if (previous !== undefined && previous.state !== 'terminated')
      throw new HarnError('plain', `trigger id '${request.id}' is already registered`);
    const { id, source, kind, spec, handlerKind, state } = request;
    // Not a spread of the request: V8 gives each of its results a hidden class of its own, half a kilobyte for each.
    const binding: Binding = {
      id,
      source,
      kind,
      spec,
      handlerKind,
      state,
      version: (previous?.version ?? 0) + 1,
      metrics: { received: 0, dispatched: 0, failed: 0, dlq: 0, in_flight: 0, last_received_ms: null },
    };
    this.#bindings.delete(request.id);
    this.#bindings.set(request.id, binding);
    for (const key of eventKeys(binding.spec)) {
      const known = this.#byEvent.get(key);
      if (known === undefined) this.#byEvent.set(key, binding);
      else if (known instanceof Set) known.add(binding);
      else this.#byEvent.set(key, new Set([known, binding]));
    }
    return binding;
  }

  find(id: string): Binding | undefined {
    return this.#bindings.get(id);
  }

  /** In the order of registration, ended ones of late included. */
  list(): readonly Binding[] {
    return [...this.#bindings.values()];
  }

  /** Active bindings that listen to this kind of event of this provider. */
  matching(provider: string, kind: string): readonly Binding[] {
    const known = this.#byEvent.get(eventKey(provider, kind));
    const bindings = known === undefined ? [] : known instanceof Set ? [...known] : [known];
    return bindings.filter((binding) => binding.state === 'active');
  }

  setState(id: string, state: BindingState): void {
    const binding = this.#bindings.get(id);
    if (binding === undefined) return;
    binding.state = state;
    if (state !== 'terminated') return;
    this.#unindex(binding);
    this.#forgetOldEnds();
  }

  /** Takes a binding away as if it had never been: a dormant one that was not needed. */
  remove(id: string): void {
    const binding = this.#bindings.get(id);
    if (binding === undefined) return;
    this.#unindex(binding);
    this.#bindings.delete(id);
  }

  #unindex(binding: Binding): void {
    for (const key of eventKeys(binding.spec)) {
      const known = this.#byEvent.get(key);
      if (known instanceof Set) known.delete(binding);
      if (known === binding || (known instanceof Set && known.size === 0)) this.#byEvent.delete(key);
    }
  }

  #forgetOldEnds(): void {
    const ended = [...this.#bindings.values()].filter((binding) => binding.state === 'terminated');
    for (const binding of ended.slice(0, Math.max(0, ended.length - REMEMBERED_ENDS))) this.#bindings.delete(binding.id);
  }
}

/** A binding as scripts see it. */
export function bindingHandle(binding: Binding): JsonObject {
  return {
    id: binding.id,
    version: binding.version,
    source: binding.source,
    kind: binding.kind,
    provider: binding.spec.provider,
    autonomy_tier: binding.spec.autonomyTier,
    handler_kind: binding.handlerKind,
    state: binding.state,
    metrics: { ...binding.metrics },
  };
}

function eventKeys(spec: TriggerSpec): readonly string[] {
  return spec.events.map((event) => eventKey(spec.provider, event));
}

function eventKey(provider: string, kind: string): string {
  return `${provider}\n${kind}`;
}
