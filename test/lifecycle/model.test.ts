import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HarnError } from '../../src/base/harn-error.ts';
import { createWorld } from './scratch-world.ts';
import { gatedTurns } from './scripted-runner.ts';
import { close, resume, spawn, suspend, type TestWorld, target } from './world.ts';

/**
 * Random sequences of commands against a model of four words: whatever happens, the worker stands where the table of
 * 5.1 says, refusals carry the code of the table, and what is on disk resumes to the same place in another process.
 */
type Command = 'suspend' | 'resume' | 'resumeElsewhere' | 'close' | 'step';
type State = 'running' | 'suspended' | 'done' | 'closed';

const REFUSALS: Record<'suspend' | 'resume', Partial<Record<State, string>>> = {
  suspend: { done: 'HARN-SUS-001', closed: 'HARN-SUS-001' },
  resume: { running: 'HARN-SUS-003', done: 'HARN-SUS-003', closed: 'HARN-SUS-010' },
};

describe('R6 R94 any sequence of commands', () => {
  it('keeps to the state machine', { timeout: 60_000 }, async () => {
    const commands = fc.array(fc.constantFrom<Command>('suspend', 'resume', 'resumeElsewhere', 'close', 'step'), {
      minLength: 1,
      maxLength: 10,
    });
    await fc.assert(
      fc.asyncProperty(commands, async (sequence) => {
        const { live, open: step, arrived } = gatedTurns([{}, {}, {}, {}, { end: true }]);
        let world: TestWorld = createWorld({ live });
        const { id } = await spawn(world, 'task', live);
        /** The worker waits in a turn, or does not run. */
        const quiet = (): Promise<void> => Promise.race([arrived(), world.lifecycle.registry.get(id)?.settled()]);
        await quiet();
        let state: State = 'running';
        let turnsTaken = 0;
        for (const command of sequence) {
          state = await apply(command, state);
          expect(world.lifecycle.registry.get(id)?.record.lifecycle_state).toBe(state);
        }

        async function apply(command: Command, before: State): Promise<State> {
          if (command === 'step') {
            if (before !== 'running') return before;
            step();
            await quiet();
            turnsTaken++;
            return turnsTaken === 5 ? 'done' : 'running';
          }
          if (command === 'close') {
            await close(world, id);
            return before === 'done' ? 'done' : 'closed';
          }
          if (command === 'suspend') return expectRefusal('suspend', before, async () => suspended(before));
          // Another process can take over what is parked; a worker that runs here stays here.
          if (command === 'resumeElsewhere' && before === 'suspended') world = createWorld({ directory: world.directory, live });
          return expectRefusal('resume', before, async () => {
            await resume(world, target(id));
            await quiet();
            return 'running';
          });
        }

        async function suspended(before: State): Promise<State> {
          const worker = world.lifecycle.registry.get(id);
          if (worker === undefined) throw new Error('the worker is gone');
          const asked = suspend(world, worker);
          if (before !== 'running') return asked.then(() => before);
          step();
          turnsTaken++;
          await asked;
          await quiet();
          return turnsTaken === 5 ? 'done' : 'suspended';
        }
      }),
      { numRuns: 25 },
    );
  });
});

async function expectRefusal(command: 'suspend' | 'resume', state: State, action: () => Promise<State>): Promise<State> {
  const code = REFUSALS[command][state];
  if (code === undefined) return action();
  const error = await action().then(
    () => undefined,
    (thrown: HarnError) => thrown,
  );
  expect(error?.code).toBe(code);
  return state;
}
