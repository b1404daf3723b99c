import * as z from 'zod/mini';
import { decodeProblem, OWN_TEXTS_ONLY } from '../../base/decode-problem.ts';
import { HarnError } from '../../base/harn-error.ts';
import { lazily } from '../../base/lazily.ts';
import { type Message, type ToolCall, userMessage } from './message.ts';

/** Messages from outside. Apart from their types, because adapters, which only write messages, do without the schema library. */
const messageSchema = lazily(() => {
  const text = z.string();
  const jsonObject = z.record(text, z.json());
  const optionalText = z.optional(text);
  const blockSchema = z.discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text }),
    z
      .object({
        type: z.literal('image'),
        url: optionalText,
        base64: optionalText,
        media_type: text,
        detail: optionalText,
      })
      .check(
        z.refine((block) => (block.url === undefined) !== (block.base64 === undefined), 'an image needs exactly one of url and base64'),
      ),
    z.object({ type: z.literal('tool_use'), id: text, name: text, input: z.json() }),
    z.object({ type: z.literal('tool_result'), tool_use_id: text, content: z.json() }),
    z.object({
      type: z.literal('reasoning'),
      text,
      signature: text,
      redacted: optionalText,
      provider: text,
      model: text,
    }),
    z.object({ type: z.literal('service'), block: jsonObject, provider: text, model: text }),
  ]);

  return z.object({
    role: z.enum(['system', 'user', 'assistant', 'tool', 'developer']),
    content: z.union([text, z.array(blockSchema)]),
    tool_calls: z.optional(
      z.array(
        z.pipe(
          z.object({ id: text, name: text, arguments: jsonObject }),
          z.transform((call): ToolCall => call),
        ),
      ),
    ),
    tool_call_id: optionalText,
    name: optionalText,
  });
});

/**
 * Decodes one message that came from a script, a file or the wire.
 *
 * @throws HarnError `plain`: which field is wrong, prefixed with `operation`
 */
export function decodeMessage(value: unknown, operation: string): Message {
  const decoded = messageSchema().safeParse(value, OWN_TEXTS_ONLY);
  if (decoded.success) return decoded.data;
  const issue = decoded.error.issues[0];
  const at = issue === undefined || issue.path.length === 0 ? 'message' : `message.${issue.path.join('.')}`;
  throw new HarnError('plain', `${operation}: invalid ${at}: ${decodeProblem(issue, value)}`);
}

/** Decodes a list of messages; a plain string stands for one user message. */
export function decodeMessages(value: unknown, operation: string): Message[] {
  if (!Array.isArray(value)) throw new HarnError('plain', `${operation}: messages must be a list`);
  return value.map((item: unknown) => (typeof item === 'string' ? userMessage(item) : decodeMessage(item, operation)));
}
