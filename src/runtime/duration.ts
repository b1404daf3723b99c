import { toDouble } from './arithmetic.ts';
import { Duration, type Value } from './value.ts';

/** Milliseconds of a duration, or of a number that stands for some; undefined for other kinds. Never negative. */
export function durationMs(value: Value): number | undefined {
  const ms = value instanceof Duration ? value.ms : toDouble(value);
  if (ms === undefined || Number.isNaN(ms)) return undefined;
  return Math.max(0, Math.trunc(ms));
}
