import { errorText } from '../base/harn-error.ts';
import { renderInstant } from '../base/instant.ts';
import { acquireClaim, claimPathOf } from '../store/claim-file.ts';
import type { Lifecycle } from './lifecycle.ts';
import { writeRecord } from './persist.ts';
import { isLostWake } from './resume.ts';
import { lostTimeoutError } from './sus-errors.ts';
import { standOnDisk } from './tenure.ts';
import { transition } from './transition.ts';
import type { Worker } from './worker.ts';
import { announceWorker } from './worker-events.ts';

/**
 * The timeout action `fail` (spec/agents.md 6.4): the worker ends as failed, without a resume and without its hooks.
 * @returns `failed` when that could not be written: nothing has changed
 */
export async function expireWorker(lifecycle: Lifecycle, worker: Worker, suspensionId: string): Promise<'expired' | 'lost' | 'failed'> {
  const deadlineAt = worker.record.armed?.deadline_at ?? null;
  const mechanism = worker.suspension?.resume_by_mechanism ?? null;
  try {
    commitExpiry(lifecycle, worker, suspensionId);
  } catch (error) {
    if (!isLostWake(error)) {
      lifecycle.warn(`harn: the timeout of ${worker.id} could not be written: ${errorText(error)}`);
      return 'failed';
    }
    lifecycle.audit.emit('auto_resume_lost', {
      handle: worker.id,
      cause: 'timeout',
      code: error.code,
      suspension_id: suspensionId,
      winner_generation: lifecycle.registry.get(worker.id)?.generation ?? null,
    });
    return 'lost';
  }
  lifecycle.audit.emit('auto_resume_expired', { handle: worker.id, mechanism, deadline_at: deadlineAt });
  await announceWorker(lifecycle, worker, 'WorkerFailed');
  worker.announceChange();
  return 'expired';
}

function commitExpiry(lifecycle: Lifecycle, worker: Worker, suspensionId: string): void {
  const decision = transition(worker.status, 'expire');
  if (decision.kind !== 'go' || worker.suspension?.suspension_id !== suspensionId) throw lostTimeoutError(worker.id, worker.status);
  const generation = worker.generation + 1;
  const attempt = acquireClaim(lifecycle.claims, claimPathOf(worker.snapshotPath), { suspensionId, generation });
  if (attempt.kind === 'held') throw lostTimeoutError(worker.id, worker.status);
  try {
    const stand = standOnDisk(lifecycle.platform.files, worker.snapshotPath);
    if (stand.generation !== worker.generation || stand.suspensionId !== suspensionId)
      throw lostTimeoutError(worker.id, stand.status ?? 'missing');
    const changes = {
      status: decision.to,
      lifecycle_state: 'done',
      finished_at: renderInstant(lifecycle.platform.clock.now()),
      suspension: null,
      last_suspension: worker.suspension,
      armed: null,
      latest_error: 'auto-resume timeout expired',
      resume: { ...worker.record.resume, generation },
    };
    writeRecord(lifecycle, worker, changes, worker.state);
    lifecycle.waker.disarm(worker).forget();
    worker.change(changes);
  } finally {
    attempt.claim.release();
  }
}
