import type { Run } from '../runtime/context.ts';
import { stopSignals } from '../runtime/stop-signals.ts';

/** What the terminal is told of a loop that waits for somebody (spec/agents.md 12.6, 12.7). */
export interface ParkFacts {
  readonly workerId: string;
  /** As given; may be blank and of many lines. */
  readonly reason: string;
  /** As it can be typed in the current directory. */
  readonly snapshotPath: string;
}

const REASON_LIMIT = 120;

/** The two lines that tell how to go on with a parked loop. */
export function parkHint({ workerId, reason, snapshotPath }: ParkFacts): string {
  return `harn: agent parked (${workerId}): ${firstLine(reason)}\n${resumeLine(snapshotPath)}`;
}

/** The same for a loop that was cut off inside a turn. @param why such as `signal SIGTERM` */
export function interruptedHint({ workerId, snapshotPath }: Omit<ParkFacts, 'reason'>, why: string): string {
  return `harn: agent interrupted (${workerId}): ${why}\n${resumeLine(snapshotPath)}`;
}

/** What the terminal is told of loops that still run when nobody waits for them any more. */
export function cutOffHints(run: Run): string[] {
  const running = stopSignals(run).handler?.running() ?? [];
  return running.map((loop) => interruptedHint(loop, 'the run ended before it did'));
}

function resumeLine(snapshotPath: string): string {
  return `harn: resume with: harn run --resume ${quoteForShell(snapshotPath)}\n`;
}

function firstLine(reason: string): string {
  const characters = [...(reason.trim().split(/\r?\n/)[0] ?? '')];
  if (characters.length === 0) return 'unspecified';
  return characters.length <= REASON_LIMIT ? characters.join('') : `${characters.slice(0, REASON_LIMIT - 1).join('')}…`;
}

/** As it is when a shell reads it as one word. */
export function quoteForShell(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
