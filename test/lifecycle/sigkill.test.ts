import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { SeededRandom } from '../../src/platform/fake-platform.ts';
import type { Fault } from '../../src/platform/fault-points.ts';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import { readSnapshot } from '../../src/store/snapshot-file.ts';
import { testPlatform } from '../store/test-platform.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { bundledProcess } from './bundled-process.ts';
import { expectEffectsOnce } from './effects-once.ts';
import { effectsOf, type Plan, workerIdIn } from './loop-world.ts';
import { messagesOf } from './scripted-runner.ts';

/*
 * Real processes on real files that end by SIGKILL at chosen changes of files, two contenders at a time. What kills
 * them is themselves, so that no test has to guess when.
 */

let program: string;
const { files } = createNodePlatform();

const PLAN: Plan = [
  ['a', 'b'], { park: 'one' }, ['c', 'd', 'e'], ['f'], { park: 'two' }, ['g', 'h'], ['i', 'j'], ['k'], [],
]; // biome-ignore format: one step after another
const EFFECTS = PLAN.flatMap((step) => ('park' in step ? [] : step));
const KILLS = 200;

beforeAll(async () => {
  program = await bundledProcess(new URL('./mortal-process.ts', import.meta.url));
});

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly errors: string;
}

function run(directory: string, fault: Fault | undefined): Promise<Ended> {
  const args = [program, directory, JSON.stringify(PLAN), fault === undefined ? 'none' : JSON.stringify(fault)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (data: Buffer) => {
    errors += data.toString();
  });
  return new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal, errors })));
}

function snapshotOf(directory: string): JsonObject | undefined {
  const id = workerIdIn(files, directory);
  const path = join(directory, '.harn', 'workers', `${id}.json`);
  return id !== undefined && files.exists(path) ? (readSnapshot(testPlatform(), path).snapshot as JsonObject) : undefined;
}

/** Starts worker after worker and kills whoever goes on with it, until there were enough deaths; the last one is let live. */
async function killUntil(enough: number, seed: number): Promise<{ readonly kills: number; readonly finished: number }> {
  const random = new SeededRandom(seed, () => 0);
  const draw = (below: number): number => Math.floor(random.float() * below);
  const faultOf = (): Fault => ({ at: draw(30), how: (['killBefore', 'tear', 'killAfter'] as const)[draw(3)] ?? 'tear' });
  let kills = 0;
  let finished = 0;
  while (kills < enough) {
    const directory = scratchDirectory();
    let generation = 0;
    for (let step = 0; ; step++) {
      const isLast = kills >= enough || step > 40;
      const contenders = step % 3 === 2 && !isLast && workerIdIn(files, directory) !== undefined ? 2 : 1;
      const ends = await Promise.all(Array.from({ length: contenders }, () => run(directory, isLast ? undefined : faultOf())));
      kills += ends.filter(({ signal }) => signal === 'SIGKILL').length;
      // The very first record was torn: there was no worker yet, and nothing had happened.
      if (ends.some(({ errors }) => errors.includes('no such file'))) {
        expect([snapshotOf(directory), effectsOf(files, directory)]).toEqual([undefined, []]);
        break;
      }
      for (const { code, signal, errors } of ends) {
        if (signal !== 'SIGKILL') expect([0, 3], errors).toContain(code);
        if (code === 3) expect(errors).toMatch(/^HARN-SUS-00[36] /);
      }
      generation = expectWhole(directory, generation);
      const snapshot = snapshotOf(directory);
      if (snapshot?.status !== 'completed') continue;
      expectEffectsOnce(files, directory, messagesOf(snapshot as never), EFFECTS);
      finished++;
      break;
    }
  }
  return { kills, finished };
}

/** Between two deaths: every snapshot is whole, nothing ran twice, and no generation was taken back. */
function expectWhole(directory: string, generation: number): number {
  const effects = effectsOf(files, directory);
  expect(effects).toEqual([...new Set(effects)]);
  const resume = snapshotOf(directory)?.resume as JsonObject | undefined;
  const next = Number(resume?.generation ?? 0);
  expect(next).toBeGreaterThanOrEqual(generation);
  return next;
}

test(`D3 T14 T16: ${KILLS} processes that are killed repeat nothing, tear nothing and never have two winners`, async () => {
  const chains = await Promise.all([killUntil(KILLS / 2, 7), killUntil(KILLS / 2, 8)]);
  for (const { kills, finished } of chains) {
    expect(kills).toBeGreaterThanOrEqual(KILLS / 2);
    expect(finished).toBeGreaterThan(0);
  }
}, 300_000);
