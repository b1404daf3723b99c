import { type Instant, parseInstant } from '../base/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Platform } from '../platform/platform.ts';
import { type Liveness, livenessOf, type ProcessIdentity } from '../store/process-identity.ts';

/** Why a worker waits and what may wake it (spec/agents.md 6, 8.4, 9.6), from the head of its snapshot alone. */
export interface SuspensionHead {
  readonly id: string;
  readonly initiator: string | undefined;
  /** Zero-based. */
  readonly turn: number | undefined;
  /** The resume owner, such as `ResumeBy.local_runtime`; undefined when it was not asked before the process died. */
  readonly mechanism: string | undefined;
  readonly timeout: TimeoutHead | undefined;
  readonly trigger: TriggerHead | undefined;
  readonly topic: TopicHead | undefined;
  /** The process that armed it last; undefined when none is known here, or nothing is armed. */
  readonly armer: SeenProcess | undefined;
  readonly attendance: Attendance;
}

export interface TimeoutHead {
  readonly deadlineAt: Instant | undefined;
  /** `resume_with_summary`, `resume_with_input`, `fail`, or a word that this version does not know. */
  readonly action: string;
  readonly isArmed: boolean;
}

export interface TriggerHead {
  /** Of the binding. */
  readonly id: string | undefined;
  readonly provider: string;
  readonly kind: string;
  /** A cron expression. */
  readonly schedule: string | undefined;
  /** IANA name; undefined is the zone of the machine. */
  readonly timezone: string | undefined;
  /** It has a predicate of the script, which only a process that loads the script can ask. */
  readonly hasPredicate: boolean;
  readonly isArmed: boolean;
}

export interface TopicHead {
  readonly name: string;
  /** Records after this one wake. */
  readonly fromCursor: number;
  readonly isArmed: boolean;
}

export interface SeenProcess extends ProcessIdentity {
  readonly liveness: Liveness;
}

/**
 * Whether somebody will do what the suspension waits for. `open`: nothing is armed, somebody has to resume it.
 * `attended`: a live process of this host. `elsewhere`: a receiver or a host that cannot be seen from here.
 * `unattended`: whoever armed it is gone, so nothing happens until a host arms it again (9.7).
 */
export type Attendance = 'open' | 'attended' | 'elsewhere' | 'unattended';

/** @param armers from the index of waiters, by suspension id */
export function suspensionHead(
  world: Pick<Platform, 'processes' | 'system'>,
  head: JsonObject,
  armers: ReadonlyMap<string, ProcessIdentity | undefined>,
): SuspensionHead | undefined {
  const { suspension } = head;
  if (!isJsonObject(suspension)) return undefined;
  const armed = isJsonObject(head.armed) ? head.armed : {};
  const conditions = isJsonObject(suspension.conditions) ? suspension.conditions : {};
  const id = textIn(suspension.suspension_id) ?? '';
  const mechanism = textIn(suspension.resume_by_mechanism);
  const parts = {
    timeout: timeoutHead(conditions.timeout, armed),
    trigger: triggerHead(conditions.trigger, suspension, armed),
    topic: topicHead(conditions.on_event, armed),
  };
  const isArmed = Object.values(parts).some((part) => part?.isArmed === true);
  const known = isArmed ? armers.get(id) : undefined;
  const armer = known === undefined ? undefined : { ...known, liveness: livenessOf(world, known) };
  return {
    id,
    initiator: textIn(suspension.initiator),
    turn: typeof suspension.suspended_at_turn === 'number' ? suspension.suspended_at_turn : undefined,
    mechanism,
    ...parts,
    armer,
    attendance: attendance(isArmed, armer, mechanism),
  };
}

function attendance(isArmed: boolean, armer: SeenProcess | undefined, mechanism: string | undefined): Attendance {
  if (armer?.liveness === 'alive') return 'attended';
  if (mechanism === 'ResumeBy.cloud_harness' || armer?.liveness === 'unknown') return 'elsewhere';
  return isArmed ? 'unattended' : 'open';
}

function timeoutHead(value: Json | undefined, armed: JsonObject): TimeoutHead | undefined {
  const deadlineAt = instantIn(armed.deadline_at);
  if (!isJsonObject(value) && deadlineAt === undefined) return undefined;
  const action = isJsonObject(value) ? textIn(value.on_timeout) : undefined;
  return { deadlineAt, action: action ?? 'resume_with_summary', isArmed: deadlineAt !== undefined };
}

function triggerHead(value: Json | undefined, suspension: JsonObject, armed: JsonObject): TriggerHead | undefined {
  if (!isJsonObject(value)) return undefined;
  const binding = suspension.auto_resume_trigger;
  return {
    id: isJsonObject(binding) ? textIn(binding.id) : undefined,
    provider: textIn(value.provider) ?? 'unknown',
    kind: textIn(value.kind) ?? 'unknown',
    schedule: textIn(value.schedule),
    timezone: textIn(value.timezone),
    hasPredicate: value.when_unbound === true,
    isArmed: armed.trigger === true,
  };
}

function topicHead(value: Json | undefined, armed: JsonObject): TopicHead | undefined {
  const subscription = isJsonObject(armed.on_event) ? armed.on_event : undefined;
  const name = textIn(value) ?? textIn(subscription?.topic);
  if (name === undefined) return undefined;
  const cursor = subscription?.from_cursor;
  return { name, fromCursor: typeof cursor === 'number' ? cursor : 0, isArmed: subscription !== undefined };
}

export function textIn(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function instantIn(value: Json | undefined): Instant | undefined {
  return typeof value === 'string' ? parseInstant(value) : undefined;
}
