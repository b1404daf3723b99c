import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/platform/platform.ts';
import { LEASE_MS } from '../../src/store/claim-file.ts';
import { testPlatform } from '../store/test-platform.ts';
import { bundledProcess } from './bundled-process.ts';
import { createWorld } from './scratch-world.ts';
import { turns } from './scripted-runner.ts';
import { close, outcome, resume, runRoot } from './world.ts';

const RACERS = 24;
let program: string;

beforeAll(async () => {
  program = await bundledProcess(new URL('./resume-process.ts', import.meta.url));
});

interface Racer {
  readonly process: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<void>;
  saw(text: string): Promise<void>;
}

function startRacer(args: readonly string[]): Racer {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  const listeners = new Set<() => void>();
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
    for (const listener of listeners) listener();
  });
  return {
    process: child,
    output: () => output,
    ended,
    saw: (text) =>
      new Promise((resolve, reject) => {
        void ended.then(() => reject(new Error(`ended before it said ${text}: ${output}`)));
        const look = (): void => {
          if (!output.includes(text)) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
      }),
  };
}

async function parked(): Promise<{ directory: string; snapshot: string; effects: string; barrier: string }> {
  const world = createWorld();
  const end = await runRoot(world, 'race', turns({ park: { reason: 'first' } }));
  if (end.kind !== 'parked') throw new Error('did not park');
  const snapshot = end.suspension.snapshot_path as string;
  const effects = join(world.directory, 'effects');
  writeFileSync(effects, '');
  return { directory: world.directory, snapshot, effects, barrier: join(world.directory, 'go') };
}

describe('R16 T01 processes released at once on one snapshot', () => {
  for (const then of ['end', 'park'] as const) {
    it(`have one winner when the run ${then === 'end' ? 'ends in one turn' : 'parks again'}`, { timeout: 120_000 }, async () => {
      const { directory, snapshot, effects, barrier } = await parked();
      const racers = Array.from({ length: RACERS }, () => startRacer([directory, snapshot, barrier, effects, then]));
      await Promise.all(racers.map((racer) => racer.saw('ready')));
      writeFileSync(barrier, '');
      await Promise.all(racers.map((racer) => racer.ended));
      const outcomes = racers.map((racer) => /outcome (.*)/.exec(racer.output())?.[1]).sort();
      const winner = then === 'end' ? 'completed' : 'suspended';
      expect(outcomes).toEqual([...Array.from({ length: RACERS - 1 }, () => 'HARN-SUS-006'), winner]);
      expect(readFileSync(effects, 'utf8').trim().split('\n')).toHaveLength(1);
      expect(readdirSync(join(directory, '.harn', 'workers'))).toEqual([snapshot.split('/').at(-1)]);
    });
  }

  it('R16 R19 resumes and closes of several processes at once leave a worker that ran once or is closed', {
    timeout: 120_000,
  }, async () => {
    for (let round = 0; round < 6; round++) {
      const { directory, snapshot, effects, barrier } = await parked();
      const jobs = Array.from({ length: 8 }, (_, index) => ((index + round) % 2 === 0 ? 'end' : 'close'));
      const racers = jobs.map((job) => startRacer([directory, snapshot, barrier, effects, job]));
      await Promise.all(racers.map((racer) => racer.saw('ready')));
      writeFileSync(barrier, '');
      await Promise.all(racers.map((racer) => racer.ended));
      const outcomes = racers.map((racer) => /outcome (.*)/.exec(racer.output())?.[1] ?? racer.output());
      const { status } = JSON.parse(readFileSync(snapshot, 'utf8')) as { status: string };
      const ran = readFileSync(effects, 'utf8')
        .split('\n')
        .filter((line) => line !== '').length;
      expect([status, ran], outcomes.join('; ')).toEqual(status === 'completed' ? ['completed', 1] : ['cancelled', 0]);
      expect(outcomes.filter((text) => text === 'completed')).toHaveLength(ran);
      const allowed = ['completed', `closer saw ${status}`, 'HARN-SUS-003', 'HARN-SUS-006', 'HARN-SUS-010'];
      expect(outcomes.filter((text) => !allowed.includes(text))).toEqual([]);
    }
  });

  it('T04 a winner that is killed after its claim is replaced at once', { timeout: 60_000 }, async () => {
    const { directory, snapshot, effects, barrier } = await parked();
    writeFileSync(barrier, '');
    const racer = startRacer([directory, snapshot, barrier, effects, 'hang']);
    await racer.saw('claimed');
    racer.process.kill('SIGKILL');
    await racer.ended;
    const world = createWorld({ directory, live: turns({}, { say: 'recovered', end: true }) });
    const running = await resume(world, snapshot);
    expect(await outcome(world, String(running.id))).toMatchObject({ status: 'completed', result: { summary: 'recovered' } });
    expect(world.lifecycle.audit.take().map(({ kind }) => kind)).toContain('worker_interrupted_recovered');
  });

  it('T05 D2 an owner that was stopped and goes on later is fenced off: it writes nothing and starts nothing', {
    timeout: 60_000,
  }, async () => {
    const { directory, snapshot, effects, barrier } = await parked();
    writeFileSync(barrier, '');
    const first = startRacer([directory, snapshot, barrier, effects, 'wait']);
    await first.saw('in tool');
    const here = createWorld({ directory });
    await expect(resume(here, snapshot)).rejects.toMatchObject({ code: 'HARN-SUS-003', data: { status: 'running' } });
    await expect(close(here, snapshot)).rejects.toMatchObject({
      code: 'HARN-SUS-006',
      message: expect.stringMatching(/^HARN-SUS-006: close_agent: worker \S+ changed before close could complete \(status=running\)$/),
      data: { operation: 'close_agent', detail: { owner: 'other-process' } },
    });
    first.process.kill('SIGSTOP');
    // On the clock of this process the lease of the stopped one is over.
    const { clock } = testPlatform();
    const realClock = { ...clock, now: () => clock.now() + LEASE_MS + 1000, timer: clock.timer.bind(clock) } as Clock;
    const live = turns({}, { say: 'elsewhere' }, { say: 'done', end: true });
    const successor = createWorld({ directory, realClock, live });
    const { id } = await resume(successor, snapshot);
    expect(await outcome(successor, String(id))).toMatchObject({ status: 'completed', result: { summary: 'done' } });
    const before = { bytes: readFileSync(snapshot, 'utf8'), files: readdirSync(join(directory, '.harn', 'workers')) };
    writeFileSync(`${barrier}.release`, '');
    first.process.kill('SIGCONT');
    await first.ended;
    expect(first.output()).toContain('outcome HARN-SUS-006');
    expect(first.process.exitCode).toBe(1);
    expect({ bytes: readFileSync(snapshot, 'utf8'), files: readdirSync(join(directory, '.harn', 'workers')) }).toEqual(before);
    expect(readFileSync(effects, 'utf8').trim().split('\n')).toHaveLength(1);
  });
});
