import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CliWorld } from './harn.ts';

/** Programs as users write them, in fixtures/examples: they print what stands beside them, and the check has nothing to say. */
const FOLDER = join(import.meta.dirname, '../../fixtures/examples');
const world = new CliWorld();
afterAll(() => world.remove());

test.each([
  ['log-report', 2],
  ['order-client', 0],
  ['ci-triage', 1],
])('%s ends with %i', (name, code) => {
  const program = join(FOLDER, `${name}.harn`);
  const stdout = readFileSync(join(FOLDER, `${name}.expected`), 'utf8');
  expect(world.harn(['run', program])).toMatchObject({ code, stdout });
  expect(world.harn(['check', program])).toMatchObject({ code: 0, stderr: expect.stringContaining('0 errors, 0 warnings') });
});
