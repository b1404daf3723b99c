import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { HarnError } from '../../src/base/harn-error.ts';
import { turns } from './scripted-runner.ts';
import { close, createWorldAt, outcome, resume } from './world.ts';

/**
 * A process that resumes a snapshot once a barrier file appears, and tells how it went in one line.
 * Arguments: directory, snapshot, barrier, effect log, and what the resumed loop does: `end`, `park`, `hang`, or
 * `wait` (its tool has its effect and waits for the file `<barrier>.release`, then the loop goes on). With `close` it closes the worker instead.
 */
const [directory, snapshot, barrier, effects, then] = process.argv.slice(2) as [string, string, string, string, string];
const startedAt = Date.now();
const effect = (): void => appendFileSync(effects, `${process.pid}\n`);
/** Does its effect and never comes back; the timer keeps the process alive. */
function hang(): Promise<void> {
  effect();
  return new Promise<void>(() => setInterval(() => undefined, 1000));
}

/** A tool call that is under way for as long as the test wants. */
async function waitForRelease(): Promise<void> {
  effect();
  process.stdout.write('in tool\n');
  while (!existsSync(`${barrier}.release`)) await pause(2);
}

const resumed =
  then === 'hang'
    ? { say: 'hanging', during: hang }
    : then === 'wait'
      ? { say: 'late', during: waitForRelease }
      : { say: 'after', during: effect, ...(then === 'park' ? { park: { reason: 'again' } } : { end: true }) };
const world = createWorldAt(directory, { live: turns({ park: { reason: 'first' } }, resumed, { say: 'next', during: effect, end: true }) });

async function main(): Promise<void> {
  process.stdout.write('ready\n');
  while (!existsSync(barrier)) await pause(2);
  try {
    if (then === 'close') {
      const { status } = await close(world, snapshot);
      process.stdout.write(`outcome closer saw ${String(status)}\n`);
      return;
    }
    const summary = await resume(world, snapshot, { startedAt, mayReadResult: false });
    process.stdout.write('claimed\n');
    const end = await outcome(world, String(summary.id));
    process.stdout.write(`outcome ${String(end.status)}\n`);
  } catch (error) {
    if (!(error instanceof HarnError)) throw error;
    process.stdout.write(`outcome ${error.code}\n`);
    process.exitCode = 1;
  }
}

void main();
