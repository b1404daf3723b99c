import { parseMockFile, renderMockLine } from '../agent/mock-entry.ts';
import { agentServices } from './agent-services.ts';
import type { Run } from './context.ts';

/**
 * `--llm-mock`: answers of this file come before all others, and a call that none of them fits is an error.
 *
 * @throws HarnError `plain` with file and line; Node's error when the file cannot be read
 */
export function useMockFile(run: Run, path: string): void {
  agentServices(run).mock.useFile(parseMockFile(run.platform.files.readText(path), path));
}

/** `--llm-mock-record`. @returns what writes the recording, to be called when the run is over */
export function recordAnswers(run: Run, path: string): () => void {
  const lines: string[] = [];
  agentServices(run).recorder = (answer) => lines.push(renderMockLine(answer));
  return () => run.platform.files.write(path, lines.map((line) => `${line}\n`).join(''));
}
