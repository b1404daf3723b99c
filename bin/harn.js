#!/usr/bin/env node

// As little as possible before the real program: plain CommonJS that loads packs of code (scripts/bundle.ts) with V8's
// code cache of each.
const { mkdirSync, readFileSync, renameSync, writeFileSync, writeSync } = require('node:fs');
const { join } = require('node:path');

function start() {
  const dist = join(__dirname, '../dist');
  const buildId = readFileSync(join(dist, 'current'), 'latin1');
  const packs = new Packs(join(dist, buildId), buildId);
  packs
    .require('./main.cjs#$main')
    .main(argv)
    .then(
      (code) => {
        packs.keepCodeCaches();
        process.exit(code);
      },
      (error) => {
        process.stderr.write(`harn: internal error; please report it with this text:\n${error?.stack ?? error}\n`);
        process.exit(70);
      },
    );
}

/** Loads packs at their first use. */
class Packs {
  #folder;
  #buildId;
  #exports = new Map();
  /** What was required before, by its id. */
  #modules = new Map();
  /** Scripts whose code cache is to be written, by the name of their pack. */
  #compiled = new Map();

  constructor(folder, buildId) {
    this.#folder = folder;
    this.#buildId = buildId;
  }

  /**
   * `./PACK.cjs#MODULE` is one of our modules, `./PACK.cjs#MODULE?NAME,NAME` one that can wait until a name of it is used;
   * anything else belongs to Node. Packs ask for the same ones again and again.
   */
  require = (id) => {
    let module = this.#modules.get(id);
    if (module === undefined) {
      module = id.startsWith('./') ? this.#fromPack(...id.slice(2).split(/[#?]/)) : require(id);
      this.#modules.set(id, module);
    }
    return module;
  };

  #fromPack(pack, module, names) {
    return names === undefined ? (this.#exports.get(pack) ?? this.#load(pack))[module] : this.#later(pack, module, names.split(','));
  }

  #later(pack, module, names) {
    const later = {};
    for (const name of names) {
      const get = () => {
        const exports = this.#fromPack(pack, module);
        Object.defineProperties(later, Object.getOwnPropertyDescriptors(exports));
        return exports[name];
      };
      Object.defineProperty(later, name, { configurable: true, get });
    }
    return later;
  }

  #load(pack) {
    const { Script } = require('node:vm');
    const file = join(this.#folder, pack);
    const cachedData = read(`${file}.${codeCacheSuffix()}`) ?? read(this.#userCacheFile(pack));
    const script = new Script(readFileSync(file, 'latin1'), { filename: `harn:${pack}`, cachedData });
    // `extend` is how the build makes one cache of several runs.
    const isWhole = process.env.HARN_CODE_CACHE !== 'extend' && cachedData !== undefined && !script.cachedDataRejected;
    if (!isWhole) this.#compiled.set(pack, script);
    const exports = {};
    this.#exports.set(pack, exports);
    script.runInThisContext()(exports, this.require, file, this.#folder);
    return exports;
  }

  /** For the next start. A cache that cannot be written is no cache. */
  keepCodeCaches() {
    for (const [pack, script] of this.#compiled) {
      try {
        const target = this.#userCacheFile(pack);
        mkdirSync(join(target, '..'), { recursive: true, mode: 0o700 });
        writeFileSync(`${target}.${process.pid}`, script.createCachedData(), { mode: 0o600 });
        renameSync(`${target}.${process.pid}`, target);
      } catch {}
    }
  }

  /** V8 reads only what the same version wrote on the same kind of machine; another Node finds its own here. */
  #userCacheFile(pack) {
    const { env } = process;
    const root = env.HARN_CACHE_DIR || join(env.XDG_CACHE_HOME || join(require('node:os').homedir(), '.cache'), 'harn');
    return join(root, this.#buildId, 'code', `${pack}.${codeCacheSuffix()}`);
  }
}

function codeCacheSuffix() {
  return `${process.version}-${process.arch}.cache`;
}

function read(path) {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  // Without process.stdout, whose stream alone takes longer than all of this.
  try {
    writeSync(1, `${JSON.parse(readFileSync(join(__dirname, '../package.json'), 'utf8')).version}\n`);
  } catch {
    // Elsewhere it is told what standard output has.
    start();
  }
} else {
  start();
}
