import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import { compileProgram } from '../../src/runtime/program/compile-program.ts';
import { instantiate } from '../../src/runtime/program/module-function.ts';
import { runScript } from '../../src/runtime/run.ts';

/**
 * Programs in fixtures/language, each with what it prints (NAME.expected) and how it fails (NAME.error). Every program
 * runs twice: as it is compiled, and with every function made asynchronous, which must not change anything.
 */
const FOLDER = join(import.meta.dirname, '../../fixtures/language');
const PROGRAMS = readdirSync(FOLDER).filter((name) => name.endsWith('.harn'));

interface Result {
  readonly printed: string;
  readonly error: string;
}

async function run(path: string, forceAsync: boolean): Promise<Result> {
  let printed = '';
  const platform = createNodePlatform();
  const outcome = await runScript({
    platform,
    script: { path, text: readFileSync(path, 'utf8') },
    argv: [],
    stateRoot: '/nowhere/.harn',
    output: {
      out: (piece) => {
        printed += piece;
      },
      err: () => {},
    },
    programs: {
      compile: async (scriptPath, text) => compileProgram(platform.files, scriptPath, text, { forceAsync }),
      instantiate: (module) => instantiate(module).run,
    },
  });
  switch (outcome.kind) {
    case 'failed':
      return { printed, error: `${outcome.failure.message}\n` };
    case 'rejected':
      return { printed, error: outcome.diagnostics.map((diagnostic) => `${diagnostic.message}\n`).join('') };
    case 'exit':
      return { printed, error: `exit ${outcome.exitCode}\n` };
    case 'value':
      return { printed, error: '' };
  }
}

function expectedOf(path: string): Result {
  const read = (extension: string): string => {
    const file = path.replace(/\.harn$/, extension);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };
  return { printed: read('.expected'), error: read('.error') };
}

function rewrite(path: string, result: Result): void {
  for (const [extension, text] of [
    ['.expected', result.printed],
    ['.error', result.error],
  ] as const) {
    const file = path.replace(/\.harn$/, extension);
    if (text !== '') writeFileSync(file, text);
    else rmSync(file, { force: true });
  }
}

describe.each(PROGRAMS)('%s', (name) => {
  const path = join(FOLDER, name);

  test('prints what stands beside it', async () => {
    const result = await run(path, false);
    if (process.env.UPDATE_GOLDEN === '1') rewrite(path, result);
    expect(result).toEqual(expectedOf(path));
  });

  test('does the same when everything waits', async () => {
    expect(await run(path, true)).toEqual(expectedOf(path));
  });
});

test('no expectation is left without its program', () => {
  const expectations = readdirSync(FOLDER).filter((name) => !name.endsWith('.harn'));
  expect(expectations.filter((name) => !PROGRAMS.includes(`${basename(name).replace(/\.\w+$/, '')}.harn`))).toEqual([]);
});
