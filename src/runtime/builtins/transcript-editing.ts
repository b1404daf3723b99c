import { type Message, userMessage } from '../../agent/transcript/message.ts';
import {
  appendEvent,
  appendMessage,
  createTranscript,
  decodeTranscript,
  estimateTokens,
  plainEvent,
  type Transcript,
} from '../../agent/transcript/transcript.ts';
import { addAsset, shorten, transcriptStats } from '../../agent/transcript/transcript-editing.ts';
import { isJsonObject, type Json } from '../../base/json.ts';
import { agentValue, field, optionsJson, withoutHarness } from '../agents/agent-values.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { display } from '../display.ts';
import { plainError } from '../errors.ts';
import { toJson } from '../json.ts';
import type { Value } from '../value.ts';

/** Building transcripts by hand and counting what is in them; none of these asks a model. */

type Args = readonly Value[];

/** A function from a transcript to a new one. */
function deriving(
  name: string,
  signature: string,
  doc: string,
  run: (transcript: Transcript, args: Args, context: Context) => Transcript,
): [string, Builtin] {
  return [
    name,
    {
      signature,
      doc,
      call: (context, _depth, ...given) => {
        const [first, ...rest] = withoutHarness(given);
        return agentValue(run(decodeTranscript(toJson(first), name), rest, context));
      },
    },
  ];
}

const ROLES = ['system', 'user', 'assistant', 'tool', 'developer'] as const;

/** Blocks are kept as given: an asset may stand for an image here, and only a request must be able to send it. */
function messageOf(role: Value, content: Value, operation: string): Message {
  const known = ROLES.find((name) => name === role);
  if (known === undefined) throw plainError(`${operation}: role must be one of ${ROLES.join(', ')}`);
  const json = toJson(content);
  const isBlocks = Array.isArray(json) && json.every((block) => isJsonObject(block) && typeof block.type === 'string');
  // Each block was just seen to have a type; what kind of block it is matters to the provider that is sent it.
  return { role: known, content: isBlocks ? (json as unknown as Message['content']) : text(content) };
}

function text(value: Value): string {
  return value === undefined ? '' : display(value);
}

function adding(name: string, role: 'system' | 'user' | 'assistant'): [string, Builtin] {
  return deriving(
    name,
    '(t: any, content: any = nil) -> dict',
    `The transcript with a further ${role} message, text or blocks.`,
    (t, [content]) => appendMessage(t, messageOf(role, content, name)),
  );
}

function withState(transcript: Transcript, state: Transcript['state'], word: string): Transcript {
  return appendEvent({ ...transcript, state }, plainEvent(`transcript_${word}`, `transcript ${word}`));
}

/** Tokens of a text, or of a list of messages. */
function tokensOf(value: Value): number {
  const json: Json = toJson(value);
  // Whatever the script holds as messages: only their text is measured.
  return estimateTokens(Array.isArray(json) ? (json as unknown as Message[]) : [userMessage(text(value))]);
}

const DEFAULT_MAX_CHARS = 20_000;

export const TRANSCRIPT_EDITING: BuiltinGroup = {
  name: 'transcript-editing',
  title: 'Building transcripts',
  builtins: {
    ...Object.fromEntries([
      adding('add_user', 'user'),
      adding('add_assistant', 'assistant'),
      adding('add_system', 'system'),
      deriving(
        'add_message',
        '(t: any, role: any = nil, content: any = nil) -> dict',
        'The transcript with a further message of this role.',
        (t, [role, content]) => appendMessage(t, messageOf(role, content, 'add_message')),
      ),
      deriving(
        'add_tool_result',
        '(t: any, tool_call_id: any = nil, content: any = nil) -> dict',
        'The transcript with the result of a tool call.',
        (t, [id, content]) => appendMessage(t, { ...messageOf('tool', content, 'add_tool_result'), tool_call_id: text(id) }),
      ),
      deriving('transcript_resume', '(t: any) -> dict', 'The transcript, open again after it was archived.', (t) =>
        withState(t, 'active', 'resumed'),
      ),
      deriving('transcript_abandon', '(t: any) -> dict', 'The transcript, closed because nobody goes on with it.', (t) =>
        withState(t, 'done', 'abandoned'),
      ),
      deriving(
        'transcript_add_asset',
        '(t: any, asset: any = nil) -> dict',
        'The transcript with a reference to a file, which blocks may name by its `asset_id`.',
        (t, [asset], context) => addAsset(t, optionsJson(asset), context.run.platform.random.id('asset')),
      ),
    ]),
    transcript_assets: {
      signature: '(t: any) -> list',
      doc: 'The files that a transcript refers to.',
      call: (_context, _depth, ...given) => agentValue([...decodeTranscript(toJson(withoutHarness(given)[0]), 'transcript_assets').assets]),
    },
    transcript_reset: {
      signature: '(options: any = nil) -> dict',
      doc: 'A fresh transcript; `metadata` of the options is taken over.',
      call: (context, _depth, ...given) =>
        agentValue(createTranscript(context.run.platform.random.uuidV7(), optionsJson(field(withoutHarness(given)[0], 'metadata')))),
    },
    transcript_stats: {
      signature: '(t: any) -> dict',
      doc: 'How many messages, tool calls and visible events a transcript holds; zeros for nil.',
      call: (_context, _depth, ...given) => {
        const [transcript] = withoutHarness(given);
        return agentValue(transcriptStats(transcript === undefined ? {} : optionsJson(transcript)));
      },
    },
    estimate_tokens: {
      signature: '(value: any = nil) -> int',
      doc: 'About how many tokens a text, or a list of messages, takes: four characters each.',
      call: (_context, _depth, value) => tokensOf(value),
    },
    microcompact: {
      signature: '(text: any = nil, max_chars: any = nil) -> string',
      doc: 'The text, or its beginning and end around a mark that says how much is left out, at most `max_chars` (20000) long.',
      call: (_context, _depth, value, limit) => shorten(text(value), typeof limit === 'number' ? limit : DEFAULT_MAX_CHARS),
    },
  },
};
