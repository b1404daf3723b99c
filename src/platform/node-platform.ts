import { uuidv7 } from 'uuidv7';
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
    random: nodeRandom,
    files: new NodeFiles(),
    watcher: nodeWatcher,
    processes: new NodeProcesses(),
    env: nodeEnvironment,
    http: new NodeHttpClient(),
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

const nodeRandom: Random = {
  id: (prefix) => flat(prefix === '' ? uuidv7() : `${prefix}_${uuidv7()}`),
  uuidV4: () => crypto().randomUUID(),
  uuidV7: () => flat(uuidv7()),
  float: () => Math.random(),
  bytes: (count) => new Uint8Array(crypto().randomBytes(count)),
};

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
