import type { Platform } from '../platform/platform.ts';
import { JsonStream } from './json-stream.ts';

/** Where a run prints: straight to the streams, or as events of the JSON stream. */
export interface RunOutput {
  readonly json: JsonStream | undefined;
  out(text: string): void;
  /** Diagnostics, warnings and hints. */
  err(text: string): void;
}

export function createRunOutput(platform: Platform, mode: { readonly json: boolean; readonly quiet: boolean }): RunOutput {
  const { stdio } = platform;
  if (!mode.json) return { json: undefined, out: (text) => stdio.out(text), err: (text) => stdio.err(text) };
  const json = new JsonStream((line) => stdio.out(line), mode.quiet ? 'quiet' : 'all');
  return { json, out: (text) => json.print('stdout', text), err: (text) => json.print('stderr', text) };
}
