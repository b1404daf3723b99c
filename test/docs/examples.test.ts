import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sharedDirectory } from '../support/scratch.ts';
import { examplesOf, readExamples } from './examples.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const folder = sharedDirectory();

describe('reading examples from a page', () => {
  test('a text block directly behind a harn block is its output', () => {
    const page = 'Intro\n\n```harn\nprintln(1)\n```\n\n```text\n1\n```\n\n```harn\nprintln(2)\n```\n\nProse.\n\n```text\nother\n```\n';
    expect(examplesOf('p.md', page)).toEqual([
      { page: 'p.md', line: 3, source: 'println(1)\n', output: '1', mustFail: false },
      { page: 'p.md', line: 11, source: 'println(2)\n', output: undefined, mustFail: false },
    ]);
  });

  test('the word error marks a program that must fail', () => {
    expect(examplesOf('p.md', '```harn error\nthrow "x"\n```\n')[0]?.mustFail).toBe(true);
  });
});

describe('every example in the documentation runs and prints what the page says', () => {
  test.each(readExamples(ROOT).map((example) => [`${example.page}:${example.line}`, example] as const))('%s', (name, example) => {
    const script = join(folder, `${name.replaceAll(/[^A-Za-z0-9]/g, '-')}.harn`);
    writeFileSync(script, example.source);
    const result = spawnSync(process.execPath, [join(ROOT, 'bin/harn.js'), 'run', script], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1', TMPDIR: folder, HARN_STATE_DIR: join(folder, 'state'), HARN_LLM_CALLS_DISABLED: '1' },
      timeout: 30_000,
    });
    if (example.mustFail) {
      expect(result.status, result.stdout).not.toBe(0);
      if (example.output !== undefined) expect(result.stderr).toContain(example.output.trim());
      return;
    }
    expect(result.stderr, `exit ${result.status}`).not.toContain('error:');
    expect(result.status, result.stderr).toBe(0);
    if (example.output !== undefined) expect(result.stdout.trimEnd()).toBe(example.output.trimEnd());
  });
});
