import { type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';

/** One line of the report: what was measured, against what, and whether it reaches the goal. */
export interface Row {
  readonly group: string;
  readonly name: string;
  /** The figure that the goal is about: a ratio unless `unit` says otherwise. */
  readonly value: number;
  readonly unit: 'ratio' | 'ms' | 'bytes' | 'us';
  readonly goal: number | undefined;
  /** The raw figures behind `value`, in the unit their name says. */
  readonly figures: Readonly<Record<string, number>>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) throw new Error('median of nothing');
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

/** Runs a command to its end and gives its wall time in milliseconds; throws when it fails. */
export function timeCommand(command: string, args: readonly string[], options: SpawnSyncOptions = {}): number {
  const start = performance.now();
  const result = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'], ...options });
  const elapsed = performance.now() - start;
  if (result.error) throw result.error;
  if (result.status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${result.status}: ${String(result.stderr)}`);
  return elapsed;
}

export interface Subject {
  readonly name: string;
  /** One measured run, in milliseconds. Anything it prepares itself is not measured. */
  run(round: number): number;
}

/**
 * Measures all subjects in turn, round by round, so that a change of the machine's mood hits them alike.
 * The first round is a warm-up and is thrown away.
 */
export function interleaved(subjects: readonly Subject[], rounds: number): Map<string, number> {
  const times = new Map<string, number[]>(subjects.map((subject) => [subject.name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const subject of subjects) {
      const elapsed = subject.run(round);
      if (round > 0) times.get(subject.name)?.push(elapsed);
    }
  }
  return new Map([...times].map(([name, values]) => [name, median(values)]));
}

/** The median of one subject after `interleaved`. */
export function of(medians: ReadonlyMap<string, number>, name: string): number {
  const value = medians.get(name);
  if (value === undefined) throw new Error(`nothing was measured for ${name}`);
  return value;
}
