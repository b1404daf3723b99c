/** How a body ended. */
export type Outcome<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'failed'; readonly error: unknown };

/** Runs a body that may throw, reject or answer at once. Synchronous as long as the body is. */
export function outcomeOf<T>(body: () => T | Promise<T>): Outcome<T> | Promise<Outcome<T>> {
  try {
    const answer = body();
    return answer instanceof Promise ? answer.then(done<T>, failed<T>) : done(answer);
  } catch (error) {
    return failed(error);
  }
}

function done<T>(value: T): Outcome<T> {
  return { kind: 'done', value };
}

export function failed<T>(error: unknown): Outcome<T> {
  return { kind: 'failed', error };
}
