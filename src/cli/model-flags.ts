import type { JsonObject } from '../base/json.ts';
import type { Platform } from '../platform/platform.ts';
import type { Run } from '../runtime/context.ts';
import { counted } from './counted.ts';
import type { RunOutput } from './output.ts';
import { UsageError } from './parse-options.ts';
import type { RunArguments } from './run-options.ts';

/** What `--llm-mock`, `--llm-mock-record` and `--trace` ask for; the agent half is loaded only when one is there. */
export interface ModelFlags {
  apply(run: Run): Promise<void>;
  /** Writes the recording and the summary of usage, where they are wanted. */
  finish(): void;
}

/** @throws UsageError for a replay file that cannot be read */
export function modelFlags(platform: Platform, { options }: RunArguments, output: RunOutput): ModelFlags {
  const replay = typeof options.llmMock === 'string' ? { name: options.llmMock, text: readMock(platform, options.llmMock) } : undefined;
  const record = typeof options.llmMockRecord === 'string' ? options.llmMockRecord : undefined;
  let recorded: (() => string) | undefined;
  let usage: (() => Usage) | undefined;
  return {
    async apply(run) {
      if (replay === undefined && record === undefined && options.trace === undefined) return;
      const { modelUsage, onModelRetry, recordModel, replayModel } = await import('../runtime/agents/agent-mock-file.ts');
      if (replay !== undefined) replayModel(run, replay.text, replay.name);
      if (record !== undefined) recorded = recordModel(run).lines;
      if (options.trace !== true) return;
      usage = () => modelUsage(run);
      onModelRetry(run, (event) => output.err(`harn: ${retryLine(event)}\n`));
    },
    finish() {
      if (record !== undefined && recorded !== undefined) platform.files.write(record, recorded());
      if (usage !== undefined) output.err(usageLine(usage()));
    },
  };
}

interface Usage {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

function usageLine({ calls, inputTokens, outputTokens, costUsd }: Usage): string {
  return `harn: ${counted(calls, 'model call')}, ${inputTokens} input tokens, ${outputTokens} output tokens, $${costUsd.toFixed(4)}\n`;
}

function retryLine(event: JsonObject): string {
  if (event.type === 'schema_retry') {
    return `asking again (${event.attempt}): ${Array.isArray(event.errors) ? event.errors.join('; ') : ''}`;
  }
  const discarded = event.discarded_chars === 0 ? '' : `, ${event.discarded_chars} characters of the answer are void`;
  return `retry ${event.attempt} of ${event.provider}/${event.model} in ${event.delay_ms} ms: ${event.message}${discarded}`;
}

function readMock(platform: Platform, path: string): string {
  try {
    return platform.files.readText(path);
  } catch (error) {
    throw new UsageError(`--llm-mock: cannot read ${path} (${(error as { code?: string }).code ?? String(error)})`);
  }
}
