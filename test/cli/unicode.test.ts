import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliWorld } from './harn.ts';
import { mockFile } from './parked-loop.ts';

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
});
afterEach(() => world.remove());

const TEXT = '👩🏽‍🚀\u2028 \u202Eabc\u202C e\u0301 \uD7A3 𝒳漢字';

test.each([['C'], ['C.UTF-8']])('T25: under LANG=%s names of four bytes and every text survive a park and a resume', (lang) => {
  const env = { LANG: lang, LC_ALL: lang };
  const folder = join(world.folder, '𝒳 😀');
  mkdirSync(folder);
  world.write(
    '𝒳 😀/wörk-😀.harn',
    `tool keep() -> string {
  append_file("😀-漢.txt", ${JSON.stringify(TEXT)})
  return ${JSON.stringify(TEXT)} + read_file("😀-漢.txt")
}
agent_loop("task ${TEXT}", nil, {provider: "mock", tool_format: "native", tools: keep})
`,
  );
  const parks = mockFile(world, '😀.jsonl', [
    { tool_calls: [{ name: 'keep' }] },
    { tool_calls: [{ name: 'agent_await_resumption', arguments: { reason: TEXT } }] },
  ]);
  expect(world.harn(['run', 'wörk-😀.harn', '--llm-mock', parks], { cwd: folder, env })).toMatchObject({ code: 0 });
  const command = world.harn(['workers', 'list', '--json'], { cwd: folder, env });
  const [worker] = JSON.parse(command.stdout).data.workers;
  const path = join(folder, '.harn/workers', `${String(worker.id)}.json`);
  const contents = (): string[] =>
    JSON.parse(readFileSync(path, 'utf8')).transcript.messages.map(({ content }: { content: string }) => content);
  const before = contents();
  expect(before[0]).toBe(`task ${TEXT}`);
  expect(before[2]).toBe(TEXT + TEXT);
  const more = mockFile(world, 'b.jsonl', [{ tool_calls: [{ name: 'keep' }] }, { text: `end ${TEXT}` }]);
  const resumed = world.harn(['run', '--resume', path, '--llm-mock', more, '--', `input ${TEXT}`], { cwd: folder, env });
  expect(resumed).toMatchObject({ code: 0, stdout: `end ${TEXT}\n` });
  const after = contents();
  expect(after.slice(0, before.length)).toEqual(before);
  expect(after).toContain(`input ${TEXT}`);
  expect(after).toContain(TEXT + TEXT + TEXT);
  expect(readFileSync(join(folder, '😀-漢.txt'), 'utf8')).toBe(TEXT + TEXT);
});
