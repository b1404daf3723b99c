import { HarnError } from '../../src/base/harn-error.ts';
import { type Fault, FaultyFiles } from '../../src/platform/fault-points.ts';
import { createNodePlatform } from '../../src/platform/node-platform.ts';
import { createLoopWorld, type Plan, workerIdIn } from './loop-world.ts';
import { resume } from './world.ts';

/**
 * A process that runs a plan, or goes on with what another left, and kills itself with SIGKILL at a given change of
 * a file. Arguments: directory, plan as JSON, fault as JSON or `none`. Exit code 0: done or parked; 3: somebody else
 * had it.
 */
const [directory, planText, faultText] = process.argv.slice(2) as [string, string, string];
const plan = JSON.parse(planText) as Plan;
const fault = faultText === 'none' ? undefined : (JSON.parse(faultText) as Fault);

/** The signal may take a moment to arrive; nothing more is done until then. */
function die(): void {
  process.kill(process.pid, 'SIGKILL');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

async function main(): Promise<void> {
  const { files: disk, processes } = createNodePlatform();
  const files = new FaultyFiles(disk, fault, die);
  const world = createLoopWorld(directory, plan, { files, processes });
  const id = workerIdIn(disk, directory);
  if (id === undefined) {
    await world.runRoot();
    return;
  }
  try {
    await resume(world, id, { mayReadResult: false });
    await world.lifecycle.registry.get(id)?.settled();
  } catch (error) {
    if (!(error instanceof HarnError)) throw error;
    process.stderr.write(`${error.code} ${error.message}\n`);
    process.exitCode = 3;
  }
}

void main();
