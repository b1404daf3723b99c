import type { WorkerStatus } from '../store/worker-status.ts';
import type { LoopState } from './activation.ts';
import type { Lifecycle } from './lifecycle.ts';
import { recoverInterrupted } from './recover.ts';
import { lifecycleStateOf } from './transition.ts';
import { splitSnapshot, type WorkerRecord } from './worker.ts';
import type { WorkerFiles } from './worker-files.ts';

/** A worker as its files say it is, the turns in its journal included. Looking changes nothing. */
export interface WorkerView {
  readonly status: WorkerStatus;
  readonly record: WorkerRecord;
  readonly state: LoopState;
  readonly files: WorkerFiles;
}

/**
 * Folds the journal into what the snapshot holds. A running worker is seen as of its last settled step.
 * @throws HarnError `HARN-SUS-004` for a damaged journal, or one that builds on another snapshot
 */
export function viewOfFiles(lifecycle: Lifecycle, files: WorkerFiles, target: string): WorkerView {
  const status = files.isClosed ? 'cancelled' : files.status;
  const { record, state } = files.activeOpen === undefined ? splitSnapshot(files.snapshot) : recoverInterrupted(lifecycle, files, target);
  const isParked = status === 'suspended' || status === 'interrupted';
  return {
    status,
    record: { ...record, status, lifecycle_state: lifecycleStateOf(status), suspension: isParked ? record.suspension : null },
    state,
    files,
  };
}
