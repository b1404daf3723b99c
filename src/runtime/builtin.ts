import type { Context, ModuleInfo } from './context.ts';
import type { Value } from './value.ts';

/**
 * A group of builtins as data: the run time, the checker, `harn explain` and the reference pages all read it.
 * One file per group under runtime/builtins/, exporting one `BuiltinGroup`.
 */
export interface BuiltinGroup {
  /** File name of the reference page, e.g. `collections`. */
  readonly name: string;
  readonly title: string;
  readonly builtins: Readonly<Record<string, Builtin>>;
  /** What may go wrong, apart from wrong kinds of arguments that give nil; for the reference page. */
  readonly errors?: readonly BuiltinError[];
}

export interface BuiltinError {
  /** As `catch` sees it; capital letters and `…` stand for what varies. */
  readonly text: string;
  readonly when: string;
}

export interface Builtin {
  /** In Harn spelling, e.g. `(xs: list, size: int = 1) -> list<list>`; `...rest` and `?`-free. Types the checker can use. */
  readonly signature: string;
  /** One or two sentences in our own words: what it gives, what it throws. */
  readonly doc: string;
  /**
   * `sync` (default): never waits. `async`: may answer a promise. `callback`: waits only when a callable among the
   * arguments does; it answers a promise exactly then (runtime/call.ts `inOrder`).
   */
  readonly colour?: 'sync' | 'async' | 'callback';
  /** Argument values follow the hidden parameters; missing ones are undefined. */
  readonly call?: BuiltinFunction;
  /** Instead of `call` for builtins that depend on the calling file (render, source_dir). */
  readonly forModule?: (module: ModuleInfo) => BuiltinFunction;
}

export type BuiltinFunction = (context: Context, depth: number, ...args: Value[]) => Value | void | Promise<Value | void>;
