import * as z from 'zod/mini';
import { type DecodeIssue, decodeProblem, OWN_TEXTS_ONLY } from '../../base/decode-problem.ts';
import { HarnError } from '../../base/harn-error.ts';
import type { JsonObject } from '../../base/json.ts';
import { lazily } from '../../base/lazily.ts';
import { nearestName } from '../../base/near-name.ts';
import { isLlmCategory } from './llm-errors.ts';
import type { ModelAnswer } from './provider.ts';

/** One scripted answer of the mock provider (spec/agents.md 1.8), in the shape that scripts, files and recordings share. */
export interface MockEntry {
  readonly text: string;
  readonly toolCalls: readonly { readonly id: string | undefined; readonly name: string; readonly arguments: JsonObject }[];
  /** Glob over all message text; undefined makes a first-in, first-out entry. */
  readonly match: string | undefined;
  /** A matched entry is used up only when this is true. */
  readonly consumeMatch: boolean;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cacheReadTokens: number | undefined;
  readonly cacheWriteTokens: number | undefined;
  readonly thinking: string | undefined;
  readonly thinkingSummary: string | undefined;
  readonly stopReason: string | undefined;
  readonly model: string | undefined;
  readonly provider: string | undefined;
  readonly blocks: readonly JsonObject[] | undefined;
  readonly error:
    | { readonly category: string; readonly message: string | undefined; readonly retryAfterMs: number | undefined }
    | undefined;
}

/** Scripts write nil for "not given", files write null. */
const schemas = lazily(() => {
  const text = z.nullish(z.string());
  const count = z.nullish(z.int().check(z.nonnegative()));
  const dict = z.record(z.string(), z.json());
  const call = z.strictObject({
    id: text,
    /** As the calls of a result have it. */
    type: z.nullish(z.literal('tool_call')),
    name: z.string(),
    arguments: z.nullish(dict),
    args: z.nullish(dict),
  });
  const error = z.strictObject({ category: z.string(), message: text, retry_after_ms: count });
  const entry = z.strictObject({
    text,
    tool_calls: z.nullish(z.array(call)),
    match: text,
    consume_match: z.nullish(z.boolean()),
    input_tokens: count,
    output_tokens: count,
    cache_read_tokens: count,
    cache_write_tokens: count,
    cache_creation_input_tokens: count,
    thinking: text,
    thinking_summary: text,
    stop_reason: text,
    model: text,
    provider: text,
    blocks: z.nullish(z.array(dict)),
    error: z.nullish(error),
  });
  return { entry, call, error };
});

/**
 * Decodes one entry.
 *
 * @returns the entry, or the text of what is wrong with it
 */
export function decodeMockEntry(value: unknown): MockEntry | string {
  const decoded = schemas().entry.safeParse(value, OWN_TEXTS_ONLY);
  if (!decoded.success) return describe(decoded.error.issues[0], value);
  const entry = decoded.data;
  if (entry.error && !isLlmCategory(entry.error.category)) return `unknown error category \`${entry.error.category}\``;
  return {
    text: entry.text ?? '',
    toolCalls: (entry.tool_calls ?? []).map((call) => ({
      id: call.id ?? undefined,
      name: call.name,
      arguments: call.arguments ?? call.args ?? {},
    })),
    match: entry.match ?? undefined,
    consumeMatch: entry.consume_match ?? false,
    inputTokens: entry.input_tokens ?? undefined,
    outputTokens: entry.output_tokens ?? undefined,
    cacheReadTokens: entry.cache_read_tokens ?? undefined,
    cacheWriteTokens: entry.cache_write_tokens ?? entry.cache_creation_input_tokens ?? undefined,
    thinking: entry.thinking ?? undefined,
    thinkingSummary: entry.thinking_summary ?? undefined,
    stopReason: entry.stop_reason ?? undefined,
    model: entry.model ?? undefined,
    provider: entry.provider ?? undefined,
    blocks: entry.blocks ?? undefined,
    error: entry.error
      ? {
          category: entry.error.category,
          message: entry.error.message ?? undefined,
          retryAfterMs: entry.error.retry_after_ms ?? undefined,
        }
      : undefined,
  };
}

function describe(issue: DecodeIssue | undefined, value: unknown): string {
  const [unknown] = issue?.keys ?? [];
  if (issue !== undefined && unknown !== undefined) return unknownField(unknown, issue.path);
  const problem = decodeProblem(issue, value);
  return issue === undefined || issue.path.length === 0 ? problem : `field \`${issue.path.join('.')}\`: ${problem}`;
}

/** A field that is passed over in silence would make a test pass that tests nothing. */
function unknownField(name: string, [part]: readonly PropertyKey[]): string {
  const { entry, call, error } = schemas();
  const { shape } = part === 'tool_calls' ? call : part === 'error' ? error : entry;
  const near = nearestName(name, Object.keys(shape));
  const place = part === undefined ? '' : ` in \`${String(part)}\``;
  return `unknown field \`${name}\`${place}${near === undefined ? '' : `; did you mean \`${near}\`?`}`;
}

/**
 * Reads a replay file: one entry per line that is not blank.
 *
 * @param name how the file is called in errors
 * @throws HarnError `plain` with file and line
 */
export function parseMockFile(text: string, name: string): MockEntry[] {
  const entries: MockEntry[] = [];
  text.split('\n').forEach((line, index) => {
    if (line.trim() === '') return;
    const at = `${name} line ${index + 1}`;
    const entry = decodeMockEntry(parseLine(line, at));
    if (typeof entry === 'string') throw new HarnError('plain', `invalid --llm-mock fixture in ${at}: ${entry}`);
    entries.push(entry);
  });
  return entries;
}

function parseLine(line: string, at: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new HarnError('plain', `invalid JSON in ${at}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** One line of a recording. It never holds `match`, so that a replay is in order; defaults are left out. */
export function renderMockLine(answer: ModelAnswer): string {
  const { usage } = answer;
  return JSON.stringify({
    text: answer.text,
    ...(answer.toolCalls.length === 0
      ? {}
      : { tool_calls: answer.toolCalls.map((call) => ({ id: call.id, name: call.name, args: call.arguments })) }),
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    ...(usage.cache_read_tokens === 0 ? {} : { cache_read_tokens: usage.cache_read_tokens }),
    ...(usage.cache_write_tokens === 0 ? {} : { cache_write_tokens: usage.cache_write_tokens }),
    ...(answer.thinking === undefined ? {} : { thinking: answer.thinking }),
    ...(answer.thinkingSummary === undefined ? {} : { thinking_summary: answer.thinkingSummary }),
    ...(answer.stopReason === undefined ? {} : { stop_reason: answer.stopReason }),
    model: answer.model,
    provider: answer.provider,
  });
}
