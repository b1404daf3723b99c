import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

/** Names of variables that the sources ask the environment for. */
function variablesRead(): string[] {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const text = files.map((name) => readFileSync(join(ROOT, 'src', name), 'utf8')).join('\n');
  return [...text.matchAll(/\benv(?:\.get)?\('(HARN_[A-Z_]+)'\)/g)].map(([, name = '']) => name);
}

test('the page on the environment names every variable of harn that is read, and no others', () => {
  const page = readFileSync(join(ROOT, 'docs/environment.md'), 'utf8');
  const named = [...page.matchAll(/`(HARN_[A-Z_]+)`/g)].map(([, name = '']) => name);
  expect([...new Set(named)].sort()).toEqual([...new Set(variablesRead())].sort());
});
