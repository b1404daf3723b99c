import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { CliWorld, events } from '../cli/harn.ts';

const PAGE = readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/cli.md'), 'utf8');
const world = new CliWorld();
afterAll(() => world.remove());

/** Cells of the table whose first title is this, without the titles. */
function tableOf(title: string): string[][] {
  const [, body = ''] = PAGE.split(`| ${title} |`);
  const rows = body.split('\n').slice(2);
  const end = rows.findIndex((row) => !row.startsWith('|'));
  return rows.slice(0, end).map((row) => row.split(' | ').map((cell) => cell.replaceAll(/^\| *| *\|$/g, '').trim()));
}

const codesIn = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);

/** Calls a tool, passes a hook, prints on both streams and parks; the resume ends it. */
const SCRIPT = `
tool look(path: string) -> string {
  description "Looks at a file."
  return "nothing wrong in \${path}"
}

pipeline default() {
  register_session_hook("pre_suspend", { event -> nil })
  println("begins")
  log_info("a note")
  llm_mock({tool_calls: [{name: "look", arguments: {path: "a.txt"}}]})
  llm_mock({tool_calls: [{name: "agent_await_resumption", arguments: {reason: "a decision"}}]})
  return agent_loop("work", nil, {provider: "mock", tool_format: "native", tools: look})
}
`;

describe('docs/cli.md', () => {
  it('has the members of every event of the stream, and knows every kind of event', () => {
    const documented = new Map(
      tableOf('`event_type`').flatMap(([types, members]) => codesIn(types).map((type) => [type, codesIn(members)] as const)),
    );
    world.write('all.harn', SCRIPT);
    const lines = [
      ...events(world.harn(['run', '--json', 'all.harn']).stdout),
      ...events(world.harn(['run', '--json', '-e', 'throw "broken"']).stdout),
    ];
    const seen = new Map<string, Set<string>>();
    for (const line of lines) {
      expect(Object.keys(line)).toEqual(tableOf('Member').flatMap(([member]) => codesIn(member)));
      const { event_type, seq: _, ...members } = line.data as { event_type: string; seq: number };
      const names = seen.get(event_type) ?? new Set();
      for (const name of Object.keys(members)) names.add(name);
      seen.set(event_type, names);
    }
    expect([...seen.keys()].sort()).toEqual([...documented.keys()].sort());
    for (const [type, names] of seen) expect([...names].sort(), type).toEqual([...(documented.get(type) ?? [])].sort());
  });

  it('has every exit code', () => {
    const codes = tableOf('Code').map(([code]) => code);
    expect(codes.filter((code) => code !== 'n').map(Number)).toEqual([...Object.values(EXIT)].sort((a, b) => a - b));
  });

  it('names the codes of errors that are no code of harn', () => {
    const named = tableOf('`error.code`').flatMap(([codes]) => codesIn(codes));
    const codeOf = (...args: string[]) => events(world.harn(['run', '--json', ...args]).stdout).at(-1)?.error?.code;
    const seen = [
      codeOf('-e', 'let x = "open'),
      codeOf('-e', 'let = 1'),
      codeOf('-e', 'let x: int = "s"'),
      codeOf('-e', 'import "no/such/file"'),
      codeOf('-e', 'throw "broken"'),
      codeOf('-e', 'llm_mock({error: {category: "auth"}})\nllm_call("x", nil, {provider: "mock"})'),
      codeOf('-e', 'Err("x")'),
      codeOf('missing.harn'),
    ];
    expect(seen).toEqual(['lexer', 'parser', 'checker', 'import', 'runtime', 'llm', 'result_err', 'usage']);
    for (const code of seen) expect(named).toContain(code);
  });
});
