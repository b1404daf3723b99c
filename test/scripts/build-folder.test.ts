import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { publishBuild, removeOtherBuilds } from '../../scripts/build-folder.ts';
import { scratchDirectory } from '../support/scratch.ts';

function emptyDist(): string {
  return join(scratchDirectory(), 'dist');
}

/** Writes a build of one file that says who made it. */
function writer(id: string, text: string): (aside: string) => void {
  return (aside) => {
    mkdirSync(join(aside, 'dist', id), { recursive: true });
    writeFileSync(join(aside, 'dist', id, 'main.cjs'), text);
  };
}

function madeBy(dist: string): string {
  return readFileSync(join(dist, readFileSync(join(dist, 'current'), 'utf8'), 'main.cjs'), 'utf8');
}

describe('builds that run at once', () => {
  test('of the same sources leave one build, that of the first to finish', () => {
    const dist = emptyDist();
    publishBuild(dist, 'a', (aside) => {
      writer('a', 'slow')(aside);
      publishBuild(dist, 'a', writer('a', 'quick'));
    });
    expect(madeBy(dist)).toBe('quick');
    expect(readdirSync(dist).sort()).toEqual(['a', 'current']);
  });

  test('of different sources keep what the other one works in, also when they clean up', () => {
    const dist = emptyDist();
    publishBuild(dist, 'a', (aside) => {
      publishBuild(dist, 'b', writer('b', 'quick'));
      removeOtherBuilds(dist, 'b', 'none');
      writer('a', 'slow')(aside);
    });
    expect(madeBy(dist)).toBe('slow');
    expect(readdirSync(dist).sort()).toEqual(['a', 'b', 'current']);
  });
});

test('a build that fails leaves the current one and nothing of itself', () => {
  const dist = emptyDist();
  publishBuild(dist, 'a', writer('a', 'sound'));
  const fail = (): void => {
    throw new Error('it does not run');
  };
  expect(() => publishBuild(dist, 'b', fail)).toThrow('it does not run');
  expect(madeBy(dist)).toBe('sound');
  expect(readdirSync(dist).sort()).toEqual(['a', 'current']);
});

test('recent builds stay for processes that run them, unless all are to go', () => {
  const dist = emptyDist();
  for (const id of ['old', 'recent', 'new']) publishBuild(dist, id, writer(id, id));
  utimesSync(join(dist, 'old'), 0, 0);
  removeOtherBuilds(dist, 'new', 'recent');
  expect(readdirSync(dist).sort()).toEqual(['current', 'new', 'recent']);
  removeOtherBuilds(dist, 'new', 'none');
  expect(readdirSync(dist).sort()).toEqual(['current', 'new']);
});
