import { errorText } from '../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Clock } from '../platform/platform.ts';
import type { AuditLog } from './audit.ts';
import type { CloudHarness } from './cloud-harness.ts';
import { hasConditions, type ResumeConditions } from './resume-condition.ts';
import { redactSpec } from './spec-value.ts';
import type { Waker } from './waker.ts';

/**
 * Who is responsible for waking a suspension (spec/agents.md chapter 8): exactly one owner each, asked once, with the
 * parent's model as the safety net. Presets and composed callbacks audit what they do; the dispatcher audits only what
 * nobody else did, so that each suspension has one `resume_by_dispatched`.
 */
export const PARENT_LLM = 'ResumeBy.parent_llm';
export const LOCAL_RUNTIME = 'ResumeBy.local_runtime';
export const CLOUD_HARNESS = 'ResumeBy.cloud_harness';
export const PIPELINE_DRAIN = 'ResumeBy.pipeline_drain';

export type PresetName = 'parent_llm' | 'local_runtime' | 'cloud_harness' | 'pipeline_drain';

/** Gives JSON; an answer of any other kind arrives as null. The runtime makes these from closures. */
export type ResumeByCallback = (suspension: JsonObject) => Json | Promise<Json>;

const CALLBACK_LIMIT_MS = 30_000;

/** What was audited for one handle while its dispatch runs. */
interface DispatchScope {
  readonly dispatched: Set<string>;
  readonly declined: Set<string>;
}

export class ResumeOwners {
  readonly #audit: AuditLog;
  readonly #waker: Waker;
  readonly #cloud: CloudHarness;
  readonly #realClock: Clock;
  readonly #bind: (callback: unknown) => ResumeByCallback;
  readonly #scopes = new Map<string, DispatchScope>();
  /** Workers whose suspension is left to the end of the pipeline. */
  readonly drained = new Set<string>();

  constructor(parts: {
    readonly audit: AuditLog;
    readonly waker: Waker;
    readonly cloud: CloudHarness;
    readonly realClock: Clock;
    /** Makes what a park request carries callable. */
    readonly bind: (callback: unknown) => ResumeByCallback;
  }) {
    this.#audit = parts.audit;
    this.#waker = parts.waker;
    this.#cloud = parts.cloud;
    this.#realClock = parts.realClock;
    this.#bind = parts.bind;
  }

  get cloudSessionId(): string | undefined {
    return this.#cloud.sessionId;
  }

  /** The owner of a park that names none, when no receiver outside has to be asked first. */
  plan(callback: unknown, conditions: ResumeConditions | undefined): string | undefined {
    if (callback !== undefined) return undefined;
    if (!hasConditions(conditions)) return PARENT_LLM;
    return this.#cloud.sessionId === undefined ? LOCAL_RUNTIME : undefined;
  }

  /**
   * Asks the owner of a suspension that is already saved (8.4).
   * @returns the name of the mechanism that answers for the wake
   */
  async dispatch(callback: unknown, suspension: JsonObject, conditions: ResumeConditions | undefined): Promise<string> {
    const given = callback === undefined ? undefined : this.#bind(callback);
    const handle = handleOf(suspension);
    const scope: DispatchScope = { dispatched: new Set(), declined: new Set() };
    this.#scopes.set(handle, scope);
    try {
      return await this.#ask(given ?? this.#defaultOwner(conditions), given === undefined, suspension, scope);
    } finally {
      this.#scopes.delete(handle);
    }
  }

  /** A preset called by hand or by a dispatch; reports and audits alike. Only a bound receiver has to be waited for. */
  preset(name: PresetName, suspension: JsonObject): JsonObject | Promise<JsonObject> {
    switch (name) {
      case 'parent_llm':
        return this.#handled(PARENT_LLM, suspension);
      case 'local_runtime':
        return this.#localRuntime(suspension);
      case 'cloud_harness':
        return this.#cloudHarness(suspension);
      case 'pipeline_drain':
        this.drained.add(handleOf(suspension));
        return this.#handled(PIPELINE_DRAIN, suspension);
    }
  }

  /** Asks owners in order until one takes it (8.3 `first_handled`). @returns the last answer when none does; null for no owners */
  async firstHandled(callbacks: readonly ResumeByCallback[], suspension: JsonObject): Promise<Json> {
    let last: Json = null;
    for (const callback of callbacks) {
      last = await callback(suspension);
      if (isHandled(last)) return last;
      this.noteDeclined(suspension, last);
    }
    return last;
  }

  /** Audits a decline unless the one who declined did so itself. */
  noteDeclined(suspension: JsonObject, answer: Json): void {
    const mechanism = mechanismOf(answer) ?? 'callback';
    const reason =
      isJsonObject(answer) && typeof answer.reason === 'string' ? answer.reason : isDecline(answer) ? 'declined' : 'invalid_result';
    if (mechanism.startsWith('ResumeBy.')) return;
    this.#emitDeclined(mechanism, suspension, reason);
  }

