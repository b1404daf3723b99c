/** Values by name that are only asked for one by one, or listed; every `ReadonlyMap` is one. */
export interface Lookup<T> {
  get(name: string): T | undefined;
  has(name: string): boolean;
  keys(): Iterable<string>;
}

/** A record as a lookup. Nothing is copied: a Map of a long generated table would cost a millisecond at every start. */
export function lookupIn<Entry, T>(record: Readonly<Record<string, Entry>>, pick: (entry: Entry) => T): Lookup<T> {
  return {
    get: (name) => (Object.hasOwn(record, name) ? pick(record[name] as Entry) : undefined),
    has: (name) => Object.hasOwn(record, name),
    keys: () => Object.keys(record),
  };
}
