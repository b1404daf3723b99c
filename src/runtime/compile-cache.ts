import { createHash } from 'node:crypto';
import { posix as path } from 'node:path';
import type { Script } from 'node:vm';
import type { Platform } from '../platform/platform.ts';
import { instantiate, type ModuleFunction } from './load.ts';
import type { CompiledModule, CompiledProgram } from './program.ts';

/**
 * Compiled programs between runs: the emitted JavaScript with its facts and warnings, and V8's code cache of it, in the
 * user's cache directory. An entry is found by a short hash of the script and taken only when the texts of all files
 * are the same to the letter, so a collision or a stale entry costs a compilation and nothing else. Whatever is
 * wrong with an entry or its directory is nobody's concern: the program is compiled.
 */
export class CompileCache {
  readonly #platform: Platform;
  readonly #directory: string;
  readonly #scripts = new Map<CompiledModule, Script>();
  #hit: Entry | undefined;
  /** V8 refused the code of the entry, as it does after an update of Node: the entry has to be written anew. */
  #isRefused = false;

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
      const code = files.readBytes(this.#file(scriptPath, text, 'code'));
      this.#hit = { program: entry.program, code: Buffer.from(code), lengths: entry.codeLengths };
      return entry.program;
    } catch {
      return undefined;
    }
  }

  /** Makes the function of a module, from V8's code cache when there is one. */
  instantiate(module: CompiledModule): ModuleFunction {
    const { run, script } = instantiate(module, this.#codeOf(module));
    this.#scripts.set(module, script);
    this.#isRefused ||= script.cachedDataRejected === true;
    return run;
  }

  /** Stores a program that has run, unless it is here already; what V8 compiled lazily is then in the code cache too. */
  store(program: CompiledProgram): void {
    const isStored = this.#hit !== undefined && !this.#isRefused;
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

  #codeOf(module: CompiledModule): Buffer | undefined {
    const hit = this.#hit;
    const index = hit?.program.modules.indexOf(module) ?? -1;
    if (hit === undefined || index < 0) return undefined;
    const start = hit.lengths.slice(0, index).reduce((sum, length) => sum + length, 0);
    const length = hit.lengths[index] ?? 0;
    return length === 0 ? undefined : hit.code.subarray(start, start + length);
  }

  #isCurrent(program: CompiledProgram, scriptPath: string, text: string): boolean {
    const { files } = this.#platform;
    return program.modules.every((module) => {
      if (module.path === scriptPath) return module.text === text;
      return module.path.startsWith('std/') || files.readText(module.path) === module.text;
    });
  }

  #write(entry: CompiledModule, kind: 'json' | 'code', data: string | Uint8Array): void {
    const { files, random } = this.#platform;
    files.mkdir(this.#directory, 0o700);
    const target = this.#file(entry.path, entry.text, kind);
    const temporary = `${target}.${random.uuidV4()}`;
    files.write(temporary, data, 0o600);
    files.rename(temporary, target);
  }

  #file(scriptPath: string, text: string, kind: string): string {
    return path.join(this.#directory, `${createHash('sha256').update(`${scriptPath}\n${text}`).digest('hex').slice(0, 32)}.${kind}`);
  }
}

interface StoredProgram {
  readonly program: CompiledProgram;
  /** Bytes of each module's code cache, in the order of the modules. */
  readonly codeLengths: readonly number[];
}

interface Entry {
  readonly program: CompiledProgram;
  readonly code: Buffer;
  readonly lengths: readonly number[];
}

function cacheRoot({ env, system }: Platform): string {
  const own = env.get('HARN_CACHE_DIR');
  if (own !== undefined && own !== '') return own;
  const shared = env.get('XDG_CACHE_HOME');
  return path.join(shared !== undefined && shared !== '' ? shared : path.join(system.homeDirectory, '.cache'), 'harn');
}
