import { main } from '../../src/cli/main.ts';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import type { FileHandle, Files } from '../../src/platform/platform.ts';

/**
 * The command line in a process that gets signals in the middle of a change of a snapshot. Arguments: the call at
 * which they come (`write`, `sync` or `rename`), the signals with a comma between, then those of harn.
 */
const [place, signals, ...argv] = process.argv.slice(2) as [string, string, ...string[]];
const platform = createNodePlatform();
let isOver = false;

function raiseOnce(path: string, call: string): void {
  if (isOver || call !== place || !/\.json\.tmp_/.test(path)) return;
  isOver = true;
  for (const signal of signals.split(',')) process.kill(process.pid, signal);
}

const files = Object.assign(Object.create(platform.files) as Files, {
  open: (path: string, how: 'exclusive' | 'append' | 'truncate', mode?: number): FileHandle => {
    const handle = platform.files.open(path, how, mode);
    return {
      write: (data) => {
        const bytes = Buffer.from(data);
        handle.write(bytes.subarray(0, bytes.length >> 1));
        raiseOnce(path, 'write');
        handle.write(bytes.subarray(bytes.length >> 1));
      },
      sync: () => {
        raiseOnce(path, 'sync');
        handle.sync();
      },
      close: () => handle.close(),
    };
  },
  rename: (from: string, to: string): void => {
    raiseOnce(from, 'rename');
    platform.files.rename(from, to);
  },
});

void main(argv, { ...platform, files }).then((code) => process.exit(code));
