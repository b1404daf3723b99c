/**
 * What a snapshot can hold: whatever is written must come back equal, or the park is refused while the worker still
 * runs and its author can see why. JSON itself drops functions, turns NaN into null and a Date into text without a
 * word. Plain recursion, because a park waits for it; the limit of depth keeps the stack small.
 */
export const MAX_DEPTH = 1000;

const SHOWN_SEGMENTS = 8;

/** What ends the walk. */
class Unfit {
  /** Innermost first. */
  readonly path: string[] = [];
  readonly problem: string;

  constructor(problem: string) {
    this.problem = problem;
  }
}

/**
 * @param path where the value stands in the snapshot
 * @returns the bytes that the text of the value takes at least: strings with their quotes, and keys; looks into no string
 * @throws Error that names the first value which a file could not give back as it is, by its path
 */
export function storableSizeOf(value: unknown, path: readonly string[] = []): number {
  try {
    return sizeOf(value, path.length);
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    const whole = [...path, ...error.path.reverse()];
    const shown = whole.length > SHOWN_SEGMENTS ? [...whole.slice(0, SHOWN_SEGMENTS), '…'] : whole;
    throw new Error(`${shown.join('.')} ${error.problem}`);
  }
}

function sizeOf(value: unknown, depth: number): number {
  switch (typeof value) {
    case 'string':
      return value.length + 2;
    case 'boolean':
      return 1;
    case 'number':
      if (Number.isFinite(value)) return 1;
      throw new Unfit(`is ${value}, which JSON cannot hold`);
    case 'object':
      if (value === null) return 1;
      if (depth > MAX_DEPTH) throw new Unfit(`is nested deeper than ${MAX_DEPTH} levels, or in itself`);
      return Array.isArray(value) ? sizeOfList(value, depth) : sizeOfObject(value, depth);
    default:
      throw new Unfit(`is of type ${typeof value}, which JSON cannot hold`);
  }
}

function sizeOfList(list: readonly unknown[], depth: number): number {
  let size = 2;
  let index = 0;
  try {
    for (; index < list.length; index++) size += sizeOf(list[index], depth + 1);
  } catch (error) {
    throw within(error, String(index));
  }
  return size;
}

function sizeOfObject(value: object, depth: number): number {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new Unfit(`is a ${value.constructor.name}, which JSON cannot hold`);
  let size = 2;
  let at = '';
  try {
    for (const key of Object.keys(value)) {
      const member = (value as Record<string, unknown>)[key];
      // An absent field and one that is undefined are the same.
      if (member === undefined) continue;
      at = key;
      size += key.length + 3 + sizeOf(member, depth + 1);
    }
  } catch (error) {
    throw within(error, at);
  }
  return size;
}

function within(error: unknown, key: string): unknown {
  if (error instanceof Unfit) error.path.push(key);
  return error;
}
