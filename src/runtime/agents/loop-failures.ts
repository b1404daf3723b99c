import type { Run } from '../context.ts';
import type { CompiledProgram } from '../program/program.ts';
import { describeFailure, type Failure } from '../report.ts';

/**
 * What a report needs of a loop that failed in a run which only resumes: the record of the worker keeps the text of the error,
 * the error itself knows the lines of the script.
 */
interface LoopFailures {
  readonly errors: Map<string, unknown>;
  readonly programs: CompiledProgram[];
  /** Places in closures that were compiled alone, by the name of their code. */
  readonly closures: Map<string, string>;
}

const FAILURES = Symbol('failures of loops');

function failuresOf(run: Run): LoopFailures {
  return run.service(FAILURES, () => ({ errors: new Map(), programs: [], closures: new Map() }));
}

export function noteLoopError(run: Run, workerId: string, error: unknown): void {
  failuresOf(run).errors.set(workerId, error);
}

/** The program of a loop that this run goes on with. */
export function noteRestoredProgram(run: Run, program: CompiledProgram): void {
  failuresOf(run).programs.push(program);
}

/** @param places what the places in the code of the closure stand for (language/emit-layout.ts) */
export function noteClosure(run: Run, codeName: string, places: string): void {
  failuresOf(run).closures.set(codeName, places);
}

/** The error that ended a loop, with its place in the script; undefined when none did in this process. */
export function describeLoopFailure(run: Run, workerId: string): Failure | undefined {
  const { errors, programs, closures } = failuresOf(run);
  if (!errors.has(workerId)) return undefined;
  const [first] = programs;
  const program = first && { ...first, modules: programs.flatMap(({ modules }) => modules) };
  return describeFailure(errors.get(workerId), program, closures);
}
