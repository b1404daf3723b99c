import type { Context } from './context.ts';

/** Writes where the task writes: a buffer that is released when the task is joined, or the output of the run. */
export function writeOutput(context: Context, text: string): void {
  if (context.outputBuffer !== undefined) context.outputBuffer.push(text);
  else context.run.output.out(text);
}
