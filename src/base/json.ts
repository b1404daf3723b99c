/** A value that JSON can hold. Integers beyond 2^53 appear as `bigint` only inside the Harn runtime, never here. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. Absent and `undefined` members are the same thing. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value that a text holds, which may be null; undefined for what is no JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json; // JSON.parse gives nothing but Json
  } catch {
    return undefined;
  }
}

/** The object that a text holds; undefined for anything else, also for what is no JSON. */
export function parseJsonObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isJsonObject(value) ? value : undefined;
}
