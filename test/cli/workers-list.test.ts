import { unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { renderInstant } from '../../src/base/instant.ts';
import { decodeUtf8 } from '../../src/base/utf8.ts';
import { main } from '../../src/cli/main.ts';
import { cellsOf } from '../../src/diagnostics/cell-width.ts';
import { createFakePlatform, type FakePlatform, type FakePlatformOptions } from '../../src/platform/fake-platform.ts';
import { renderSnapshot } from '../../src/store/snapshot-file.ts';
import type { SuspensionRecord, WorkerSnapshot } from '../../src/store/snapshot-schema.ts';
import { sampleSnapshot } from '../store/sample-snapshot.ts';
import { CliWorld } from './harn.ts';

const NOON = Date.UTC(2026, 3, 30, 12);
const HOUR = 3_600_000;
const WORKERS = '/project/.harn/workers';

function platformWith(files: Readonly<Record<string, string>>, options: FakePlatformOptions = {}): FakePlatform {
  return createFakePlatform({ now: NOON + 3 * HOUR, cwd: '/project', files, ...options });
}

function id(last: number): string {
  return `worker_01990000-0000-7000-8000-${String(last).padStart(12, '0')}`;
}

function file(snapshot: WorkerSnapshot): Record<string, string> {
  return { [`${WORKERS}/${snapshot.id}.json`]: decodeUtf8(renderSnapshot(snapshot).bytes) };
}

/** A worker that parked at noon. */
function parked(last: number, suspension: Partial<SuspensionRecord> = {}, changes: Partial<WorkerSnapshot> = {}): WorkerSnapshot {
  const sample = sampleSnapshot();
  const suspended_at = renderInstant(NOON);
  return sampleSnapshot({
    id: id(last),
    suspension: { ...(sample.suspension as SuspensionRecord), suspension_id: `susp_${last}`, suspended_at, ...suspension },
    ...changes,
  });
}

const deadline = (hours: number): Partial<WorkerSnapshot> => ({
  armed: { trigger: false, deadline_at: renderInstant(NOON + hours * HOUR), on_event: null },
});

const local = { resume_by_mechanism: 'ResumeBy.local_runtime' };

function waiters(...lines: readonly object[]): Record<string, string> {
  return { '/project/.harn/waiters.jsonl': lines.map((line) => `${JSON.stringify(line)}\n`).join('') };
}

async function list(platform: FakePlatform, ...options: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const code = await main(['workers', 'list', ...options], platform);
  return { code, stdout: platform.stdio.stdout, stderr: platform.stdio.stderr };
}

async function rows(platform: FakePlatform, ...options: string[]): Promise<Record<string, unknown>[]> {
  const { stdout } = await list(platform, '--json', ...options);
  return JSON.parse(stdout).data.workers;
}

describe('harn workers list', () => {
  it('says what comes next, and for whom nobody comes', async () => {
    const platform = platformWith({
      ...file(parked(1, { reason: 'waiting for a human' })),
      ...file(parked(2, { reason: 'a pause', ...local }, deadline(8))),
      ...file(parked(3, { reason: 'a pause that nobody ends', ...local }, deadline(8))),
      ...file(
        parked(
          4,
          { reason: 'a deployment', ...local, conditions: { on_event: 'deploys' } },
          { armed: { trigger: false, deadline_at: null, on_event: { topic: 'deploys', from_cursor: 7 } } },
        ),
      ),
      ...file(parked(5, { resume_by_mechanism: 'ResumeBy.parent_llm' }, { parent_worker_id: id(1) })),
      ...waiters(
        { suspension_id: 'susp_2', armed_by: { pid: 4242, host: 'host', boot_id: 'boot-1' } },
        { suspension_id: 'susp_3', armed_by: { pid: 666, host: 'host', boot_id: 'boot-1' } },
        { suspension_id: 'susp_4', armed_by: { pid: 77, host: 'far', boot_id: null } },
      ),
    });
    const { code, stdout, stderr } = await list(platform);
    expect(code).toBe(0);
    expect(stdout).toBe(
      `WORKER                                       STATE      AGE   OWNER              WAKE           NAME      REASON
${id(1)}  suspended  3h0m  parent             by hand        reviewer  waiting for a human
${id(2)}  suspended  3h0m  local, pid 4242    in 5h0m        reviewer  a pause
${id(3)}  suspended  3h0m  local, gone        nobody         reviewer  a pause that nobody ends
${id(4)}  suspended  3h0m  local, pid 77@far  topic deploys  reviewer  a deployment
${id(5)}  suspended  3h0m  parent             by its parent  reviewer  waiting for a human
`,
    );
    expect(stderr).toContain('1 worker waits for a process that is gone');
  });

  it('T46: a worker whose owner is not alive is stuck', async () => {
    const armedBy = { suspension_id: 'susp_2', armed_by: { pid: 666, host: 'host', boot_id: 'boot-1' } };
    const platform = platformWith({ ...file(parked(1)), ...file(parked(2, local, deadline(1))), ...waiters(armedBy) });
    expect(await rows(platform, '--stuck')).toMatchObject([
      {
        id: id(2),
        suspension: { attendance: 'unattended', armed_by: { pid: 666, alive: false }, next_wake_at: renderInstant(NOON + HOUR) },
      },
    ]);
  });

  it('a process of another boot is gone, even when its number is in use again', async () => {
    const armedBy = { suspension_id: 'susp_2', armed_by: { pid: 4242, host: 'host', boot_id: 'boot-0' } };
    const platform = platformWith({ ...file(parked(2, local, deadline(8))), ...waiters(armedBy) });
    expect(await rows(platform)).toMatchObject([{ suspension: { attendance: 'unattended' } }]);
  });

  it('lists what is damaged or foreign, and the workers beside it', async () => {
    const whole = decodeUtf8(renderSnapshot(parked(1)).bytes);
    const platform = platformWith({
      ...file(parked(2)),
      [`${WORKERS}/empty.json`]: '',
      [`${WORKERS}/torn.json`]: whole.slice(0, 300),
      [`${WORKERS}/array.json`]: '[1]',
      [`${WORKERS}/newer.json`]: whole.replace('"version": 1', '"version": 7'),
      [`${WORKERS}/status.json`]: whole.replace('"status": "suspended"', '"status": "asleep"'),
      [`${WORKERS}/shell.json`]: whole.replace(/"id": "[^"]*"/, '"id": "$(reboot)"'),
      [`${WORKERS}/package.json`]: '{"name": "x"}',
      [`${WORKERS}/receipt.json`]: '{"_type": "receipt"}',
      [`${WORKERS}/notes.txt`]: 'mine',
      [`${WORKERS}/folder.json/inside`]: '',
      [`${WORKERS}/lost.journal.jsonl`]: '{"t":"op',
      [`${WORKERS}/odd.journal.jsonl/inside`]: '',
      [`${WORKERS}/closed.index`]: '',
      [`${WORKERS}/README.md`]: '',
      [`${WORKERS}/${id(2)}.json.tmp_1`]: 'draft',
    });
    const found = await rows(platform);
    expect(found.map(({ kind, path, problem }) => (kind === 'worker' ? kind : `${kind} ${String(path).slice(14)}: ${problem}`))).toEqual([
      'damaged array.json: not a JSON object',
      'damaged empty.json: empty',
      'foreign folder.json: not a file',
      'damaged lost.journal.jsonl: a journal without a first record',
      'damaged newer.json: written by a newer harn (format 7)',
      "damaged odd.json: EISDIR: illegal operation on a directory, open '/project/.harn/workers/odd.journal.jsonl'",
      'foreign package.json: not a worker snapshot',
      'foreign receipt.json: a receipt',
      'damaged shell.json: field `id`: not an id',
      'damaged status.json: field `status`: not a status',
      'damaged torn.json: not a JSON object',
      'worker',
      'foreign notes.txt: not a file of harn',
    ]);
  });

  it('T27: reads the head of each file and not its transcript', async () => {
    const message = { role: 'user', content: 'x'.repeat(100_000) };
    const transcript = { _type: 'transcript', version: 2, messages: Array.from({ length: 40 }, () => message) };
    const platform = platformWith({ ...file(parked(1, {}, { transcript })), ...file(parked(2, {}, { transcript })) });
    let bytes = 0;
    const files = new Proxy(platform.files, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          const result: unknown = member.apply(target, args);
          if (key !== 'list' && (typeof result === 'string' || result instanceof Uint8Array)) bytes += result.length;
          return result;
        };
      },
    });
    expect(await main(['workers', 'list', '--json'], { ...platform, files })).toBe(0);
    expect(JSON.parse(platform.stdio.stdout).data.workers).toHaveLength(2);
    expect(bytes).toBeLessThan(10_000);
  });

  it('fits a terminal of 80 columns, with beginnings of ids that tell the workers apart', async () => {
    const reason = 'needs a decision from the release manager about the window on Thursday';
    const one = parked(1, { reason }, { id: 'worker_01990000-0001-7000-8000-000000000000' });
    const other = parked(2, { reason: '\u001b[2J漢字\nsecond line' }, { id: 'worker_01990000-0002-7000-8000-000000000000' });
    const { stdout } = await list(platformWith({ ...file(one), ...file(other) }, { tty: ['stdout'], env: { TERM: 'dumb' } }));
    expect(stdout).toBe(
      `WORKER                STATE      AGE   OWNER   WAKE     REASON
worker_01990000-0001  suspended  3h0m  parent  by hand  needs a decision from t…
worker_01990000-0002  suspended  3h0m  parent  by hand  [2J漢字 second line
`,
    );
    for (const line of stdout.split('\n')) expect(cellsOf(line)).toBeLessThanOrEqual(80);
  });

  it('paints only on a terminal that wants it', async () => {
    const armedBy = { suspension_id: 'susp_2', armed_by: { pid: 666, host: 'host', boot_id: 'boot-1' } };
    const files = { ...file(parked(2, local, deadline(8))), ...waiters(armedBy) };
    expect((await list(platformWith(files, { tty: ['stdout'], env: { TERM: 'xterm' } }))).stdout).toContain('\u001b[31m\u001b[1mnobody');
    expect((await list(platformWith(files, { tty: ['stdout'], env: { TERM: 'xterm', NO_COLOR: '1' } }))).stdout).not.toContain('\u001b');
  });

  it('leaves out what is over unless asked for it', async () => {
    const ended = { status: 'completed' as const, suspension: null, finished_at: renderInstant(NOON + HOUR) };
    const files = {
      ...file(parked(1)),
      ...file(parked(2, {}, ended)),
      ...file(parked(3, {}, { status: 'cancelled', suspension: null, rejected: { at: 'x', by: 'operator', reason: 'obsolete' } })),
      ...file(parked(4)),
      // A copy of a snapshot from before its close says nothing of it.
      [`${WORKERS}/closed.index`]: `${id(4)}\n`,
    };
    const { stdout, stderr } = await list(platformWith(files));
    expect(stdout.match(/worker_/g)).toHaveLength(1);
    expect(stderr).toBe('harn: 3 workers not shown, done or closed; --all shows them\n');
    const [path = '', text = ''] = Object.entries(files).find(([name]) => name.includes(id(2))) ?? [];
    const over = { [path]: text };
    expect((await list(platformWith(over))).stderr).toBe('harn: 1 worker in .harn/workers: it is done or closed; --all shows it\n');
    const both: Record<string, string> = { ...files };
    for (const name of Object.keys(files)) if (name.includes(id(1)) || name.includes(id(4))) delete both[name];
    expect((await list(platformWith(both))).stderr).toBe('harn: 2 workers in .harn/workers: all are done or closed; --all shows them\n');
    const all = await rows(platformWith(files), '--all');
    expect(all.map(({ status, reason, age_ms }) => [status, reason, age_ms])).toEqual([
      ['suspended', 'waiting for a human', 3 * HOUR],
      ['completed', null, 2 * HOUR],
      ['cancelled', 'obsolete', null],
      ['cancelled', 'closed', null],
    ]);
    expect((await rows(platformWith(files), '--state', 'closed')).map((row) => row.id)).toEqual([id(3), id(4)]);
    expect((await rows(platformWith(files), '--state', 'completed,suspended')).map((row) => row.id)).toEqual([id(1), id(2)]);
  });

  it('sorts by age, state and wake, and keeps the order of creation among equals', async () => {
    const files = {
      ...file(parked(1, { suspended_at: renderInstant(NOON + HOUR) })),
      ...file(parked(2, local, deadline(9))),
      ...file(parked(3, local, deadline(4))),
      ...file(parked(4)),
    };
    const order = async (key: string): Promise<unknown[]> => (await rows(platformWith(files), '--sort', key)).map((row) => row.id);
    expect(await order('created')).toEqual([id(1), id(2), id(3), id(4)]);
    expect(await order('age')).toEqual([id(2), id(3), id(4), id(1)]);
    expect(await order('wake')).toEqual([id(3), id(2), id(1), id(4)]);
  });

  it('tells the next tick of a schedule', async () => {
    const conditions = { trigger: { kind: 'tick', provider: 'cron', schedule: '30 16 * * *', timezone: 'UTC' } };
    const armed = { trigger: true, deadline_at: null, on_event: null };
    const armedBy = { suspension_id: 'susp_1', armed_by: { pid: 4242, host: 'host', boot_id: 'boot-1' } };
    const platform = platformWith({ ...file(parked(1, { ...local, conditions }, { armed })), ...waiters(armedBy) });
    expect(await rows(platform)).toMatchObject([{ suspension: { next_wake_at: '2026-04-30T16:30:00.000Z' } }]);
  });

  it.each([
    [['--state', 'asleep'], 'harn: --state: asleep is no state; there are running, awaiting, suspended'],
    [['--sort', 'colour'], 'harn: --sort: colour is no key; there are created, age, state, wake\n'],
    [['--sort'], 'harn: --sort needs a value: --sort <key>\n'],
    [['worker_1'], 'harn: list takes no worker; harn workers show worker_1 shows one\n'],
    [['--wide'], 'harn: unknown option --wide; see harn workers list --help\n'],
  ])('%j is a usage error', async (options, text) => {
    const { code, stderr } = await list(platformWith({}), ...options);
    expect(code).toBe(2);
    expect(stderr).toContain(text);
  });

  it('a folder that cannot be read is an error that says so, and no defect of harn', async () => {
    const platform = platformWith(file(parked(1)));
    const refused = Object.assign(new Error("EACCES: permission denied, scandir '/project/.harn/workers'"), {
      code: 'EACCES',
      syscall: 'scandir',
    });
    const files = new Proxy(platform.files, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key);
        const refuse = (): never => {
          throw refused;
        };
        return key === 'list' ? refuse : typeof member === 'function' ? member.bind(target) : member;
      },
    });
    expect(await main(['workers', 'list'], { ...platform, files })).toBe(1);
    expect(platform.stdio.stderr).toBe("harn: EACCES: permission denied, scandir '/project/.harn/workers'\n");
    expect(await main(['workers', 'list', '--json'], { ...platform, files })).toBe(1);
    expect(JSON.parse(platform.stdio.stdout)).toMatchObject({ ok: false, data: null, error: { code: 'EACCES' } });
  });

  it('an empty folder and a missing one are no error', async () => {
    expect(await list(platformWith({}))).toEqual({ code: 0, stdout: '', stderr: 'harn: no workers in .harn/workers\n' });
  });
});

