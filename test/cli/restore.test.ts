import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SNAPSHOT_VERSION } from '../../src/store/snapshot-version.ts';
import { CliWorld, events } from './harn.ts';
import { editSnapshot, mockFile, parkedLoop } from './parked-loop.ts';

/**
 * Files that released versions left behind: each stays readable for ever, with the loop it holds. A new format adds its
 * file here and leaves the others as they are.
 */
const FIXTURES = join(import.meta.dirname, 'fixtures');

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
});
afterEach(() => world.remove());

/** Puts a file where its worker would have left it. @returns its path */
function place(fixture: string): string {
  const text = readFileSync(join(FIXTURES, fixture), 'utf8');
  const id = /"(?:worker_)?id": ?"(worker_[0-9a-f-]+)"/.exec(text)?.[1] ?? '';
  const workers = join(world.folder, '.harn/workers');
  mkdirSync(workers, { recursive: true });
  const path = join(workers, fixture.endsWith('.jsonl') ? `${id}.journal.jsonl` : `${id}.json`);
  copyFileSync(join(FIXTURES, fixture), path);
  return path;
}

function said(path: string): string[] {
  const snapshot = JSON.parse(readFileSync(path.replace('.journal.jsonl', '.json'), 'utf8')) as {
    readonly version: number;
    readonly transcript: { readonly messages: readonly { readonly role: string; readonly content: unknown }[] };
  };
  expect(snapshot.version).toBe(SNAPSHOT_VERSION);
  return snapshot.transcript.messages.map(({ role, content }) => `${role}: ${String(content)}`);
}

describe('T30: what a released version wrote', () => {
  test('every format of the snapshot has a file', () => {
    const formats = Array.from({ length: SNAPSHOT_VERSION + 1 }, (_, format) => `parked-format-${format}.json`);
    expect(readdirSync(FIXTURES)).toEqual(expect.arrayContaining(formats));
  });

  test('format 0, from before there were versions, goes on', () => {
    const path = place('parked-format-0.json');
    const resumed = world.harn(['run', '--resume', path, '--llm-mock', mockFile(world, 'm.jsonl', [{ text: 'it is out' }]), '--', 'now?'], {
      env: { HARN_LLM_PROVIDER: 'mock' },
    });
    expect(resumed).toMatchObject({ code: 0, stdout: 'it is out\n' });
    expect(said(path)).toEqual(['user: watch the release', 'user: now?', 'assistant: it is out']);
  });

  test('format 1 goes on with its tools, a closure with what it captured, and what was denied', () => {
    const path = place('parked-format-1.json');
    const answers = [
      {
        tool_calls: [
          { name: 'note', arguments: { text: 'second' } },
          { name: 'tag', arguments: { text: 'y' } },
        ],
      },
      { tool_calls: [{ name: 'erase' }] },
      { text: 'released' },
    ];
    const resumed = world.harn(['run', '--resume', path, '--llm-mock', mockFile(world, 'm.jsonl', answers), '--', 'it is open']);
    expect(resumed).toMatchObject({ code: 0, stdout: 'released\n', stderr: '' });
    expect(world.read('effects')).toBe('second\n');
    expect(said(path)).toEqual([
      'user: work',
      'assistant: ',
      'tool: noted first',
      'tool: draft: x',
      'assistant: ',
      'tool: agent_await_resumption was not dispatched: awaiting_resumption — agent suspended awaiting resumption: waiting for the release window',
      'user: it is open',
      'assistant: ',
      'tool: noted second',
      'tool: draft: y',
      'assistant: ',
      'tool: Error: unknown tool erase',
      'assistant: released',
    ]);
  });

  test('a journal of format 1 whose process was killed goes on after its last settled call', () => {
    const path = place('interrupted-format-1.journal.jsonl');
    const resumed = world.harn(['run', '--resume', path, '--llm-mock', mockFile(world, 'm.jsonl', [{ text: 'recovered' }])]);
    expect(resumed).toMatchObject({ code: 0, stdout: 'recovered\n' });
    expect(readdirSync(world.folder)).not.toContain('effects');
    expect(said(path)).toEqual([
      'user: work',
      'assistant: one',
      'tool: noted first',
      'assistant: two',
      'tool: noted second',
      'tool: Error: note was interrupted; its outcome is unknown. It may or may not have taken effect.',
      'tool: note was not started before the interruption; it did not run.',
      'assistant: recovered',
    ]);
  });

  test('a format of the future is refused with what wrote it and what this version reads, and is not touched', () => {
    const path = place('parked-format-1.json');
    const future = readFileSync(path, 'utf8').replace('"version": 1', '"version": 2').replace('"name": "top-level-agent",\n', '');
    world.write(path.slice(world.folder.length + 1), future);
    const refused = world.harn(['run', '--resume', path]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/HARN-SUS-004: .*written by harn \S+, format 2; this harn reads up to 1/);
    expect(readFileSync(path, 'utf8')).toBe(future);
  });
});

