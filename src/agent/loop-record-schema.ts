import * as z from 'zod/mini';
import { decodeProblem, OWN_TEXTS_ONLY } from '../base/decode-problem.ts';
import { HarnError } from '../base/harn-error.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { lazily } from '../base/lazily.ts';
import type { LoopRecord } from './loop-record.ts';
import type { Message } from './transcript/message.ts';
import { sendableMessage } from './transcript/message-shape.ts';

/**
 * Records of a journal as they are read back (spec/agents.md 4.9). A journal has no checksum: a line that is JSON may
 * still be nothing that a loop wrote. Fields that a later version adds are let through.
 */
const recordSchema = lazily(() => {
  const number = z.number();
  const text = z.string();
  const texts = z.array(text);
  const object = z.custom<JsonObject>(isJsonObject, 'expected an object');
  const objects = z.array(object);
  const optionalNumber = z.optional(number);
  const optionalTexts = z.optional(texts);
  const optionalObjects = z.optional(objects);
  const message = z.pipe(
    z.custom<Message>((value) => isJsonObject(value) && sendableMessage(value as Message) !== undefined, 'expected a message'), // looked at there
    z.transform((value) => sendableMessage(value) ?? value),
  );
  const usage = z.looseObject({ calls: number, input_tokens: number, output_tokens: number, cost_usd: number });
  const result = z.looseObject({ pos: number, id: text, name: text, status: text, text });
  const event = z.looseObject({ kind: text, text, blocks: z.array(z.unknown()) });
  const feedback = z.looseObject({ kind: text, content: text });

  return z.discriminatedUnion('t', [
    z.looseObject({
      t: z.literal('in'),
      drained: optionalNumber,
      deferred: optionalNumber,
      added: z.optional(z.array(z.looseObject({ kind: text, message }))),
      reminders: z.optional(z.array(z.looseObject({ body: text }))),
      events: z.optional(z.array(event)),
      active_skills: optionalTexts,
      async_handles: optionalObjects,
    }),
    z.looseObject({ t: z.literal('answer'), turn: number, message, usage, text_calls: optionalTexts }),
    z.looseObject({ t: z.literal('begin'), pos: number, id: text, name: text }),
    z.looseObject({ t: z.literal('result'), ...result.shape }),
    z.looseObject({
      t: z.literal('turn'),
      turn: number,
      message: z.optional(message),
      usage: z.optional(usage),
      text_calls: optionalTexts,
      results: z.optional(z.array(result)),
      feedback: z.optional(z.array(feedback)),
      events: z.optional(z.array(event)),
      duration_ms: number,
      consecutive_text_only: number,
      rendered_reminders: optionalTexts,
      option_patches: z.optional(object),
      granted_permissions: optionalObjects,
      end: z.optional(z.looseObject({ status: text, stop_reason: text })),
      judge_usage: z.optional(usage),
      consumed_event: optionalNumber,
      async_handles: optionalObjects,
    }),
    z.looseObject({
      t: z.literal('edit'),
      at: number,
      removed: number,
      inserted: z.array(message),
      summary: z.optional(z.nullable(text)),
      event: z.optional(event),
      dropped_reminders: optionalTexts,
      usage: z.optional(usage),
    }),
  ]);
});

/** A journal also holds records of lifecycle: `open`, `signal`. */
const OURS: ReadonlySet<unknown> = new Set(['in', 'answer', 'begin', 'result', 'turn', 'edit']);

/**
 * The records of the loop among those of a journal.
 * @throws HarnError `plain`; `data.index` is the place in the list
 */
export function decodeRecords(records: readonly JsonObject[]): readonly LoopRecord[] {
  return records.flatMap((record, index) => {
    if (!OURS.has(record.t)) return [];
    const decoded = recordSchema().safeParse(record, OWN_TEXTS_ONLY);
    if (decoded.success) return [decoded.data as unknown as LoopRecord]; // the schema and the type say the same
    const issue = decoded.error.issues[0];
    const field = issue === undefined || issue.path.length === 0 ? 'record' : issue.path.join('.');
    throw new HarnError('plain', `field \`${field}\` of a record \`${String(record.t)}\`: ${decodeProblem(issue, record)}`, {
      data: { index },
    });
  });
}
