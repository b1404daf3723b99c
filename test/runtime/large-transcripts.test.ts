import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ScriptFolder } from './script-folder.ts';

let folder: ScriptFolder;
beforeEach(() => {
  folder = new ScriptFolder();
});
afterEach(() => folder.remove());

const OPTIONS = 'provider: "mock", tool_format: "native"';
const PARKS = 'llm_mock({tool_calls: [{name: "agent_await_resumption", arguments: {reason: "wait"}}]})';

describe('T27: large transcripts', () => {
  test('a tool result of 12 MB that nothing compacts is kept whole in the snapshot, and a cold resume tells the model its beginning', async () => {
    const script = `
      tool big() -> string { return "e".repeat(12000000) + "the end" }
      llm_mock({tool_calls: [{name: "big", arguments: {}}]})
      ${PARKS}
      println(agent_loop("Work", nil, {${OPTIONS}, tools: big, model: "gpt-4.1", compaction: {strategy: "none"}}).status)
    `;
    expect(await folder.lines(script)).toEqual(['suspended']);
    const { id, transcript } = folder.worker();
    const kept = (transcript as { messages: { content: string }[] }).messages[2]?.content ?? '';
    expect([Buffer.byteLength(kept), kept.endsWith('the end')]).toEqual([12_000_007, true]);
    const resumed = `
      tool big() -> string { return "e".repeat(12000000) + "the end" }
      llm_mock({text: "done"})
      println(wait_agent(resume_agent("${String(id)}")).status)
      let told = llm_mock_calls()[0].messages[2].content
      println([bytes_len(bytes_from_string(told)) <= 1048576, starts_with(told, "ee"), contains(told, "the end")])
    `;
    expect(await folder.lines(resumed)).toEqual(['completed', '[true, true, false]']);
  });

  test('400 parked children lie in files of their own; the snapshot of their parent does not grow with them', {
    timeout: 60_000,
  }, async () => {
    const script = (count: number): string => `
      tool hire() -> int {
        for i in 0 to ${count - 1} { spawn_agent({task: "canary-" + "of-a-child " + "x".repeat(2000), options: {${OPTIONS}, resume_when: {}}}) }
        return ${count}
      }
      llm_mock({tool_calls: [{name: "hire", arguments: {}}]})
      ${PARKS}
      println(agent_loop("Work", nil, {${OPTIONS}, tools: hire}).snapshot_path)
    `;
    const [path = ''] = await folder.lines(script(400));
    const workers = join(folder.path, '.harn/workers');
    expect(readdirSync(workers).filter((name) => name.endsWith('.json'))).toHaveLength(401);
    expect(statSync(path).size).toBeLessThan(32 * 1024);
    expect(readFileSync(path, 'utf8')).not.toContain('canary-of-a-child');
  });
});
