import { listWorkers } from '../../lifecycle/list-workers.ts';
import { endedWorkers, removeEndedWorker } from '../../lifecycle/prune.ts';
import type { WorkerHead } from '../../lifecycle/worker-head.ts';
import type { Platform } from '../../platform/platform.ts';
import { displayPath } from '../../store/state-root.ts';
import { counted } from '../counted.ts';
import { EXIT } from '../exit-codes.ts';
import { type Operator, runAsOperator } from '../operator.ts';
import { UsageError } from '../parse-options.ts';
import { ageText } from '../worker-text.ts';

export interface PruneOptions {
  readonly json?: string | true | undefined;
  readonly olderThan?: string | true | undefined;
  readonly yes?: string | true | undefined;
}

const DEFAULT_AGE = '30d';
const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** `harn workers prune`: removes the files of workers that are over for long; without `--yes` it only names them. */
export function pruneCommand(platform: Platform, options: PruneOptions): Promise<number> {
  const before = platform.clock.now() - ageMs(typeof options.olderThan === 'string' ? options.olderThan : DEFAULT_AGE);
  return runAsOperator(platform, options, async (operator) => {
    const ended = endedWorkers(await listWorkers(platform, operator.lifecycle.locations), before);
    const isReal = options.yes === true;
    const removed = isReal ? await removeAll(operator, ended) : [];
    const skipped = isReal ? ended.length - removed.length : 0;
    const shown = isReal ? removed : ended;
    return {
      exitCode: EXIT.success,
      text: shown.map((head) => `${head.id}  ${head.status}  ${ageText(head.since, platform.clock.now())}\n`).join(''),
      notes: isReal
        ? `harn: ${counted(removed.length, 'worker')} removed${skipped === 0 ? '' : `, ${skipped} left alone because somebody uses them`}\n`
        : `harn: ${counted(ended.length, 'worker')} would be removed${ended.length === 0 ? '' : '; --yes does it'}\n`,
      data: { removed: isReal, skipped, workers: shown.map((head) => headJson(platform, head)) },
    };
  });
}

async function removeAll({ lifecycle }: Operator, ended: readonly WorkerHead[]): Promise<WorkerHead[]> {
  const removed: WorkerHead[] = [];
  for (const head of ended) if (await removeEndedWorker(lifecycle, head)) removed.push(head);
  return removed;
}

function ageMs(text: string): number {
  const [, count, unit] = /^(\d+)([smhdw])$/.exec(text) ?? [];
  const unitMs = UNIT_MS[unit ?? ''];
  if (unitMs === undefined) throw new UsageError(`--older-than: ${text} is no age; write a number with s, m, h, d or w, such as 30d`);
  return Number(count) * unitMs;
}

function headJson(platform: Platform, { id, status, snapshotPath }: WorkerHead) {
  return { id, status, snapshot_path: displayPath(platform.files.cwd(), snapshotPath) };
}
