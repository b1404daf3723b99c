import { HarnRaise } from './errors.ts';
import { messageOf } from './report.ts';

/**
 * The display text of an error as `parallel settle` and supervisors record it (spec/language.md 10.1, 11.3): thrown values
 * as `Thrown: …`, everything else with the line it came from.
 */
export function failureText(error: unknown): string {
  const { message } = messageOf(error);
  if (error instanceof HarnRaise && error.kind === 'thrown') return message;
  const line = scriptLine(error);
  return line === undefined ? message : `${message} (line ${line})`;
}

/** Emitted code runs under the name of its script and is aligned to its lines, so the stack knows the line. */
function scriptLine(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return /\.harn(?:\?alone)?:(\d+)(?::\d+)?\)?$/m.exec(error.stack ?? '')?.[1];
}
