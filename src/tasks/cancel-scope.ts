import { setMaxListeners } from 'node:events';

/**
 * One node of the cancellation tree. Cancelling a scope aborts its signal and those of all scopes below it, with
 * the same reason; the first reason wins. A scope is closed by whoever opened it: its children then belong to
 * its parent, so that a task started inside a block still hears about the end of what encloses the block.
 */
export class CancelScope {
  readonly #controller = new AbortController();
  readonly #children = new Set<CancelScope>();
  readonly #observer: CancelObserver | undefined;
  #parent: CancelScope | undefined;
  #isClosed = false;

  private constructor(parent: CancelScope | undefined, observer: CancelObserver | undefined) {
    this.#parent = parent;
    this.#observer = observer;
    // A program may well have a thousand tasks waiting under one signal; that is not a leak.
    setMaxListeners(0, this.#controller.signal);
  }

  /** A root that follows a signal from outside for as long as that signal lives. */
  static following(signal: AbortSignal, observer?: CancelObserver): CancelScope {
    const scope = new CancelScope(undefined, observer);
    if (signal.aborted) scope.cancel(signal.reason);
    else signal.addEventListener('abort', () => scope.cancel(signal.reason), { once: true });
    return scope;
  }

  /** A scope below this one; born cancelled when this one is. */
  open(): CancelScope {
    const child = new CancelScope(this, this.#observer);
    this.#children.add(child);
    if (this.signal.aborted) child.cancel(this.signal.reason);
    return child;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isCancelled(): boolean {
    return this.signal.aborted;
  }

  cancel(reason: unknown): void {
    if (this.signal.aborted || this.#isClosed) return;
    if (this.#parent !== undefined) this.#observer?.cancelled(this);
    this.#controller.abort(reason);
    this.cancelChildren(reason);
  }

  /** Cancels everything below this scope, but not the scope itself. */
  cancelChildren(reason: unknown): void {
    for (const child of [...this.#children]) child.cancel(reason);
  }

  /** Ends the scope without cancelling what is still below it. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const parent = this.#parent;
    if (parent !== undefined) {
      if (this.signal.aborted) this.#observer?.left(this);
      parent.#children.delete(this);
      for (const child of this.#children) {
        child.#parent = parent;
        parent.#children.add(child);
      }
    }
    this.#children.clear();
  }
}

/** Told about each scope below a root that was cancelled, and once more when a cancelled scope is closed. */
export interface CancelObserver {
  cancelled(scope: CancelScope): void;
  left(scope: CancelScope): void;
}
