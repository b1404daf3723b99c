import { clearReminders, decodeReminderSpec, injectReminder } from '../../agent/reminder.ts';
import { applyCompaction } from '../../agent/transcript/compaction.ts';
import { decodeMessages } from '../../agent/transcript/decode-message.ts';
import { transcriptDigest } from '../../agent/transcript/digest.ts';
import {
  appendEvent,
  createTranscript,
  decodeTranscript,
  eventsByKind,
  plainEvent,
  renderFull,
  renderVisible,
  type Transcript,
  transcriptFromMessages,
} from '../../agent/transcript/transcript.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import { agentValue, optionsJson, withoutHarness } from '../agents/agent-values.ts';
import { namesModel, planCompaction, summaryByModel } from '../agents/transcript-compaction.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { dictEntries, dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { plainError } from '../errors.ts';
import { parseJson, toJson } from '../json.ts';
import { Dict, type Value } from '../value.ts';

/** Transcripts as values (spec/agents.md 3.9, 3.10): each function gives a new one and leaves the old as it is. */

type Args = readonly Value[];

function pure(signature: string, doc: string, run: (args: Args, context: Context) => Json | Value): Builtin {
  return { signature, doc, call: (context, _depth, ...args) => run(withoutHarness(args), context) as Value };
}

/** A function whose first argument is a transcript. */
function reading(
  name: string,
  signature: string,
  doc: string,
  run: (transcript: Transcript, args: Args, context: Context) => Json,
): [string, Builtin] {
  return [name, pure(signature, doc, ([first, ...rest], context) => agentValue(run(decodeTranscript(toJson(first), name), rest, context)))];
}

function text(value: Value): string {
  return value === undefined ? '' : display(value);
}

async function compact(context: Context, value: Value, options: Value): Promise<Value> {
  const transcript = decodeTranscript(toJson(value), 'transcript_compact');
  const { summary } = optionsJson(options);
  const plan = await planCompaction(context, transcript.messages, options, { operation: 'transcript_compact', keepLast: 10 });
  if (plan === undefined) return agentValue(typeof summary === 'string' ? { ...transcript, summary } : transcript);
  return agentValue(applyCompaction(transcript, plan));
}

/** With a model of the options it writes the summary, and the messages give way to it; without one nobody is asked and nothing goes. */
async function summarize(context: Context, value: Value, options: Value): Promise<Value> {
  const transcript = decodeTranscript(toJson(value), 'transcript_summarize');
  const given = optionsJson(options);
  if (!namesModel(given)) {
    return agentValue({ ...transcript, summary: transcriptDigest({ ...transcript, summary: null }, []) });
  }
  const { messages } = transcript;
  const wish = dictOf([...dictEntries(options instanceof Dict ? options : dictOf([])), ['strategy', 'summarize_all']]);
  const plan = await planCompaction(context, messages, wish, { operation: 'transcript_summarize', keepLast: 0 });
  if (plan !== undefined) return agentValue(applyCompaction(transcript, plan));
  return agentValue({ ...transcript, summary: await summaryByModel(context, messages, given) });
}

/** The same conversation under a new id, with nothing shared. */
function fork(transcript: Transcript, context: Context): Transcript {
  return { ...transcript, id: context.run.platform.random.uuidV7(), metadata: { ...transcript.metadata, forked_from: transcript.id } };
}

function archive(transcript: Transcript): Transcript {
  return appendEvent({ ...transcript, state: 'done' }, plainEvent('transcript_archived', 'transcript archived'));
}

function imported(value: Value): Transcript {
  if (typeof value !== 'string') throw plainError('transcript_import: expected a string');
  return decodeTranscript(toJson(parseJson(value)), 'transcript_import');
}

function inject([transcript, spec]: Args): Value {
  const injected = injectReminder(
    decodeTranscript(toJson(transcript), 'transcript.inject_reminder'),
    decodeReminderSpec(optionsJson(spec)),
  );
  return dictOf([
    ['transcript', agentValue(injected.transcript)],
    ['reminder_id', injected.reminderId],
    ['deduped_count', injected.dedupedCount],
  ]);
}

const FILTERS = ['id', 'tag', 'dedupe_key'];

