/**
 * Steps that answer at once or with a promise. Callbacks of a script may or may not wait, and awaiting a value that is
 * already there would cost a turn of the microtask queue for each element of a list.
 */
export type MaybeAsync<T> = T | Promise<T>;

/** Continues with the answer: at once when it is there, else when it comes. */
export function andThen<T, U>(answer: MaybeAsync<T>, next: (value: T) => MaybeAsync<U>): MaybeAsync<U> {
  return answer instanceof Promise ? answer.then(next) : next(answer);
}

/** Asks `until` for another step. */
export const AGAIN: unique symbol = Symbol('again');

/** Repeats a step until it answers something else than `AGAIN`; synchronous as long as the steps are. */
export function until<T>(step: () => MaybeAsync<T | typeof AGAIN>): MaybeAsync<T> {
  for (;;) {
    const answer = step();
    if (answer instanceof Promise) return continueAsync(answer, step);
    if (answer !== AGAIN) return answer;
  }
}

async function continueAsync<T>(first: Promise<T | typeof AGAIN>, step: () => MaybeAsync<T | typeof AGAIN>): Promise<T> {
  let answer = await first;
  while (answer === AGAIN) answer = await step();
  return answer;
}
