import { createNodePlatform } from '../../src/platform/node-platform.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { type RunOutcome, runScript } from '../../src/runtime/run.ts';
import { scratchDirectory } from '../support/scratch.ts';

export interface TextRun {
  readonly out: string;
  readonly err: string;
  readonly outcome: RunOutcome;
}

/**
 * Runs a script from a string in this process; what it keeps goes with it. Scripts that wait begin with `mock_time(0)`, so
 * that no test sleeps.
 */
export async function runText(text: string, platform: Platform = createNodePlatform()): Promise<TextRun> {
  let out = '';
  let err = '';
  const stateRoot = scratchDirectory();
  const outcome = await runScript({
    platform,
    script: { path: '/nowhere/test.harn', text },
    argv: [],
    stateRoot,
    output: {
      out: (piece) => {
        out += piece;
      },
      err: (piece) => {
        err += piece;
      },
    },
  });
  return { out, err, outcome };
}

/** Lines that a script under a frozen clock prints; its error as a last line when it fails. */
export async function linesOf(text: string): Promise<string[]> {
  const { out, outcome } = await runText(`mock_time(0)\n${text}`);
  const lines = out.split('\n').slice(0, -1);
  if (outcome.kind === 'failed') lines.push(`FAILED ${outcome.failure.message}`);
  if (outcome.kind === 'rejected') lines.push(`REJECTED ${outcome.diagnostics.map((diagnostic) => diagnostic.message).join('; ')}`);
  return lines;
}

/** What a script is expected to print, line by line. */
export type ScriptRow = readonly [rule: string, script: string, lines: readonly string[]];
