import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

/**
 * What a pack of the build makes a process load (scripts/bundle.ts). A row that fails says that a module now imports
 * something of another pack: load that lazily, or move what both need to an earlier pack.
 */
const DIST = resolve(import.meta.dirname, '../../dist');
const BUILD = join(DIST, readFileSync(join(DIST, 'current'), 'utf8'));

const ROWS: readonly (readonly [pack: string, others: readonly string[]])[] = [
  ['base', []],
  ['main', ['base']],
  ['messages', ['base']],
  ['toml', []],
  ['models', ['base', 'messages']],
  ['compile', ['base', 'main', 'toml']],
  ['files', ['base', 'main']],
  ['workers', ['base', 'main']],
  ['agent', ['base', 'main', 'messages', 'workers']],
];

describe('loading a pack loads no more than the packs that it needs at once', () => {
  test.each(ROWS)('%s', (pack, others) => {
    expect(loadedWith(pack).sort()).toEqual([...others, pack].sort());
  });
});

/** The pack itself and every pack that has to be evaluated before it is. */
function loadedWith(pack: string, found: string[] = []): string[] {
  if (!found.includes(pack)) {
    found.push(pack);
    for (const other of neededAtOnce(pack)) loadedWith(other, found);
  }
  return found;
}

/** An `import()` of the source is a `require` inside of a callback; what can wait is asked for with its names. */
function neededAtOnce(pack: string): string[] {
  const text = readFileSync(join(BUILD, `${pack}.cjs`), 'latin1');
  return [...text.matchAll(/(then\(\(\)=>[^;{}]*?)?\brequire\("\.\/([\w-]+)\.cjs#[^"?]*"/g)].flatMap(([, lazily, other]) =>
    lazily === undefined ? [other as string] : [],
  );
}
