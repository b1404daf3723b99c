import type { Run } from '../context.ts';
import type { CompiledProgram } from './program.ts';

const PROGRAM = Symbol('running program');

function slot(run: Run): { program: CompiledProgram | undefined } {
  return run.service(PROGRAM, () => ({ program: undefined }));
}

/** Tells the run which program it runs, for whoever has to say so in a snapshot. */
export function rememberProgram(run: Run, program: CompiledProgram): void {
  slot(run).program = program;
}

/** Undefined in a run that only resumes. */
export function runningProgram(run: Run): CompiledProgram | undefined {
  return slot(run).program;
}