describe('harn workers list, in processes of its own', () => {
  let world: CliWorld;
  beforeEach(() => {
    world = new CliWorld();
  });
  afterEach(() => world.remove());

  const listed = (): Record<string, unknown>[] => JSON.parse(world.harn(['workers', 'list', '--json']).stdout).data.workers;

  it('T46: a run that parked with a timeout and ended leaves nobody who would wake the worker', () => {
    const park = {
      tool_calls: [{ name: 'agent_await_resumption', arguments: { reason: 'a pause', conditions: { timeout: { duration_minutes: 60 } } } }],
    };
    world.write('mock.jsonl', `${JSON.stringify(park)}\n`);
    world.write('work.harn', 'agent_loop("work", nil, {provider: "mock", tool_format: "native"})\n');
    expect(world.harn(['run', '--llm-mock', 'mock.jsonl', 'work.harn']).code).toBe(0);
    expect(listed()).toMatchObject([
      { status: 'suspended', reason: 'a pause', suspension: { attendance: 'unattended', armed_by: { alive: false } } },
    ]);
    unlinkSync(join(world.folder, '.harn/waiters.jsonl'));
    expect(listed()).toMatchObject([{ suspension: { attendance: 'unattended', armed_by: null } }]);
  });

  it('a worker that runs shows its process, and is interrupted once that is killed', async () => {
    world.write('mock.jsonl', `${JSON.stringify({ tool_calls: [{ name: 'hold', arguments: {} }] })}\n`);
    world.write(
      'work.harn',
      `tool hold() -> string {
  description "Waits for a file."
  println("holding")
  while !file_exists("go") { sleep(10ms) }
  return "done"
}
agent_loop("work", nil, {provider: "mock", tool_format: "native", tools: hold})
`,
    );
    const run = world.start(['run', '--llm-mock', 'mock.jsonl', 'work.harn']);
    await run.saw('holding');
    expect(listed()).toMatchObject([{ status: 'running', process: { pid: run.child.pid, alive: true }, suspension: null }]);
    run.child.kill('SIGKILL');
    await run.ended;
    expect(listed()).toMatchObject([{ status: 'interrupted', process: { pid: run.child.pid, alive: false } }]);
    writeFileSync(join(world.folder, '.harn/workers/torn.json'), '{"_type": "worker_sn');
    const table = world.harn(['workers', 'list']);
    expect(table.code).toBe(0);
    expect(table.stdout).toMatch(/interrupted +\S+ +pid \d+, gone +by hand/);
    expect(table.stdout).toMatch(/torn\.json +damaged/);
  });
});
