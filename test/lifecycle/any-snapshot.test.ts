import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HarnError } from '../../src/base/harn-error.ts';
import type { Json, JsonObject } from '../../src/base/json.ts';
import { FakeFiles } from '../../src/platform/fake-files.ts';
import { FaultyFiles } from '../../src/platform/fault-points.ts';
import type { Processes } from '../../src/platform/platform.ts';
import { readSnapshot, renderSnapshot } from '../../src/store/snapshot-file.ts';
import { testPlatform } from '../store/test-platform.ts';
import { createLoopWorld, type Plan, workerIdIn } from './loop-world.ts';
import { resume, workerOf } from './world.ts';

/**
 * A snapshot in which one field was replaced by whoever can make a checksum. Either it is refused by its field, or the
 * loop goes on to an end: no error of ours in the middle, nothing that waits for ever, no prototype that changed.
 */
const PLAN: Plan = [['a', 'b'], { park: 'need an answer' }, ['c'], []];
const DIRECTORY = '/project';
const PROCESSES = { pid: 1, bootId: () => 'boot', isAlive: () => false } as unknown as Processes;
const REFUSALS = ['HARN-SUS-003', 'HARN-SUS-004', 'HARN-SUS-006', 'HARN-SUS-010'];

async function parked(): Promise<{ readonly id: string; readonly document: JsonObject }> {
  const files = new FakeFiles();
  await createLoopWorld(DIRECTORY, PLAN, { files, processes: PROCESSES }).runRoot();
  const id = workerIdIn(files, DIRECTORY) ?? '';
  const { snapshot } = readSnapshot(testPlatform({ files }), join(DIRECTORY, '.harn/workers', `${id}.json`));
  return { id, document: snapshot as unknown as JsonObject };
}

/** The journal of a process that died in its second turn, with every kind of record. */
async function interrupted(): Promise<{ readonly id: string; readonly records: readonly JsonObject[] }> {
  const disk = new FakeFiles();
  const plan: Plan = [['a', 'b'], ['c', 'd', 'e'], []];
  for (let at = 0; ; at++) {
    const files = new FaultyFiles(disk, { at, how: 'killBefore' });
    let isOver = false;
    void createLoopWorld(DIRECTORY, plan, { files, processes: PROCESSES })
      .runRoot()
      .catch(() => undefined)
      .finally(() => {
        isOver = true;
      });
    while (!files.isDead && !isOver) await new Promise((resolve) => setImmediate(resolve));
    const id = workerIdIn(disk, DIRECTORY);
    const text = id === undefined ? '' : disk.readText(join(DIRECTORY, '.harn/workers', `${id}.journal.jsonl`));
    const records = text.split('\n').filter((line) => line !== '');
    if (id !== undefined && records.length >= 9) return { id, records: records.map((line) => JSON.parse(line) as JsonObject) };
    // Looks at the clock come between the file calls of a slow machine, so the point may have been passed over.
    if (isOver && !files.isDead) at = -1;
    disk.remove(DIRECTORY);
    disk.mkdir(DIRECTORY);
  }
}

/** Paths of everything in a document, down to a depth. */
function pathsIn(value: Json, depth: number, path: readonly string[] = []): (readonly string[])[] {
  if (depth === 0 || typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, part]) => pathsIn(part as Json, depth - 1, [...path, key]))];
}

function replaced(value: Json, [key, ...rest]: readonly string[], by: Json | undefined): Json {
  if (key === undefined) return by ?? null;
  const copy = (Array.isArray(value) ? [...(value as Json[])] : { ...(value as JsonObject) }) as Record<string, Json>;
  if (rest.length === 0 && by === undefined) delete copy[key];
  else copy[key] = replaced(copy[key] ?? null, rest, by);
  return copy as Json;
}

const hostile = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
  fc.constantFrom<Json>('', '../../etc/passwd', 'file:///etc/passwd', -1, 1e300, [], {}, null, 'constructor'),
  fc.constant(JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}') as Json),
);

/** Resumes what lies there: only a refusal that changes nothing, or an end, will do. */
async function expectRefusalOrEnd(files: FakeFiles, id: string, target: string, what: string): Promise<void> {
  const before = files.readText(target);
  const world = createLoopWorld(DIRECTORY, PLAN, { files, processes: PROCESSES });
  try {
    await resume(world, target, { input: 'go on', mayReadResult: false, startedAt: Date.now() + 1 });
    const worker = world.lifecycle.registry.list()[0] ?? workerOf(world, id);
    await worker.atRest();
    const { status, latest_error: problem } = worker.record;
    // The model answers by the turns that it sees: with one less it parks once more. Who says so is retriggerable.
    expect(['completed', 'suspended', 'awaiting'], `${what}: ${problem}`).toContain(status);
  } catch (error) {
    if (!(error instanceof HarnError)) throw new Error(`${what}: ${String(error)}`, { cause: error });
    expect(REFUSALS, `${what}: ${error.message}`).toContain(error.code);
    expect(files.readText(target)).toBe(before);
  }
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  const outside = files.list('/').filter((name) => !['project', 'tmp'].includes(name));
  expect([outside, files.list('/tmp')]).toEqual([[], []]);
}

describe('T24 any field', () => {
  test('T24 of a snapshot is refused, or the loop goes on to an end', { timeout: 60_000 }, async () => {
    const { id, document } = await parked();
    const paths = pathsIn(document, 5).filter((path) => path.length > 0 && !['integrity', '_type'].includes(path[0] ?? ''));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), fc.option(hostile, { nil: undefined }), async (path, by) => {
        const files = new FakeFiles();
        const target = join(DIRECTORY, '.harn/workers', `${id}.json`);
        files.mkdir(join(DIRECTORY, '.harn/workers'));
        files.write(target, renderSnapshot(replaced(document, path, by) as never).bytes);
        await expectRefusalOrEnd(files, id, target, path.join('.'));
      }),
      { numRuns: 400 },
    );
  });

  test('T24 of a journal is refused, or the loop goes on to an end', { timeout: 60_000 }, async () => {
    const { id, records } = await interrupted();
    expect(new Set(records.map(({ t }) => t))).toEqual(new Set(['open', 'answer', 'begin', 'result', 'turn']));
    const paths = records.flatMap((record, index) => pathsIn(record, 4).map((path) => ({ index, path })));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), fc.option(hostile, { nil: undefined }), async ({ index, path }, by) => {
        const files = new FakeFiles();
        files.mkdir(join(DIRECTORY, '.harn/workers'));
        const target = join(DIRECTORY, '.harn/workers', `${id}.journal.jsonl`);
        const lines = records.map((record, at) => JSON.stringify(at === index ? replaced(record, path, by) : record));
        files.write(target, `${lines.join('\n')}\n`);
        await expectRefusalOrEnd(files, id, target, `${index}.${path.join('.')}`);
      }),
      { numRuns: 400 },
    );
  });
});
