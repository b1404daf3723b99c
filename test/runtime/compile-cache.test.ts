import { describe, expect, test } from 'vitest';
import { createFakePlatform, type FakePlatform } from '../../src/platform/fake-platform.ts';
import { CompileCache } from '../../src/runtime/program/compile-cache.ts';
import { compileProgram } from '../../src/runtime/program/compile-program.ts';
import { CachedPrograms } from '../../src/runtime/program/program-source.ts';
import { runScript } from '../../src/runtime/run.ts';

const MAIN = '/app/main.harn';
const FILES = {
  [MAIN]: 'import "./helper"\nprintln("${twice(4)} ${len([1, 2])}")',
  '/app/helper.harn': 'pub fn twice(x) { return x * 2 }',
};

/** Packages in an ancestor of the script's directory. */
const PACKAGES = {
  '/.harn/packages/calc.harn': 'pub fn twice(x) { return x * 2 }',
  '/.harn/packages/kit/harn.toml': '[exports]\ncalc = "old.harn"\n',
  '/.harn/packages/kit/old.harn': 'pub fn twice(x) { return x * 2 }',
  '/.harn/packages/kit/new.harn': 'pub fn twice(x) { return 3 }',
};

function world(env: Readonly<Record<string, string>> = {}): FakePlatform {
  return createFakePlatform({ cwd: '/app', files: FILES, env });
}

function write({ files }: FakePlatform, path: string, text: string): void {
  files.mkdir(path.slice(0, path.lastIndexOf('/')), 0o700);
  files.write(path, text);
}

interface CachedRun {
  readonly printed: string;
  readonly wasKnown: boolean;
}

/** One start of the program, as the command line does it. */
async function run(platform: FakePlatform, buildId = 'build'): Promise<CachedRun> {
  const cache = new CompileCache(platform, buildId);
  const programs = new CachedPrograms(platform, cache);
  const text = platform.files.readText(MAIN);
  const wasKnown = new CompileCache(platform, buildId).find(MAIN, text) !== undefined;
  let printed = '';
  await runScript({
    platform,
    script: { path: MAIN, text },
    argv: [],
    stateRoot: '/app/.harn',
    output: {
      out: (piece) => {
        printed += piece;
      },
      err: () => {},
    },
    programs,
  });
  programs.keep();
  return { printed, wasKnown };
}

function entries(platform: FakePlatform, directory: string): string[] {
  return platform.files.list(directory).map((name) => `${directory}/${name}`);
}

describe('compiled programs', () => {
  test('are taken from the cache the second time and do the same', async () => {
    const platform = world();
    expect(await run(platform)).toEqual({ printed: '8 2\n', wasKnown: false });
    expect(await run(platform)).toEqual({ printed: '8 2\n', wasKnown: true });
  });

  test.each([
    ['the script', MAIN, 'println("new")', 'new\n'],
    ['an imported module', '/app/helper.harn', 'pub fn twice(x) { return x * 20 }', '80 2\n'],
  ])('are compiled again when %s changes', async (_what, path, text, printed) => {
    const platform = world();
    await run(platform);
    platform.files.write(path, text);
    expect(await run(platform)).toEqual({ printed, wasKnown: false });
  });

  test.each([
    ['a file appears that comes before the module', 'import "./helper"', '/app/helper', 'pub fn twice(x) { return 1 }', '1 2\n'],
    [
      'a package takes the place of one further out',
      'import "calc"',
      '/app/.harn/packages/calc.harn',
      'pub fn twice(x) { return 2 }',
      '2 2\n',
    ],
    ['a manifest exports another file', 'import "kit/calc"', '/.harn/packages/kit/harn.toml', '[exports]\ncalc = "new.harn"\n', '3 2\n'],
  ])('are compiled again when %s', async (_what, line, path, text, printed) => {
    const platform = world();
    platform.files.write(MAIN, FILES[MAIN].replace('import "./helper"', line));
    for (const [name, source] of Object.entries(PACKAGES)) write(platform, name, source);
    expect(await run(platform)).toEqual({ printed: '8 2\n', wasKnown: false });
    expect(await run(platform)).toEqual({ printed: '8 2\n', wasKnown: true });
    write(platform, path, text);
    expect(await run(platform)).toEqual({ printed, wasKnown: false });
  });

  test('of another build are not looked at', async () => {
    const platform = world();
    await run(platform, 'one');
    expect((await run(platform, 'two')).wasKnown).toBe(false);
  });

  test.each([
    ['json', '{"program":'],
    ['json', '{}'],
  ])('with a damaged entry (%s) are compiled again', async (kind, text) => {
    const platform = world();
    await run(platform);
    for (const path of cacheFiles(platform, kind)) platform.files.write(path, text);
    expect(await run(platform)).toEqual({ printed: '8 2\n', wasKnown: false });
    expect((await run(platform)).wasKnown).toBe(true);
  });

  test('whose V8 code is refused run all the same, and get new code', async () => {
    const platform = world();
    // V8 looks at no code for a text that it has compiled in this process before, so this one is new to it.
    const text = 'println("never compiled before")';
    platform.files.write(MAIN, text);
    new CompileCache(platform, 'build').store(compileProgram(platform.files, MAIN, text));
    const [entry = ''] = cacheFiles(platform, 'json');
    const [code = ''] = cacheFiles(platform, 'code');
    platform.files.write(entry, platform.files.readText(entry).replace('"codeLengths":[0]', '"codeLengths":[64]'));
    platform.files.write(code, new Uint8Array(64));
    expect(await run(platform)).toEqual({ printed: 'never compiled before\n', wasKnown: true });
    expect(platform.files.readBytes(code).length).toBeGreaterThan(64);
  });

  test('with a module that is missing are not kept', async () => {
    const platform = world();
    platform.files.write(MAIN, 'import "./gone"');
    const cache = new CompileCache(platform, 'build');
    cache.store(compileProgram(platform.files, MAIN, 'import "./gone"'));
    expect(cache.find(MAIN, 'import "./gone"')).toBeUndefined();
  });

  test('need no cache directory that can be written to', async () => {
    const platform = world({ HARN_CACHE_DIR: MAIN });
    expect((await run(platform)).printed).toBe('8 2\n');
    expect((await run(platform)).wasKnown).toBe(false);
  });
});

const PLACES: readonly (readonly [env: Readonly<Record<string, string>>, directory: string])[] = [
  [{ HARN_CACHE_DIR: '/mine', XDG_CACHE_HOME: '/xdg' }, '/mine/build'],
  [{ XDG_CACHE_HOME: '/xdg' }, '/xdg/harn/build'],
  [{}, '/home/user/.cache/harn/build'],
];

test.each(PLACES)('the environment %o puts the cache in %s', async (env, directory) => {
  const platform = world(env);
  await run(platform);
  expect(entries(platform, directory).length).toBe(2);
});

function cacheFiles(platform: FakePlatform, kind: string): string[] {
  return entries(platform, '/home/user/.cache/harn/build').filter((path) => path.endsWith(`.${kind}`));
}
