import { join } from 'node:path';

/** Where the queue of a daemon lives that was not given a directory. */
export function daemonDirectory(workersDirectory: string, workerId: string): string {
  return join(workersDirectory, `${workerId}.daemon`);
}
