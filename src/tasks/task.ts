import type { CancelScope } from './cancel-scope.ts';
import { failed, type Outcome, outcomeOf } from './outcome.ts';

/**
 * A body that runs on its own, below the scope it was started in. It begins when the code that started it waits
 * for the first time, and is dropped without having run when it was cancelled before.
 */
export class Task<T> {
  readonly scope: CancelScope;
  /** Resolves with the outcome; never rejects. */
  readonly settled: Promise<Outcome<T>>;
  #outcome: Outcome<T> | undefined;

  private constructor(scope: CancelScope, body: (scope: CancelScope) => T | Promise<T>) {
    this.scope = scope;
    this.settled = this.#run(body);
  }

  static start<T>(parent: CancelScope, body: (scope: CancelScope) => T | Promise<T>): Task<T> {
    return new Task(parent.open(), body);
  }

  /** Undefined while the task has not ended. */
  get outcome(): Outcome<T> | undefined {
    return this.#outcome;
  }

  /** Asks the task to unwind; its waits reject with `reason`. The task ends a little later. */
  cancel(reason: unknown): void {
    this.scope.cancel(reason);
  }

  async #run(body: (scope: CancelScope) => T | Promise<T>): Promise<Outcome<T>> {
    await undefined;
    const { signal } = this.scope;
    const outcome = signal.aborted ? failed<T>(signal.reason) : await outcomeOf(() => body(this.scope));
    this.scope.close();
    this.#outcome = outcome;
    return outcome;
  }
}