  #defaultOwner(conditions: ResumeConditions | undefined): ResumeByCallback {
    if (!hasConditions(conditions)) return (suspension) => this.preset('parent_llm', suspension);
    const local: ResumeByCallback = (suspension) => this.preset('local_runtime', suspension);
    if (this.#cloud.sessionId === undefined) return local;
    return (suspension) => this.firstHandled([(value) => this.preset('cloud_harness', value), local], suspension);
  }

  async #ask(callback: ResumeByCallback, isDefault: boolean, suspension: JsonObject, scope: DispatchScope): Promise<string> {
    let answer: Json;
    try {
      answer = await this.#withinLimit(callback(suspension));
    } catch (error) {
      this.#audit.emit('resume_by_errored', { mechanism: 'callback', ...subjectOf(suspension), error: errorText(error) });
      return this.#fallBack(suspension, errorText(error));
    }
    if (isHandled(answer)) {
      const mechanism = answer.mechanism;
      if (!scope.dispatched.has(mechanism)) this.#emitDispatched(mechanism, suspension, {});
      return mechanism;
    }
    if (!isDefault && scope.declined.size === 0) this.noteDeclined(suspension, answer);
    return this.#fallBack(suspension, answer);
  }

  #fallBack(suspension: JsonObject, previous: Json): string {
    this.#audit.emit('resume_by_fallback', { mechanism: PARENT_LLM, ...subjectOf(suspension), previous });
    this.#handled(PARENT_LLM, suspension);
    return PARENT_LLM;
  }

  #localRuntime(suspension: JsonObject): JsonObject {
    const conditions = shownConditionsOf(suspension);
    if (conditions === undefined) return this.#declined(LOCAL_RUNTIME, suspension, 'no_conditions');
    this.#waker.armConditions(handleOf(suspension));
    return this.#handled(LOCAL_RUNTIME, suspension, { conditions });
  }

  #cloudHarness(suspension: JsonObject): JsonObject | Promise<JsonObject> {
    const session = this.#cloud.sessionId;
    return session === undefined
      ? this.#declined(CLOUD_HARNESS, suspension, 'no_cloud_session')
      : this.#registerOutside(session, suspension);
  }

  async #registerOutside(session: string, suspension: JsonObject): Promise<JsonObject> {
    const conditions = shownConditionsOf(suspension) ?? null;
    const isRegistered = await this.#cloud.register({ handle: handleOf(suspension), suspension, conditions });
    if (!isRegistered) return this.#declined(CLOUD_HARNESS, suspension, 'cloud_register_failed');
    return this.#handled(CLOUD_HARNESS, suspension, { cloud_session: session, conditions });
  }

  #handled(mechanism: string, suspension: JsonObject, facts: JsonObject = {}): JsonObject {
    this.#emitDispatched(mechanism, suspension, facts);
    return { handled: true, mechanism };
  }

  #declined(mechanism: string, suspension: JsonObject, reason: string): JsonObject {
    this.#emitDeclined(mechanism, suspension, reason);
    return { handled: false, mechanism, reason };
  }

  #emitDispatched(mechanism: string, suspension: JsonObject, facts: JsonObject): void {
    this.#scopes.get(handleOf(suspension))?.dispatched.add(mechanism);
    this.#audit.emit('resume_by_dispatched', { mechanism, ...subjectOf(suspension), ...facts });
  }

  #emitDeclined(mechanism: string, suspension: JsonObject, reason: string): void {
    this.#scopes.get(handleOf(suspension))?.declined.add(mechanism);
    this.#audit.emit('resume_by_declined', { mechanism, handle: handleOf(suspension), reason });
  }

  /** A callback that never settles must not leave a suspension without an owner. */
  async #withinLimit(answer: Json | Promise<Json>): Promise<Json> {
    let cancel = (): void => undefined;
    const late = new Promise<never>((_resolve, reject) => {
      cancel = this.#realClock.timer(CALLBACK_LIMIT_MS, () => reject(new Error('resume_by did not settle within 30 seconds')));
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      cancel();
    }
  }
}

/** The id of a handle dict, or the text that stands for one. */
export function handleOf(suspension: JsonObject): string {
  const { handle } = suspension;
  if (isJsonObject(handle) && typeof handle.id === 'string') return handle.id;
  return typeof handle === 'string' ? handle : '';
}

function isHandled(answer: Json): answer is JsonObject & { readonly mechanism: string } {
  return isJsonObject(answer) && answer.handled === true && typeof answer.mechanism === 'string' && answer.mechanism !== '';
}

function isDecline(answer: Json): boolean {
  return isJsonObject(answer) && answer.handled === false;
}

function mechanismOf(answer: Json): string | undefined {
  return isJsonObject(answer) && typeof answer.mechanism === 'string' && answer.mechanism !== '' ? answer.mechanism : undefined;
}

function subjectOf(suspension: JsonObject): JsonObject {
  return { handle: handleOf(suspension), reason: suspension.reason ?? null };
}

function shownConditionsOf({ conditions }: JsonObject): JsonObject | undefined {
  return isJsonObject(conditions) && Object.keys(conditions).length > 0 ? redactSpec(conditions) : undefined;
}
