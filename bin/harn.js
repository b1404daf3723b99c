#!/usr/bin/env node

// As little as possible before the real program: plain CommonJS, one bundle, V8's code cache of it.
const { mkdirSync, readFileSync, renameSync, statSync, writeFileSync, writeSync } = require('node:fs');
const { join } = require('node:path');

const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  // Without process.stdout, whose stream alone takes longer than all of this.
  writeSync(1, `${JSON.parse(readFileSync(join(__dirname, '../package.json'), 'utf8')).version}\n`);
} else {
  start();
}

function start() {
  const { Script } = require('node:vm');
  const dist = join(__dirname, '../dist');
  const file = join(dist, 'harn.cjs');
  const cachedData = read(join(dist, codeCacheName())) ?? read(userCacheFile(file));
  const script = new Script(readFileSync(file, 'latin1'), { filename: file, cachedData });
  const bundle = { exports: {} };
  script.runInThisContext()(bundle.exports, require, bundle, file, dist);
  bundle.exports.main(argv).then(
    (code) => {
      if (cachedData === undefined || script.cachedDataRejected) keepCodeCache(script, file);
      process.exit(code);
    },
    (error) => {
      process.stderr.write(`harn: internal error; please report it with this text:\n${error?.stack ?? error}\n`);
      process.exit(70);
    },
  );
}

/** V8 reads only what the same version wrote on the same kind of machine. */
function codeCacheName() {
  return `harn-${process.version}-${process.arch}.cache`;
}

/**
 * Where this user keeps the code cache when the one of the installation was made by another Node. The time of the bundle
 * is in the name, because V8 itself tells one bundle from another only by its length.
 */
function userCacheFile(bundle) {
  const { env } = process;
  const root = env.HARN_CACHE_DIR || join(env.XDG_CACHE_HOME || join(require('node:os').homedir(), '.cache'), 'harn');
  return join(root, 'bundle', `${Math.trunc(statSync(bundle).mtimeMs)}-${codeCacheName()}`);
}

function read(path) {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** A cache that cannot be written is no cache; the next start then compiles again. */
function keepCodeCache(script, bundle) {
  try {
    const target = userCacheFile(bundle);
    mkdirSync(join(target, '..'), { recursive: true, mode: 0o700 });
    const aside = `${target}.${process.pid}`;
    writeFileSync(aside, script.createCachedData(), { mode: 0o600 });
    renameSync(aside, target);
  } catch {}
}