function clear([transcript, filter]: Args): Value {
  const given: JsonObject = optionsJson(filter);
  const unknown = Object.keys(given).find((key) => !FILTERS.includes(key));
  if (unknown !== undefined) throw plainError(`transcript.clear_reminders: unknown filter \`${unknown}\`; expected id, tag or dedupe_key`);
  const string = (key: string): string | undefined => (typeof given[key] === 'string' ? given[key] : undefined);
  const cleared = clearReminders(decodeTranscript(toJson(transcript), 'transcript.clear_reminders'), {
    id: string('id'),
    tag: string('tag'),
    dedupeKey: string('dedupe_key'),
  });
  return dictOf([
    ['transcript', agentValue(cleared.transcript)],
    ['removed_count', cleared.removedCount],
  ]);
}

export const TRANSCRIPTS: BuiltinGroup = {
  name: 'transcripts',
  title: 'Transcripts and reminders',
  errors: [
    { text: 'transcript_import: expected a string', when: '`transcript_import`' },
    { text: 'HARN-RMD-…: …', when: 'a reminder that is not valid; `harn explain CODE` says more' },
    { text: 'transcript.clear_reminders: unknown filter `F`; expected id, tag or dedupe_key', when: '`transcript.clear_reminders`' },
  ],
  builtins: {
    transcript: pure('(metadata: any = nil) -> dict', 'An empty transcript.', ([metadata], context) =>
      agentValue(createTranscript(context.run.platform.random.uuidV7(), optionsJson(metadata))),
    ),
    transcript_from_messages: pure('(messages: any = nil) -> dict', 'A transcript of these messages.', ([messages], context) =>
      agentValue(
        transcriptFromMessages(context.run.platform.random.uuidV7(), decodeMessages(toJson(messages), 'transcript_from_messages')),
      ),
    ),
    ...Object.fromEntries([
      reading('transcript_messages', '(t: any) -> list', 'Its messages, as a model is sent them again.', (t) => t.messages),
      reading('transcript_events', '(t: any) -> list', 'Everything that happened, in order.', (t) => t.events),
      reading('transcript_events_by_kind', '(t: any, kind: any = nil) -> list', 'The events of one kind.', (t, [kind]) =>
        eventsByKind(t, text(kind)),
      ),
      reading('transcript_summary', '(t: any) -> any', 'Its summary, or nil.', (t) => t.summary),
      reading('transcript_id', '(t: any) -> string', 'Its id.', (t) => t.id),
      reading('transcript_render_visible', '(t: any) -> string', 'The public part as text.', renderVisible),
      reading('transcript_render_full', '(t: any) -> string', 'Every event as text, with its visibility.', renderFull),
      reading('transcript_fork', '(t: any) -> dict', 'A copy under a new id.', (t, _args, context) => fork(t, context)),
      reading('transcript_export', '(t: any) -> string', 'The transcript as JSON text.', (t) => JSON.stringify(t)),
      reading('transcript_archive', '(t: any) -> dict', 'The transcript, closed.', archive),
    ]),
    transcript_compact: {
      signature: '(t: any, options: any = nil) -> dict',
      doc: 'Earlier messages but `keep_first` (0) and `keep_last` (10) give way to a summary: `summary` itself, what `compact_callback` makes of them, what a model writes (`strategy` llm, hybrid, summarize_middle, summarize_all, or a `provider`, `model`), or else an outline.',
      colour: 'async',
      call: (context, _depth, ...args) => {
        const [transcript, options] = withoutHarness(args);
        return compact(context, transcript, options);
      },
    },
    transcript_summarize: {
      signature: '(t: any, options: any = nil) -> dict',
      doc: 'The transcript with a summary. With `provider` or `model` a model writes it, and all messages but `keep_first` and `keep_last` give way to it.',
      colour: 'async',
      call: (context, _depth, ...args) => {
        const [transcript, options] = withoutHarness(args);
        return summarize(context, transcript, options);
      },
    },
    transcript_import: pure('(text: any = nil) -> dict', 'A transcript from its JSON text.', ([value]) => agentValue(imported(value))),
    'transcript.inject_reminder': pure(
      '(t: any, spec: any = nil) -> dict',
      'Adds a reminder: `{transcript, reminder_id, deduped_count}`.',
      inject,
    ),
    'transcript.clear_reminders': pure(
      '(t: any, filter: any = nil) -> dict',
      'Removes pending reminders by id, tag or dedupe_key: `{transcript, removed_count}`.',
      clear,
    ),
  },
};
