/**
 * A promise for something that a callback will announce, which gives up when the signal fires.
 *
 * @param signal aborts the wait; the promise rejects with `signal.reason`
 * @param begin registers interest, and answers how to withdraw it; called only when the signal has not fired
 */
export function waitFor<T>(signal: AbortSignal, begin: (wake: (value: T) => void) => () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      withdraw();
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const withdraw = begin((value) => {
      signal.removeEventListener('abort', onAbort);
      resolve(value);
    });
  });
}

/** Waits for a promise that knows nothing of the signal; the promise itself goes on. */
export function waitForPromise<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
