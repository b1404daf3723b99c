import type { JsonObject } from '../base/json.ts';
import type { Platform } from '../platform/platform.ts';
import type { Value } from './value.ts';

/**
 * What a run owns: one per `harn run`, one per embedding. Groups of builtins keep their run-wide state here and
 * nowhere else (no module-level mutable state), through `service`.
 */
export interface Run {
  readonly platform: Platform;
  /** Set where the handler of a trigger runs that may not act on its own (agents/autonomy-tier.ts). */
  readonly autonomy?: { readonly tier: string; refuse(operation: string): never } | undefined;
  /** Text arguments after `--`. */
  readonly argv: readonly string[];
  /** Absolute path of the entry script; `<inline>` for `-e`, `<stdin>` for `-`. */
  readonly scriptPath: string;
  /** Directory that relative file paths of builtins start at. */
  readonly executionRoot: string;
  /** Nearest ancestor of the script with `harn.toml`; undefined when there is none. */
  readonly projectRoot: string | undefined;
  /** `.harn` folder of this run (spec/agents.md 4.7); nothing is created before it is needed. */
  readonly stateRoot: string;
  /** Standard output of the script: a terminal, a pipe, or `stdout` events of the JSON stream. */
  readonly output: { out(text: string): void; err(text: string): void };
  /** Hears every event of agent loops (spec/agents.md 3.12); absent when nobody listens. */
  readonly onAgentEvent?: ((event: JsonObject) => void) | undefined;
  /** One instance per run of whatever a group of builtins needs to remember. */
  service<T>(key: symbol, create: (run: Run) => T): T;
  /** Aborts when the run must end (signal, exit, end of the entry). */
  readonly signal: AbortSignal;
  /** Aborts `signal`; the first reason wins. */
  end(reason: Error): void;
}

/**
 * The task a piece of code runs in. It is the hidden first parameter of every function, so that no asynchronous
 * context tracking is needed. A new task gets a new Context (tasks of spec/language.md chapter 10).
 */
export interface Context {
  readonly run: Run;
  /** `task_root`, `task_root:spawn:1`, … (spec/language.md 10.6). */
  readonly taskId: string;
  readonly parent: Context | undefined;
  readonly taskName: string;
  readonly taskGroupId: string | undefined;
  /** Aborts when this task is cancelled or its deadline expires; the reason is the error to raise. */
  readonly signal: AbortSignal;
  /** Set by cancel_graceful and supervisor_stop; read by is_cancelled(). */
  cancelRequested: boolean;
  /** runtime_context_set values; a child starts with a copy. */
  readonly values: Map<string, Value>;
  /** Buffered output of a parallel or spawned task; undefined writes straight to the run. */
  outputBuffer: string[] | undefined;
  /** Innermost agent loop, tool call or hook this task runs in; set by the agent builtins, opaque to others. */
  readonly agent: unknown;
}

/** What a builtin may know of the module that called it. */
export interface ModuleInfo {
  /** Absolute path, or `std/…`. */
  readonly path: string;
  /** Directory of the file; relative `render` paths start here. */
  readonly directory: string;
}
