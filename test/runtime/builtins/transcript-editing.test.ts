import { describe, expect, it } from 'vitest';
import { linesOf, type ScriptRow } from '../run-text.ts';

const ROWS: readonly ScriptRow[] = [
  [
    'messages are added by role',
    `let t = add_tool_result(add_message(add_system(transcript(), "s"), "assistant", "a"), "c1", "r")
println(transcript_messages(t).map({ m -> m.role }))
println(transcript_messages(t)[2].tool_call_id)`,
    ['[system, assistant, tool]', 'c1'],
  ],
  [
    'a role that does not exist is refused',
    'println(try { add_message(transcript(), "boss", "x") } catch (e) { e })',
    ['add_message: role must be one of system, user, assistant, tool, developer'],
  ],
  [
    'an asset is registered once, and a block shows its name',
    `let t = transcript_add_asset(transcript_add_asset(transcript(), {id: "a", name: "old"}), {id: "a", name: "new"})
println(transcript_assets(t).map({ a -> a.name }))
println(transcript_render_visible(add_user(t, [{type: "image", asset_id: "a", name: "new.png"}, {type: "text", text: "look"}])))`,
    ['[new]', 'user: look', '[image: new.png]'],
  ],
  [
    'archived, resumed and abandoned are states and events',
    `let t = transcript_archive(transcript())
println("\${t.state} \${transcript_resume(t).state} \${transcript_abandon(t).state}")
println(transcript_render_full(transcript_abandon(t)))`,
    [
      'done active done',
      '[internal] transcript_archived system: transcript archived',
      '[internal] transcript_abandoned system: transcript abandoned',
    ],
  ],
  [
    'a reset transcript is empty but for its metadata',
    'let t = transcript_reset({metadata: {a: 1}})\nprintln("${t.metadata} ${t.messages}")',
    ['{a: 1} []'],
  ],
  ['counts of nil are zero', 'println(transcript_stats(nil).message_count + transcript_stats(nil).visible_event_count)', ['0']],
  ['a text within its limit stays as it is', 'println(microcompact("short", 5))', ['short']],
  [
    'a shortened text is no longer than its limit, and counts what is gone',
    'let s = microcompact("x".repeat(1000), 100)\nprintln("${len(s) <= 100} ${s.contains("snipped")}")',
    ['true true'],
  ],
  [
    'tokens of a text and of messages',
    'println("${estimate_tokens("x".repeat(40))} ${estimate_tokens([{role: "user", content: "x".repeat(8)}])}")',
    ['10 2'],
  ],
];

describe('building transcripts', () => {
  it.each(ROWS)('%s', async (_rule, script, lines) => {
    expect(await linesOf(script)).toEqual(lines);
  });
});
