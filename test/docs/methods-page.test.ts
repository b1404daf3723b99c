import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ITER_METHODS, PRODUCER_METHODS } from '../../src/runtime/methods/iterate-methods.ts';
import { DICT_METHODS } from '../../src/runtime/methods/methods-dict.ts';
import { LIST_METHODS } from '../../src/runtime/methods/methods-list.ts';
import { RANGE_METHODS } from '../../src/runtime/methods/methods-range.ts';
import { SET_METHODS } from '../../src/runtime/methods/methods-set.ts';
import { STRING_METHODS } from '../../src/runtime/methods/methods-string.ts';

const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/language/methods.md'), 'utf8');

/** Names in the first column of the table under a heading. */
function namesUnder(heading: string): string[] {
  const section = PAGE.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const cells = [...section.matchAll(/^\| (`.*?`) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)\(/g)].map(([, name = '']) => name)).sort();
}

test.each([
  ['List', LIST_METHODS],
  ['String', STRING_METHODS],
  ['Dict', DICT_METHODS],
  ['Set', SET_METHODS],
  ['Range', RANGE_METHODS],
  ['Iterator', ITER_METHODS],
  ['Generator and stream', PRODUCER_METHODS],
] as const)('the page on methods names those of %s, all and no others', (heading, table) => {
  expect(namesUnder(heading)).toEqual(Object.keys(table).sort());
});
