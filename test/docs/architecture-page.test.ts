import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/ARCHITECTURE.md'), 'utf8');
const quoted = [...page.matchAll(/`([^`\n]+)`/g)].map(([, text]) => String(text));
const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const folders = ['', 'src', ...readdirSync(join(ROOT, 'src')).map((name) => join('src', name))];

describe('the map of the code', () => {
  it('names only files that exist', () => {
    const files = quoted.filter((text) => /^[\w./-]+\.(?:ts|js|harn)$/.test(text));
    expect(files.length).toBeGreaterThan(50);
    expect(files.filter((file) => !folders.some((folder) => existsSync(join(ROOT, folder, file))))).toEqual([]);
  });

  it('names only functions, methods and classes that exist', () => {
    const names = quoted.filter((text) => /^(?:[a-z]+[A-Z]\w*|[A-Z]\w+)(?:\.\w+)?$/.test(text));
    expect(names.length).toBeGreaterThan(30);
    const code = sources.map((file) => readFileSync(join(ROOT, 'src', file), 'utf8')).join('\n');
    const words = new Set(code.match(/\w+/g));
    expect(names.filter((name) => !name.split('.').every((part) => words.has(part)))).toEqual([]);
  });

  it('lists every folder of the sources', () => {
    const section = page.slice(page.indexOf('## Folders and arrows'), page.indexOf('## Reading paths'));
    const rows = [...section.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell]) => [...String(cell).matchAll(/`([^`]+)`/g)]);
    const listed = rows.map(([, folder]) => folder).filter((folder) => folder !== 'src');
    const withCode = new Set(sources.map((file) => dirname(file)));
    // The modules in Harn lie below stdlib as scripts import them.
    expect(listed.sort()).toEqual([...withCode].sort());
  });
});
