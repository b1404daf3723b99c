import type { Platform } from '../platform/platform.ts';
import { JsonStream } from './json-stream.ts';
import type { RunArguments } from './run-options.ts';

/** Where a run prints: straight to the streams, or as events of the JSON stream. */
export interface RunOutput {
  readonly json: JsonStream | undefined;
  out(text: string): void;
  /** Diagnostics, warnings and hints. */
  err(text: string): void;
}

/**
 * Gives a run its output, and the JSON stream its last event also where the run came to no end: a mistake on the command
 * line, a file that the system refuses, a defect of harn.
 *
 * @returns the exit code
 */
export async function withRunOutput(
  platform: Platform,
  { options }: Pick<RunArguments, 'options'>,
  body: (output: RunOutput) => Promise<number>,
): Promise<number> {
  const output = createRunOutput(platform, { json: options.json === true, quiet: options.quiet === true });
  const report = async (error: unknown): Promise<number> => {
    const { reportTrouble } = await import('./command-failure.ts');
    return reportTrouble(platform, error, output.json === undefined ? { kind: 'text' } : { kind: 'stream', json: output.json });
  };
  const stopListening = platform.processes.onDefect?.((error) => void report(error).then((code) => platform.processes.exit(code)));
  try {
    return await body(output);
  } catch (error) {
    return await report(error);
  } finally {
    stopListening?.();
  }
}

function createRunOutput({ stdio }: Platform, mode: { readonly json: boolean; readonly quiet: boolean }): RunOutput {
  if (!mode.json) return { json: undefined, out: (text) => stdio.out(text), err: (text) => stdio.err(text) };
  const json = new JsonStream((line) => stdio.out(line), mode.quiet ? 'quiet' : 'all');
  return { json, out: (text) => json.print('stdout', text), err: (text) => json.print('stderr', text) };
}
