import { isJsonObject, type JsonObject } from '../base/json.ts';

/** What of a worker may be shown where no prompt, input or result may be (spec/agents.md 13.55). */
const KEYS = ['_type', 'id', 'name', 'mode', 'status', 'lifecycle_state', 'snapshot_path', 'parent_worker_id'] as const;

/** The handle inside a Suspension, of a summary or of anything with its fields. */
export function reduceHandle(summary: JsonObject): JsonObject {
  return Object.fromEntries(KEYS.map((key) => [key, summary[key] ?? null]));
}

/**
 * The data of an error as it may be logged: `detail.handle`, which a script gets whole, is reduced. It is the summary of
 * a worker, with its prompt, its input and its transcript.
 */
export function loggableErrorData(data: JsonObject): JsonObject {
  const { detail } = data;
  if (!isJsonObject(detail) || !isJsonObject(detail.handle)) return data;
  return { ...data, detail: { ...detail, handle: reduceHandle(detail.handle) } };
}
