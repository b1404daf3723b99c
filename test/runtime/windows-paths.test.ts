import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import { FileEventLog } from '../../src/store/event-log.ts';
import { decodeDocument, readSnapshot, writeSnapshot } from '../../src/store/snapshot-file.ts';
import type { WorkerSnapshot } from '../../src/store/snapshot-schema.ts';
import { sampleSnapshot } from '../store/sample-snapshot.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { resumeIn, runIn } from './park-project.ts';

const platform = createNodePlatform();
let directory: string;
beforeEach(() => {
  directory = scratchDirectory();
});

const SCRIPT = `import { add_one } from "./lib/tools"
llm_mock({tool_calls: [{name: "agent_await_resumption", args: {reason: "wait"}}]})
agent_loop("Go", nil, {provider: "mock", tool_format: "native", tools: add_one})
`;

/** Parks a loop of a project with two modules. @returns the snapshot */
async function parkIn(project: string): Promise<string> {
  mkdirSync(join(project, 'src/lib'), { recursive: true });
  writeFileSync(join(project, 'src/lib/tools.harn'), 'pub tool add_one(n: int) -> int { return n + 1 }\n');
  writeFileSync(join(project, 'harn.toml'), '[package]\nname = "p"\n');
  const script = join(project, 'src/work.harn');
  writeFileSync(script, SCRIPT);
  await runIn({ platform, stateRoot: join(project, '.harn') }, script);
  const [name = ''] = readdirSync(join(project, '.harn/workers'));
  return join(project, '.harn/workers', name);
}

function answers(): string {
  const path = join(directory, 'answers.jsonl');
  writeFileSync(path, `${JSON.stringify({ tool_calls: [{ name: 'add_one', args: { n: 1 } }] })}\n${JSON.stringify({ text: 'end' })}\n`);
  return path;
}

const resume = (snapshot: string) => resumeIn({ platform, stateRoot: join(directory, '.harn') }, snapshot, undefined, answers());

function moduleFacts(snapshot: string): { readonly script: string; readonly paths: string[] } {
  const { program } = readSnapshot(platform, snapshot).snapshot as unknown as {
    program: { script_path: string; modules: { path: string }[] };
  };
  return { script: program.script_path, paths: program.modules.map(({ path }) => path) };
}

describe('T34: paths and names of Windows', () => {
  test('stored paths are relative to the project, with slashes, and its files have names that every system takes', async () => {
    const snapshot = await parkIn(join(directory, 'project'));
    const { script, paths } = moduleFacts(snapshot);
    expect(script).toBe('src/work.harn');
    expect([...paths].sort()).toEqual(['src/lib/tools.harn', 'src/work.harn']);
    expect(snapshot.split('/').at(-1)).toMatch(/^worker_[0-9a-f-]+\.json$/);
  });

  test('a snapshot with paths of Windows resumes here from the text in it', async () => {
    const snapshot = await parkIn(join(directory, 'project'));
    const { snapshot: parked } = readSnapshot(platform, snapshot);
    const moved = JSON.parse(
      JSON.stringify(parked).replaceAll(
        /"(?:src|\.harn)\/[^"]*"/g,
        (path) => `"C:\\\\work\\\\${path.slice(1, -1).replaceAll('/', '\\\\')}"`,
      ),
    ) as WorkerSnapshot;
    const elsewhere = join(directory, 'moved.json');
    writeSnapshot(platform, elsewhere, moved);
    rmSync(join(directory, 'project'), { recursive: true });
    expect(moduleFacts(elsewhere).script).toBe('C:\\work\\src\\work.harn');
    const { summary, messages } = await resume(elsewhere);
    expect(summary.status).toBe('completed');
    expect(messages.filter(({ role }) => role === 'tool').at(-1)?.content).toBe('2');
  });

  test('a project under a path of more than 260 characters parks, moves and resumes', async () => {
    const deep = join(directory, ...Array.from({ length: 8 }, (_, index) => `${index}-${'long'.repeat(12)}`));
    const snapshot = await parkIn(deep);
    expect(snapshot.length).toBeGreaterThan(400);
    const near = join(directory, 'near');
    cpSync(deep, near, { recursive: true });
    expect((await resume(snapshot)).summary.status).toBe('completed');
    expect((await resume(snapshot.replace(deep, near))).summary.status).toBe('completed');
  });

  test.each(['CON', 'nul', 'worker_a:b', 'worker_a/b', 'worker_a\\b', '..\\worker_a', 'worker_a.', 'worker_a b', 'worker_a*', ''])(
    'an id that is no safe name of a file is refused: %s',
    (id) => {
      expect(() => decodeDocument(sampleSnapshot({ id }) as unknown as JsonObject, { target: 'w.json' })).toThrow('field `id`');
    },
  );

  test('a topic that is the name of a device is kept in a file of another name', () => {
    const log = new FileEventLog(platform.files, join(directory, 'events'));
    const record = { kind: 'k', payload: null, headers: {}, occurredAt: 0, durability: 'flushed' } as const;
    const topics = ['CON', 'nul.x', 'com1', '_CON', 'console', 'a.con'];
    for (const topic of topics) log.append({ ...record, topic, payload: topic });
    const names = ['CON', 'nul.x', 'com1', '_CON'].map((topic) => `_${topic}.jsonl`);
    expect(new Set(readdirSync(join(directory, 'events')))).toEqual(new Set([...names, 'a.con.jsonl', 'console.jsonl']));
    for (const topic of topics) expect(log.read(topic, 0, 10).map(({ payload }) => payload)).toEqual([topic]);
    expect([...log.topics()].sort()).toEqual([...topics].sort());
    expect(readFileSync(join(directory, 'events/_CON.jsonl'), 'utf8')).toContain('"CON"');
  });
});
