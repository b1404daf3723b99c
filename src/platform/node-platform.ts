import { V7Generator } from 'uuidv7';
import { NodeClock } from './node-clock.ts';
import { NodeFiles } from './node-files.ts';
import { NodeHttpClient } from './node-http.ts';
import { NodeProcesses } from './node-processes.ts';
import { NodeStdio } from './node-stdio.ts';
import { nodeWatcher } from './node-watcher.ts';
import type { Environment, Platform, Random, SystemFacts } from './platform.ts';

/** The machine this process runs on. */
export function createNodePlatform(): Platform {
  return {
    clock: new NodeClock(),
    random: new NodeRandom(),
    files: new NodeFiles(),
    watcher: nodeWatcher,
    processes: new NodeProcesses(),
    env: nodeEnvironment,
    http: new NodeHttpClient(),
    listener: { listen: async (address, answer) => (await import('./node-http-listener.ts')).listenHttp(address, answer) },
    stdio: new NodeStdio(),
    system: nodeSystem,
  };
}

/*
 * Modules of Node that most runs never need are loaded at their first use: together they would make up a tenth of the
 * start-up of a small script.
 */
const crypto = () => process.getBuiltinModule('node:crypto');
const os = () => process.getBuiltinModule('node:os');

/** The same text in one piece: the library adds digit to digit, and V8 would keep a string for each step. */
function flat(text: string): string {
  return Buffer.from(text).toString();
}

/** Random numbers of 32 bits. The system is asked for many at once, since asking costs more than the numbers. */
class RandomWords {
  readonly #words = new Uint32Array(64);
  #next = this.#words.length;

  nextUint32(): number {
    if (this.#next === this.#words.length) {
      crypto().randomFillSync(this.#words);
      this.#next = 0;
    }
    return this.#words[this.#next++] as number; // #next is below the length
  }
}

class NodeRandom implements Random {
  /** Its ids rise within a process. On its own the library would load Web Crypto for its numbers. */
  readonly #uuids = new V7Generator(new RandomWords());

  id(prefix: string): string {
    return prefix === '' ? this.uuidV7() : flat(`${prefix}_${this.#uuids.generate()}`);
  }

  uuidV4(): string {
    return crypto().randomUUID();
  }

  uuidV7(): string {
    return flat(this.#uuids.generate().toString());
  }

  float(): number {
    return Math.random();
  }

  bytes(count: number): Uint8Array {
    return new Uint8Array(crypto().randomBytes(count));
  }
}

const nodeEnvironment: Environment = {
  get: (name) => process.env[name],
  entries: () => Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined)),
};

const PLATFORM_NAMES: Readonly<Record<string, string>> = { win32: 'windows' };

const nodeSystem: SystemFacts = {
  get hostname() {
    return os().hostname();
  },
  get username() {
    return os().userInfo().username;
  },
  get homeDirectory() {
    return os().homedir();
  },
  platform: PLATFORM_NAMES[process.platform] ?? process.platform,
  arch: process.arch,
};
