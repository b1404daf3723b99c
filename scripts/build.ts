/**
 * `npm run build`: one CommonJS bundle with all run-time libraries, and V8's code cache of it.
 * `--if-stale` does nothing when the bundle is younger than every source.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
const BUNDLE = 'harn.cjs';
/** As bin/harn.js looks for it. */
const CODE_CACHE = `harn-${process.version}-${process.arch}.cache`;

/** Both files are made and tried aside, so that `dist` never holds a bundle that does not run. */
async function main(argv: readonly string[]): Promise<void> {
  if (argv.includes('--if-stale') && isCurrent()) return;
  mkdirSync(DIST, { recursive: true });
  const aside = mkdtempSync(join(DIST, 'new-'));
  try {
    writeFileSync(join(aside, BUNDLE), await bundle());
    writeFileSync(join(aside, CODE_CACHE), codeCacheOf(join(aside, BUNDLE)));
    for (const name of readdirSync(DIST).filter((name) => name.endsWith('.cache'))) rmSync(join(DIST, name));
    for (const name of [BUNDLE, CODE_CACHE]) renameSync(join(aside, name), join(DIST, name));
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

function isCurrent(): boolean {
  const builtAt = modifiedAt(join(DIST, BUNDLE));
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).map((name) => join(ROOT, 'src', name));
  const others = ['package.json', 'scripts/build.ts'].map((name) => join(ROOT, name));
  return [...sources, ...others].every((file) => modifiedAt(file) < builtAt);
}

function modifiedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/**
 * ASCII output, so that V8 can keep the text as one byte a character; wrapped as a function, so that bin/harn.js can
 * run it as a script with a code cache. Modules behind `import()` stay lazy inside the one file.
 */
async function bundle(): Promise<string> {
  const result = await build({
    absWorkingDir: ROOT,
    entryPoints: ['src/cli/main.ts'],
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    charset: 'ascii',
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: false,
    write: false,
    legalComments: 'none',
    define: { 'import.meta.dirname': '__dirname', 'import.meta.url': 'undefined' },
    logLevel: 'warning',
    logOverride: { 'empty-import-meta': 'silent' },
  });
  const [file] = result.outputFiles;
  if (file === undefined) throw new Error('esbuild gave no output');
  const buildId = createHash('sha256').update(file.text).digest('hex').slice(0, 16);
  const text = file.text.replace('@HARN_BUILD_ID@', buildId);
  return `(function (exports, require, module, __filename, __dirname) {${text}\n})`;
}

/** Runs a small script twice, the second time with what the first compiled lazily in the cache. */
function codeCacheOf(bundleFile: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'harn-build-'));
  try {
    const script = join(folder, 'warm.harn');
    const cache = join(folder, CODE_CACHE);
    writeFileSync(script, WARM_UP);
    const code = `
      const { Script } = require('node:vm');
      const { readFileSync, writeFileSync } = require('node:fs');
      const file = ${JSON.stringify(bundleFile)};
      const script = new Script(readFileSync(file, 'latin1'), { filename: file });
      const bundle = { exports: {} };
      script.runInThisContext()(bundle.exports, require, bundle, file, ${JSON.stringify(DIST)});
      bundle.exports.main(['run', ${JSON.stringify(script)}]).then((code) => {
        if (code !== 0) process.exit(code);
        return bundle.exports.main(['run', ${JSON.stringify(script)}]);
      }).then((code) => {
        writeFileSync(${JSON.stringify(cache)}, script.createCachedData());
        process.exit(code);
      });`;
    const run = spawnSync(process.execPath, ['-e', code], {
      encoding: 'utf8',
      env: { ...process.env, HARN_CACHE_DIR: join(folder, 'cache'), HARN_STATE_DIR: join(folder, 'state') },
    });
    if (run.status !== 0) throw new Error(`the bundle does not run:\n${run.stdout}${run.stderr}`);
    return readFileSync(cache);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Touches what nearly every script touches, so that its functions are in the cache. */
const WARM_UP = `struct Point { x: int }
fn twice(n) { return n * 2 }
var total = 0
for n in [1, 2, 3] { total += twice(n) }
for n in 0 to 3 { total += n }
let point = Point {x: total}
let dict = {a: 1.5, b: [1], c: "x"}
try { throw "no" } catch (e) { println("\${e} \${point.x} \${dict} \${[3, 1].map({ v -> v + 1 }).join(",")}") }
`;

void main(process.argv.slice(2));
