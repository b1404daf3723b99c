import { display } from '../display.ts';
import { isInRange, rangeLength } from '../ranges.ts';
import type { RangeValue } from '../value.ts';
import type { MethodTable } from './methods.ts';

/** Methods that a range has itself (spec/language.md 7.5); all others go to an iterator over it. */
export const RANGE_METHODS: MethodTable<RangeValue> = {
  len: (_c, _d, range) => rangeLength(range),
  count: (_c, _d, range) => rangeLength(range),
  empty: (_c, _d, range) => rangeLength(range) === 0,
  contains: (_c, _d, range, [value]) => isInRange(range, value),
  first: (_c, _d, range) => (rangeLength(range) === 0 ? undefined : range.start),
  last: (_c, _d, range) => (rangeLength(range) === 0 ? undefined : range.start + rangeLength(range) - 1),
  to_string: (_c, _d, range) => display(range),
};
