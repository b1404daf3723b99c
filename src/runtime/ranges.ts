import type { RangeValue, Value } from './value.ts';

export function rangeLength(range: RangeValue): number {
  return Math.max(0, range.end - range.start + (range.isExclusive ? 0 : 1));
}

/** False for anything but an int. */
export function isInRange(range: RangeValue, value: Value): boolean {
  return typeof value === 'number' && value >= range.start && (range.isExclusive ? value < range.end : value <= range.end);
}
