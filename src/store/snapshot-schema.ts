import * as z from 'zod/mini';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { STATUSES, WORKER_ID } from './worker-status.ts';

/**
 * The snapshot of a worker, format 1 (spec/agents.md 4.7). Only what lifecycle itself relies on is described; the
 * transcript, counters, configuration and program are payloads of their owners. Unknown keys are kept everywhere.
 */
const object = z.custom<JsonObject>(isJsonObject, 'expected an object');
const json = z.custom<Json>((value) => value !== undefined, 'expected a value');
const text = z.string();
const textOrNull = z.nullish(text);
const objectOrNull = z.nullish(object);
const optionalJson = z.optional(json);
const count = z.int().check(z.nonnegative());

const initiator = z.enum(['self', 'parent', 'operator', 'triggered']);

export const suspensionSchema = z.looseObject({
  suspension_id: text.check(z.minLength(1)),
  status: z.literal('suspended'),
  handle: text,
  reason: text,
  initiator,
  conditions: objectOrNull,
  iterations_completed: count,
  suspended_at: text,
  suspended_at_turn: z.nullish(count),
  snapshot_ref: z.optional(text),
  resume_by_mechanism: textOrNull,
  auto_resume_trigger: z.nullish(z.looseObject({ id: text, version: count })),
});

const suspensionOrNull = z.nullish(suspensionSchema);

export const armedSchema = z.looseObject({
  trigger: z.boolean(),
  deadline_at: textOrNull,
  on_event: z.nullish(z.looseObject({ topic: text, from_cursor: count })),
});

export const snapshotSchema = z.looseObject({
  /** `daemon_snapshot` is the copy that a daemon keeps in its own directory (11.4). */
  _type: z.enum(['worker_snapshot', 'daemon_snapshot']),
  version: z.literal(1),
  id: text.check(z.regex(WORKER_ID, 'expected letters, digits, dots, hyphens and underscores')),
  name: text,
  task: text,
  status: z.enum(STATUSES),
  lifecycle_state: text,
  mode: text,
  created_at: textOrNull,
  started_at: textOrNull,
  finished_at: textOrNull,
  awaiting_started_at: textOrNull,
  history: z.array(text),
  request: object,
  latest_payload: optionalJson,
  latest_error: textOrNull,
  result: optionalJson,
  parent_worker_id: textOrNull,
  parent_stage_id: textOrNull,
  child_run_id: textOrNull,
  child_run_path: textOrNull,
  snapshot_path: textOrNull,
  execution: objectOrNull,
  audit: objectOrNull,
  artifacts: z.array(json),
  carry_policy: object,
  journal: z.nullish(z.looseObject({ folded_records: count })),
  config: z.looseObject({ mode: text, spec: z.optional(object) }),
  loop: object,
  suspension: suspensionOrNull,
  last_suspension: suspensionOrNull,
  armed: z.nullish(armedSchema),
  resume: z.looseObject({ generation: count, suspension_id: textOrNull, opened_at: textOrNull, claim: objectOrNull }),
  rejected: z.nullish(z.looseObject({ at: text, by: text, reason: text })),
  daemon: objectOrNull,
  program: objectOrNull,
  transcript: objectOrNull,
});

/** The keys that are described above; others are kept but nobody here reads them. */
type Described<T> = { [K in keyof T as string extends K ? never : K]: T[K] };

export type WorkerSnapshot = Described<z.infer<typeof snapshotSchema>>;
export type SuspensionRecord = z.infer<typeof suspensionSchema>;
export type ArmedRecord = z.infer<typeof armedSchema>;

/**
 * Keys in the order of the file: what a listing shows comes first, large payloads later, the transcript last, so that
 * a reader of heads stops early. Keys that are not named here go before `program`.
 */
export const FIRST_KEYS = [
  '_type', 'version', 'id', 'name', 'status', 'lifecycle_state', 'mode', 'created_at', 'started_at', 'finished_at',
  'awaiting_started_at', 'snapshot_path', 'parent_worker_id', 'parent_stage_id', 'child_run_id', 'child_run_path', 'latest_error',
  'resume', 'rejected', 'armed', 'journal', 'suspension', 'last_suspension', 'audit', 'execution', 'daemon', 'loop', 'task',
] as const; // biome-ignore format: a list to be scanned
export const LAST_KEYS = ['program', 'transcript'] as const;
