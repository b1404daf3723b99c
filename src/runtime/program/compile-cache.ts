import { posix as path } from 'node:path';
import type { Script } from 'node:vm';
import type { Platform } from '../../platform/platform.ts';
import { isStillTrue } from './import-probes.ts';
import { instantiate, type ModuleFunction } from './module-function.ts';
import type { CompiledModule, CompiledProgram } from './program.ts';

/**
 * Compiled programs between runs: the emitted JavaScript with its facts and warnings, and V8's code cache of it, in the
 * user's cache directory. An entry is found by a short hash of the script and taken only when the texts of all files
 * are the same to the letter and imports still lead to these files, so a collision or a stale entry costs a compilation and nothing else. Whatever is
 * wrong with an entry or its directory is nobody's concern: the program is compiled.
 */
export class CompileCache {
  readonly #platform: Platform;
  readonly #directory: string;
  readonly #names = new Map<string, string>();
  readonly #scripts = new Map<CompiledModule, Script>();
  /** Programs that came from here. */
  readonly #known = new Set<CompiledProgram>();
  readonly #codes = new Map<CompiledModule, Buffer>();
  /** V8 refused their code, as it does after an update of Node: the entry has to be written anew. */
  readonly #refused = new Set<CompiledModule>();

  /** @param buildId names this build of harn: entries of another one are not even looked at */
  constructor(platform: Platform, buildId: string) {
    this.#platform = platform;
    this.#directory = path.join(cacheRoot(platform), buildId);
  }

  /** The program as it was compiled before; undefined when it has to be compiled. */
  find(scriptPath: string, text: string): CompiledProgram | undefined {
    try {
      const { files } = this.#platform;
      const entry = JSON.parse(files.readText(this.#file(scriptPath, text, 'json'))) as StoredProgram;
      if (!this.#isCurrent(entry.program, scriptPath, text)) return undefined;
      const code = Buffer.from(files.readBytes(this.#file(scriptPath, text, 'code')));
      let start = 0;
      entry.program.modules.forEach((module, index) => {
        const length = entry.codeLengths[index] ?? 0;
        if (length > 0) this.#codes.set(module, code.subarray(start, start + length));
        start += length;
      });
      this.#known.add(entry.program);
      return entry.program;
    } catch {
      return undefined;
    }
  }

  /** Makes the function of a module, from V8's code cache when there is one. */
  instantiate(module: CompiledModule): ModuleFunction {
    const { run, script } = instantiate(module, this.#codes.get(module));
    this.#scripts.set(module, script);
    if (script.cachedDataRejected === true) this.#refused.add(module);
    return run;
  }

  /** Stores a program that has run, unless it is here already; what V8 compiled lazily is then in the code cache too. */
  store(program: CompiledProgram): void {
    const isStored = this.#known.has(program) && !program.modules.some((module) => this.#refused.has(module));
    if (isStored || program.modules.some(({ imports }) => imports.some((item) => item.path === undefined))) return;
    const entry = program.modules.at(-1) as CompiledModule;
    try {
      const code = program.modules.map((module) => this.#scripts.get(module)?.createCachedData() ?? Buffer.alloc(0));
      const stored: StoredProgram = { program, codeLengths: code.map(({ length }) => length) };
      this.#write(entry, 'code', Buffer.concat(code));
      this.#write(entry, 'json', JSON.stringify(stored));
    } catch {
      // A cache that cannot be written is no cache.
    }
  }

  #isCurrent(program: CompiledProgram, scriptPath: string, text: string): boolean {
    const { files } = this.#platform;
    const areSame = program.modules.every((module) => {
      if (module.path === scriptPath) return module.text === text;
      return module.path.startsWith('std/') || files.readText(module.path) === module.text;
    });
    return areSame && program.probes.every((probe) => isStillTrue(files, probe));
  }

  #write(entry: CompiledModule, kind: 'json' | 'code', data: string | Uint8Array): void {
    const { files, random } = this.#platform;
    files.mkdir(this.#directory, 0o700);
    const target = this.#file(entry.path, entry.text, kind);
    // No uuid: it would load node:crypto, see `nameOf`.
    const temporary = `${target}.${random.float().toString(36).slice(2)}`;
    files.write(temporary, data, 0o600);
    files.rename(temporary, target);
  }

  #file(scriptPath: string, text: string, kind: string): string {
    // Asked three times for one script, and a run has one or two.
    const key = `${scriptPath}\n${text}`;
    const name = this.#names.get(key) ?? nameOf(key);
    this.#names.set(key, name);
    return path.join(this.#directory, `${name}.${kind}`);
  }
}

/**
 * A name for a text: two rounds of 32 bits (FNV-1a from two starts), four bytes at a time because this is cold code. Which
 * text an entry belongs to is compared anyway, and loading node:crypto takes longer than all else that a run from the cache does.
 */
function nameOf(text: string): string {
  const bytes = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 4) * 4);
  bytes.write(text);
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as number;
    low = Math.imul(low ^ word, 0x01000193);
    low ^= low >>> 15;
    high = Math.imul(high ^ word, 0x85ebca6b);
    high ^= high >>> 13;
  }
  return [high, low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}

interface StoredProgram {
  readonly program: CompiledProgram;
  /** Bytes of each module's code cache, in the order of the modules. */
  readonly codeLengths: readonly number[];
}

function cacheRoot({ env, system }: Platform): string {
  const own = env.get('HARN_CACHE_DIR');
  if (own !== undefined && own !== '') return own;
  const shared = env.get('XDG_CACHE_HOME');
  return path.join(shared !== undefined && shared !== '' ? shared : path.join(system.homeDirectory, '.cache'), 'harn');
}
