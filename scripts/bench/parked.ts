import { spawnSync } from 'node:child_process';
import type { Row } from './measure.ts';
import type { Workspace } from './workspace.ts';

/** How many suspensions wait. */
const PARKED = 100_000;

interface Figures {
  readonly rearmMs: number;
  readonly bytesEach: number;
  readonly matchUs: number;
}

/**
 * What a host with very many parked workers costs: arming them from the index at its start, the memory that each takes,
 * and finding who an event wakes. In a process of its own, so that the heap holds nothing else.
 */
export function measureParked(workspace: Workspace): Row[] {
  const result = spawnSync(
    process.execPath,
    ['--expose-gc', '--import', 'tsx', `${import.meta.dirname}/parked-host.ts`, workspace.folder('parked'), String(PARKED)],
    {
      encoding: 'utf8',
    },
  );
  if (result.status !== 0) throw new Error(`the host of ${PARKED} parked workers ended with ${result.status}: ${result.stderr}`);
  const { rearmMs, bytesEach, matchUs } = JSON.parse(result.stdout) as Figures;
  const name = PARKED.toLocaleString('en');
  return [
    { group: 'parked', name: `arm ${name} again`, value: rearmMs, unit: 'ms', goal: 2_000, figures: { rearmMs } },
    { group: 'parked', name: `memory of one of ${name}`, value: bytesEach, unit: 'bytes', goal: 1_024, figures: { bytesEach } },
    { group: 'parked', name: `one event among ${name}`, value: matchUs, unit: 'us', goal: 50, figures: { matchUs } },
  ];
}
