import { isJsonObject, type JsonObject } from '../base/json.ts';
import { acquireClaim, claimPathOf } from '../store/claim-file.ts';
import type { Lifecycle } from './lifecycle.ts';
import { writeRecord } from './persist.ts';
import { standOnDisk } from './tenure.ts';
import type { Worker } from './worker.ts';

/**
 * Something arrived for a worker that is parked (spec/agents.md 2.8): it goes into the snapshot, so that whoever
 * resumes it, in whatever process, tells the model. That is a rewrite of the same suspension, made under its claim.
 *
 * @param handleId the background work that it is the end of
 * @returns false when somebody else has the worker by now, or the disk refuses: the feedback has no taker then
 */
export function addParkedFeedback(lifecycle: Lifecycle, worker: Worker, feedback: JsonObject, handleId: string): boolean {
  const suspensionId = worker.suspension?.suspension_id;
  if (worker.status !== 'suspended' || worker.isInTransition || suspensionId === undefined) return false;
  const facts = { suspensionId, generation: worker.generation };
  const attempt = acquireClaim(lifecycle.claims, claimPathOf(worker.snapshotPath), facts);
  if (attempt.kind === 'held') return false;
  try {
    const stand = standOnDisk(lifecycle.platform.files, worker.snapshotPath);
    if (stand.suspensionId !== suspensionId || stand.generation !== worker.generation) return false;
    const { loop } = worker.state;
    const pending = Array.isArray(loop.pending_feedback) ? loop.pending_feedback : [];
    const handles = Array.isArray(loop.async_handles) ? loop.async_handles : [];
    const left = handles.filter((handle) => !isJsonObject(handle) || handle.handle_id !== handleId);
    const state = { ...worker.state, loop: { ...loop, pending_feedback: [...pending, feedback], async_handles: left } };
    writeRecord(lifecycle, worker, {}, state);
    worker.state = state;
    return true;
  } catch {
    return false;
  } finally {
    attempt.claim.release();
  }
}
