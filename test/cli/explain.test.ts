import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { ALL_CODES, explainCommand } from '../../src/cli/commands/explain.ts';
import { cellsOf } from '../../src/diagnostics/cell-width.ts';
import { createFakePlatform } from '../../src/platform/fake-platform.ts';

const SOURCES = resolve(import.meta.dirname, '../../src');

it('every code that the sources print has a page, and only one', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(ts|harn)$/.test(name));
  const printed = new Set(files.flatMap((name) => readFileSync(join(SOURCES, name), 'utf8').match(/HARN-[A-Z]+-\d{3}\b/g) ?? []));
  const codes = ALL_CODES.map(({ code }) => code);
  expect(new Set(codes).size).toBe(codes.length);
  expect([...printed].filter((code) => !codes.includes(code))).toEqual([]);
});

it.each(ALL_CODES.map((entry) => [entry.code, entry] as const))('the page of %s fits a terminal and leaves nothing out', (code, entry) => {
  const platform = createFakePlatform();
  expect(explainCommand(platform, code, {})).toBe(0);
  const page = platform.stdio.stdout;
  const words = page.replaceAll(/\s+/g, ' ');
  for (const text of [entry.title, entry.cause, entry.fix, ...(entry.fields ?? [])]) expect(words).toContain(text);
  const prose = page.split('How to get it:')[0]?.split('\n').slice(3) ?? [];
  for (const line of prose) expect(cellsOf(line)).toBeLessThanOrEqual(80);
});

it.each([
  ['sus-6', 'there is no code sus-6; did you mean HARN-SUS-006? harn explain lists them all'],
  ['SUS6', 'there is no code SUS6; did you mean HARN-SUS-006? harn explain lists them all'],
  ['HARN-SUS-06', 'there is no code HARN-SUS-06; did you mean HARN-SUS-006? harn explain lists them all'],
  ['harn_nam_3', 'there is no code harn_nam_3; did you mean HARN-NAM-003? harn explain lists them all'],
  ['HARN-SUZ-006', 'there is no code HARN-SUZ-006; did you mean HARN-SUS-006? harn explain lists them all'],
  ['met', 'there is no code met; there are HARN-MET-001; harn explain lists them all'],
  ['foo', 'there is no code foo; harn explain lists them all'],
])('%s names what is near', (code, message) => {
  expect(() => explainCommand(createFakePlatform(), code, {})).toThrow(message);
});

it('each code of the lifecycle says which fields its error has', () => {
  const lifecycle = ALL_CODES.filter(({ code }) => code.startsWith('HARN-SUS-'));
  expect(lifecycle.map(({ code }) => code)).toEqual(
    Array.from({ length: 10 }, (_, index) => `HARN-SUS-${String(index + 1).padStart(3, '0')}`),
  );
  for (const { code, fields } of lifecycle) expect(fields, code).not.toEqual(undefined);
});
