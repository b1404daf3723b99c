import { join } from 'node:path';
import { type RunOutcome, runScript } from '../../../src/runtime/run.ts';
import { testPlatform } from '../../store/test-platform.ts';
import { scratchDirectory } from '../../support/scratch.ts';

export interface ScriptRun {
  readonly out: string;
  readonly err: string;
  readonly outcome: RunOutcome;
  /** The folder of the script, with its `.harn`. */
  readonly directory: string;
}

/** Runs a script from a string with the mock model, its state in a folder of its own, its events in memory. */
export async function runLifecycleScript(text: string, env: Readonly<Record<string, string>> = {}): Promise<ScriptRun> {
  let out = '';
  let err = '';
  const directory = scratchDirectory();
  const entries: Record<string, string> = { HARN_EVENT_LOG_BACKEND: 'memory', HARN_LLM_PROVIDER: 'mock', ...env };
  const outcome = await runScript({
    platform: testPlatform({ env: { get: (name) => entries[name], entries: () => entries } }),
    script: { path: join(directory, 'test.harn'), text },
    argv: [],
    stateRoot: join(directory, '.harn'),
    output: {
      out: (piece) => {
        out += piece;
      },
      err: (piece) => {
        err += piece;
      },
    },
  });
  return { out, err, outcome, directory };
}

/** Lines that a script prints; what ended it as a last line when that was an error. */
export async function linesOf(text: string, env: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const { out, outcome } = await runLifecycleScript(text, env);
  const lines = out.split('\n').slice(0, -1);
  if (outcome.kind === 'failed') lines.push(`FAILED ${outcome.failure.message}`);
  if (outcome.kind === 'rejected') lines.push(`REJECTED ${outcome.diagnostics.map((diagnostic) => diagnostic.message).join('; ')}`);
  return lines;
}
