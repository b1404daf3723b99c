import { type JsonObject, parseJsonObject } from '../base/json.ts';

export interface WaiterIndex {
  /** Records that still wait, by suspension id, each with who armed it last. */
  readonly waiting: ReadonlyMap<string, JsonObject>;
  readonly lines: number;
  /** Whether all lines are JSON objects, but for a last one that was cut off. */
  readonly isWhole: boolean;
}

/**
 * Reads the lines of the index of waiters: a record of a suspension that waits, a note that one is over (`gone`), or
 * that a process armed all that stood before it (`lines`).
 */
export function readWaiterIndex(text: string): WaiterIndex {
  const lines = text.split('\n').filter((line) => line !== '');
  const waiting = new Map<string, { readonly record: JsonObject; readonly line: number }>();
  let note: JsonObject | undefined;
  let isWhole = true;
  for (const [line, content] of lines.entries()) {
    const record = parseJsonObject(content);
    if (record === undefined) isWhole &&= line === lines.length - 1;
    else if (typeof record.lines === 'number') note = record;
    else if (record.gone === true) waiting.delete(String(record.suspension_id));
    else waiting.set(String(record.suspension_id), { record, line });
  }
  // The latest note speaks of all lines that any earlier one has seen.
  const { lines: taken = 0, armed_by = null } = note ?? {};
  const current = [...waiting].map(([id, { record, line }]): [string, JsonObject] => [
    id,
    line < Number(taken) ? { ...record, armed_by } : record,
  ]);
  return { waiting: new Map(current), lines: lines.length, isWhole };
}
