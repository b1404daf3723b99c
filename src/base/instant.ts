/** A point in time: whole milliseconds since the Unix epoch, UTC. */
export type Instant = number;

/** The last instant that RFC 3339 can write: 9999-12-31T23:59:59.999Z. */
export const LAST_INSTANT: Instant = 253_402_300_799_999;

/** Renders an instant as RFC 3339 UTC with milliseconds, e.g. `2026-04-30T12:00:00.000Z`. */
export function renderInstant(instant: Instant): string {
  return new Date(Math.min(instant, LAST_INSTANT)).toISOString();
}

/** Reads an RFC 3339 date-time; undefined when the text is not one. */
export function parseInstant(text: string): Instant | undefined {
  const instant = Date.parse(text);
  return Number.isNaN(instant) ? undefined : instant;
}
