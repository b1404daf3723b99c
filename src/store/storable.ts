/**
 * What a snapshot can hold: whatever is written must come back equal, or the park is refused while the worker still
 * runs and its author can see why. JSON itself drops functions, turns NaN into null and a Date into text without a
 * word. Plain recursion, because a park waits for it; the limit of depth keeps the stack small.
 */
export const MAX_DEPTH = 1000;

interface Unfit {
  /** Innermost first. */
  readonly path: string[];
  readonly problem: string;
}

const SHOWN_SEGMENTS = 8;

/** @throws Error that names the first value which a file could not give back as it is, by its path */
export function assertStorable(document: object): void {
  const unfit = findUnfit(document, 0);
  if (unfit === undefined) return;
  const path = unfit.path.reverse();
  const shown = path.length > SHOWN_SEGMENTS ? [...path.slice(0, SHOWN_SEGMENTS), '…'] : path;
  throw new Error(`${shown.join('.')} ${unfit.problem}`);
}

/** Bytes that the text of a storable value takes at least: strings with their quotes, and keys. Looks into no string. */
export function leastSizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 1;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += leastSizeOf(item);
  else for (const [key, member] of Object.entries(value)) if (member !== undefined) size += key.length + 3 + leastSizeOf(member);
  return size;
}

function findUnfit(value: unknown, depth: number): Unfit | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : unfit(`is ${value}, which JSON cannot hold`);
    case 'object':
      if (value === null) return undefined;
      if (depth > MAX_DEPTH) return unfit(`is nested deeper than ${MAX_DEPTH} levels, or in itself`);
      return Array.isArray(value) ? findInList(value, depth) : findInObject(value, depth);
    default:
      return unfit(`is of type ${typeof value}, which JSON cannot hold`);
  }
}

function findInList(list: readonly unknown[], depth: number): Unfit | undefined {
  for (let index = 0; index < list.length; index++) {
    const found = findUnfit(list[index], depth + 1);
    if (found !== undefined) return within(found, String(index));
  }
  return undefined;
}

function findInObject(value: object, depth: number): Unfit | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return unfit(`is a ${value.constructor.name}, which JSON cannot hold`);
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    // An absent field and one that is undefined are the same.
    const found = member === undefined ? undefined : findUnfit(member, depth + 1);
    if (found !== undefined) return within(found, key);
  }
  return undefined;
}

function unfit(problem: string): Unfit {
  return { path: [], problem };
}

function within(found: Unfit, key: string): Unfit {
  found.path.push(key);
  return found;
}
