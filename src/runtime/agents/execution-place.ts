import type { Context } from '../context.ts';
import { currentLoop } from './agent-context.ts';

/**
 * Where the code of a worker runs (spec/agents.md 4.2 `execution`): the directory that relative paths and programs
 * start in, and variables that it sees on top of the process's own.
 */
export interface Execution {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export function executionRoot(context: Context): string {
  return currentLoop(context)?.execution?.cwd ?? context.run.executionRoot;
}

/** Variables of the worker around this code; undefined for none. */
export function executionEnv(context: Context): Readonly<Record<string, string>> | undefined {
  return currentLoop(context)?.execution?.env;
}
