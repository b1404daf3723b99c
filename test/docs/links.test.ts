import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { pages } from './examples.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Anchors of headings, as GitHub makes them. */
function anchorsOf(file: string): ReadonlySet<string> {
  const headings = readFileSync(file, 'utf8').matchAll(/^#{1,6} (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

test('every link of the documentation leads somewhere', () => {
  const broken = pages(ROOT).flatMap((page) => {
    const prose = readFileSync(join(ROOT, page), 'utf8').replaceAll(/^```.*?^```$|`[^`\n]*`/gms, '');
    const links = prose.matchAll(/\]\((?!https?:)([^)\s]+)\)/g);
    return [...links].flatMap(([, link = '']) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
      const isThere = existsSync(target) && (anchor === undefined || anchorsOf(target).has(anchor));
      return isThere ? [] : [`${page}: ${link}`];
    });
  });
  expect(broken).toEqual([]);
});
