import { scratchDirectory } from '../support/scratch.ts';
import { createWorldAt, type TestWorld, type WorldOptions } from './world.ts';

/** A world in a directory of its own, which is gone after the test, or in the one of another world. */
export function createWorld(options: WorldOptions & { readonly directory?: string } = {}): TestWorld {
  const { directory = scratchDirectory(), ...rest } = options;
  return createWorldAt(directory, rest);
}