describe('5.15: a transcript that nobody would take', () => {
  test('is repaired for the resume, which says so without a word of it', () => {
    const path = parkedLoop(world);
    editSnapshot(path, ({ transcript }) => {
      const [user, called] = transcript.messages;
      transcript.messages = [user, called, { ...called, tool_calls: [{ id: 'other', name: 'note', arguments: { text: 'canary' } }] }];
    });
    const fails = mockFile(world, 'fails.jsonl', [{ error: { category: 'auth', message: 'no key' } }]);
    const resumed = world.harn(['run', '--resume', path, '--json', '--llm-mock', fails]);
    const repairs = events(resumed.stdout)
      .filter(({ data }) => data.kind === 'transcript_repaired')
      .map(({ data }) => data.payload);
    const id = basename(path, '.json');
    expect(repairs).toEqual([
      { worker_id: id, repair: 'result_added', index: 1, tool_call_id: 'mock_call_1' },
      { worker_id: id, repair: 'result_added', index: 2, tool_call_id: 'other' },
    ]);
    expect(JSON.stringify(repairs)).not.toContain('canary');
    const said = events(resumed.stdout).filter(({ data }) => data.event_type === 'stderr');
    expect(said.map(({ data }) => data.payload)).toEqual([
      `harn: the transcript of ${id} needed 2 repairs before it could be sent: result_added 2 times\n`,
    ]);
  });
});

describe('T27: a snapshot that does not fit into memory', () => {
  test('is refused before it is read, with what would help, and stays as it was', () => {
    const path = parkedLoop(world);
    editSnapshot(path, ({ transcript }) => {
      transcript.messages[0].content = 'x'.repeat(48 * 1024 * 1024);
    });
    const size = statSync(path).size;
    const refused = world.harn(['run', '--resume', path], { env: { NODE_OPTIONS: '--max-old-space-size=64' } });
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /HARN-SUS-004: .*: the file has \d+ bytes, more than the limit of \d+ \(HARN_SNAPSHOT_MAX_BYTES; memory for it: NODE_OPTIONS=--max-old-space-size=1\d\d\)/,
    );
    expect(statSync(path).size).toBe(size);
    const resumed = world.harn([
      'run',
      '--resume',
      path,
      '--llm-mock',
      mockFile(world, 'done.jsonl', [{ text: 'done' }, { text: 'done' }]),
    ]);
    expect(resumed).toMatchObject({ code: 0, stdout: 'done\n' });
  });
});

test('an error in a closure of a loop that was resumed is shown where it stands', () => {
  const script = world.write(
    'p.harn',
    `pipeline default() {
  let flag = "flag"
  agent_loop("x", nil, {provider: "mock", post_turn_callback: { turn ->
    if file_exists(flag) { println(turn.nothing.at_all) }
    nil
  }})
}
`,
  );
  const waits = { tool_calls: [{ name: 'agent_await_resumption', arguments: { reason: 'wait' } }] };
  expect(world.harn(['run', script, '--llm-mock', mockFile(world, 'park.jsonl', [waits])])).toMatchObject({ code: 0 });
  world.write('flag', '');
  const [snapshot = ''] = world.snapshots();
  const resumed = world.harn(['run', '--resume', snapshot, '--llm-mock', mockFile(world, 'go.jsonl', [{ text: 'on' }]), '--', 'go']);
  expect(resumed).toMatchObject({ code: 1, stdout: '' });
  expect(resumed.stderr).toBe(`error: Type error: cannot access property \`at_all\` on nil (line 4)
  --> p.harn:4:49
   |
 4 |     if file_exists(flag) { println(turn.nothing.at_all) }
   |                                                 ^^^^^^
`);
});
