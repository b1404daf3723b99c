import { afterAll, afterEach } from 'vitest';
import { removeScratchDirectories } from './scratch.ts';

/** Vitest's setup file: it runs for every test file, also where files share their modules. */
afterEach(() => removeScratchDirectories('test'));
afterAll(() => removeScratchDirectories('file'));
