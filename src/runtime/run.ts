import { posix as path } from 'node:path';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { ControlledClock } from '../platform/controlled-clock.ts';
import type { Platform } from '../platform/platform.ts';
import { finishHook } from './agents/finish-hook.ts';
import { callValue } from './call.ts';
import { ExitRequest } from './caught.ts';
import { endTasks } from './concurrency/tasks.ts';
import type { Context, Run } from './context.ts';
import { display } from './display.ts';
import { runtimeError } from './errors.ts';
import { bindParameters, chooseEntry } from './program/entry.ts';
import { type LoadedProgram, loadProgram } from './program/load.ts';
import { type CompiledProgram, ProgramRejected } from './program/program.ts';
import { type ProgramSource, programSource, setProgramSource } from './program/program-source.ts';
import { findProjectRoot, isUnfiled } from './program/project-root.ts';
import { rememberProgram } from './program/running-program.ts';
import { describeFailure, type Failure } from './report.ts';
import { rootContext } from './task-context.ts';
import { EnumValue, type Value } from './value.ts';

export interface RunOptions {
  readonly platform: Platform;
  readonly script: { readonly path: string; readonly text: string };
  readonly argv: readonly string[];
  readonly output: Run['output'];
  readonly stateRoot: string;
  readonly onAgentEvent?: Run['onAgentEvent'];
  /** Set by the command line: what to tell of warnings before the program runs. */
  readonly onWarnings?: (warnings: readonly Diagnostic[]) => Promise<void>;
  /** By default every program is compiled. */
  readonly programs?: ProgramSource;
  /** Gets the run before anything happens in it, to watch signals. */
  readonly onHost?: (run: Run) => void;
  /** Prepares run-wide services (mock models, hooks of the manifest) before anything runs. */
  readonly prepare?: (context: Context) => void | Promise<void>;
  /** What goes on once the program has come to its end, while its tasks and handlers still live. */
  readonly afterwards?: (context: Context) => Promise<void>;
}

/** How a run ended. */
export type RunOutcome =
  | { readonly kind: 'value'; readonly value: Value; readonly exitCode: number }
  | { readonly kind: 'exit'; readonly exitCode: number }
  | { readonly kind: 'rejected'; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** A run in progress: its context, and how to end it from outside. */
export class RunHost implements Run {
  readonly platform: Platform;
  readonly argv: readonly string[];
  readonly scriptPath: string;
  readonly executionRoot: string;
  readonly projectRoot: string | undefined;
  readonly stateRoot: string;
  readonly output: Run['output'];
  readonly onAgentEvent: Run['onAgentEvent'];
  readonly #services = new Map<symbol, unknown>();
  readonly #end = new AbortController();

  constructor(options: Pick<RunOptions, 'platform' | 'argv' | 'output' | 'stateRoot' | 'onAgentEvent'> & { readonly scriptPath: string }) {
    const { platform } = options;
    this.platform = { ...platform, clock: new ControlledClock(platform.clock) };
    this.argv = options.argv;
    this.scriptPath = options.scriptPath;
    this.executionRoot = platform.files.cwd();
    // Code from the command line belongs to where it was typed.
    const directory = isUnfiled(options.scriptPath) ? this.executionRoot : path.dirname(options.scriptPath);
    this.projectRoot = findProjectRoot(platform, directory);
    this.stateRoot = options.stateRoot;
    this.output = options.output;
    this.onAgentEvent = options.onAgentEvent;
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  end(reason: Error): void {
    this.#end.abort(reason);
  }

  service<T>(key: symbol, create: (run: Run) => T): T {
    if (!this.#services.has(key)) this.#services.set(key, create(this));
    return this.#services.get(key) as T;
  }
}

/** Compiles and runs a script to its end. Never throws for anything the script did. */
export async function runScript(options: RunOptions): Promise<RunOutcome> {
  let program: CompiledProgram | undefined;
  // V8 keeps ten frames of an error, and between two of the script there are some of harn.
  Error.stackTraceLimit = Math.max(Error.stackTraceLimit, TRACED_FRAMES);
  const host = new RunHost({ ...options, scriptPath: options.script.path });
  if (options.programs !== undefined) setProgramSource(host, options.programs);
  options.onHost?.(host);
  const context = rootContext(host);
  // Without this a script whose tasks wait for each other would end quietly, and with success.
  const stopListening = options.platform.processes.onIdle?.(() => host.end(runtimeError(DEADLOCK)));
  try {
    const { path: scriptPath, text } = options.script;
    program = await programSource(host).compile(scriptPath, text);
    if (program.warnings.length > 0) await options.onWarnings?.(program.warnings);
    await options.prepare?.(context);
    const value = await runProgram(host, context, program);
    await options.afterwards?.(context);
    return { kind: 'value', value, exitCode: exitCodeOf(value) };
  } catch (error) {
    if (error instanceof ExitRequest) return { kind: 'exit', exitCode: error.exitCode };
    if (error instanceof ProgramRejected) return { kind: 'rejected', diagnostics: error.diagnostics };
    return { kind: 'failed', failure: describeFailure(error, program) };
  } finally {
    stopListening?.();
    await endTasks(host);
  }
}

const TRACED_FRAMES = 100;

const DEADLOCK = 'deadlock: every task waits, and nothing is left that could wake one';

async function runProgram(host: Run, context: Context, program: CompiledProgram): Promise<Value> {
  rememberProgram(host, program);
  const loaded = await loadProgram(host, context, program, { mode: 'run' });
  const value = await runEntry(context, loaded);
  return finishHook(context, value);
}

async function runEntry(context: Context, loaded: LoadedProgram): Promise<Value> {
  const entry = chooseEntry(loaded.entryFacts);
  if (entry === undefined) return loaded.value;
  const args = await bindParameters(context, entry.params);
  return callValue(context, 0, loaded.entry.callableNamed(entry.name), ...args);
}

/** Exit code of an entry value (spec/language.md 11.6). */
export function exitCodeOf(value: Value): number {
  if (typeof value === 'number' || typeof value === 'bigint') return limitExitCode(value);
  return value instanceof EnumValue && value.enumName === 'Result' && value.variant === 'Err' ? 1 : 0;
}

export function limitExitCode(code: number | bigint): number {
  return Math.min(255, Math.max(0, Number(code)));
}

/** What an entry value of `Result.Err` shows on standard error. */
export function errText(value: Value): string | undefined {
  return value instanceof EnumValue && value.enumName === 'Result' && value.variant === 'Err' ? display(value.fields[0]) : undefined;
}
