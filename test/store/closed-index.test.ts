import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FaultyFiles } from '../../src/platform/fault-points.ts';
import { CLOSED_INDEX, isMarkedClosed, markClosed } from '../../src/store/closed-index.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { testPlatform } from './test-platform.ts';

const { files } = testPlatform();

it('13.17 the index of closed workers knows whole ids, and nobody where it is missing', () => {
  const directory = scratchDirectory();
  expect(isMarkedClosed(files, directory, 'worker_1')).toBe(false);
  for (const id of ['worker_1', 'worker_22']) markClosed(files, directory, id);
  expect(['worker_1', 'worker_22', 'worker_2'].map((id) => isMarkedClosed(files, directory, id))).toEqual([true, true, false]);
});

it('13.17 a mark is flushed before the close is told', () => {
  const directory = scratchDirectory();
  const faulty = new FaultyFiles(files);
  markClosed(faulty, directory, 'worker_1');
  const path = join(directory, CLOSED_INDEX);
  expect(faulty.calls).toEqual([`open ${path} append`, `handle.write ${path}`, `handle.sync ${path}`]);
});
