/**
 * A value made at its first use. Schemas that only some runs ask for are made so: building one takes longer than
 * decoding with it, and all modules of a pack are evaluated at every start that needs any of them.
 */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
