import type { Platform } from '../platform/platform.ts';
import type { Run } from '../runtime/context.ts';
import { type RunArguments, UsageError } from './run-options.ts';

/** What `--llm-mock` and `--llm-mock-record` ask for; the agent half is loaded only when one is there. */
export interface ModelFlags {
  apply(run: Run): Promise<void>;
  /** Writes the recording, if there is one. */
  finish(): void;
}

export function modelFlags(platform: Platform, { options }: RunArguments): ModelFlags {
  const replay = typeof options.llmMock === 'string' ? options.llmMock : undefined;
  const record = typeof options.llmMockRecord === 'string' ? options.llmMockRecord : undefined;
  let recorded: (() => string) | undefined;
  return {
    async apply(run) {
      if (replay === undefined && record === undefined) return;
      const { recordModel, replayModel } = await import('../runtime/agent-mock-file.ts');
      if (replay !== undefined) replayModel(run, readMock(platform, replay), replay);
      if (record !== undefined) recorded = recordModel(run).lines;
    },
    finish() {
      if (record !== undefined && recorded !== undefined) platform.files.write(record, recorded());
    },
  };
}

function readMock(platform: Platform, path: string): string {
  try {
    return platform.files.readText(path);
  } catch (error) {
    throw new UsageError(`--llm-mock: cannot read ${path} (${(error as { code?: string }).code ?? String(error)})`);
  }
}
