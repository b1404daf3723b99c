import type { JsonObject } from '../base/json.ts';
import { closeWorker } from './close.ts';
import type { Lifecycle } from './lifecycle.ts';
import { resumeWorker } from './resume.ts';
import { isSettled, type OpenWork, unsettledState } from './unsettled.ts';

/**
 * What happens to parked workers when a pipeline ends (spec/agents.md 8.6): hooks may decide for each; those that were
 * left to the drain are cancelled by default, all others stay parked on disk.
 */
export type Disposition = 'resume' | 'cancel' | 'leave';

export interface DrainedItem {
  readonly handle: string;
  readonly disposition: Disposition;
}

/** @returns what became of each parked worker; empty when nothing was open */
export async function drainPipeline(lifecycle: Lifecycle, work: OpenWork): Promise<readonly DrainedItem[]> {
  const state = unsettledState(lifecycle, work);
  if (isSettled(state)) return [];
  const report = (text: string): void => lifecycle.warn(text);
  await lifecycle.hooks.notify('on_unsettled_detected', { event: 'OnUnsettledDetected', ...state }, report);
  await lifecycle.hooks.notify('pre_drain', { event: 'PreDrain', ...state }, report);
  const items: DrainedItem[] = [];
  for (const entry of state.suspended_subagents) items.push(await drainWorker(lifecycle, entry));
  await lifecycle.hooks.notify('post_drain', { event: 'PostDrain', items: items.map((item) => ({ ...item })) }, report);
  return items;
}

async function drainWorker(lifecycle: Lifecycle, entry: JsonObject): Promise<DrainedItem> {
  const handle = String(entry.handle);
  const preset: Disposition = lifecycle.owners.drained.has(handle) ? 'cancel' : 'leave';
  const payload = { event: 'OnDrainDecision', item: entry, disposition: preset };
  const outcome = await lifecycle.hooks.runChain('on_drain_decision', payload);
  const { disposition, resume_input: input } = outcome.payload;
  const decided = outcome.control === 'deny' ? 'leave' : isDisposition(disposition) ? disposition : preset;
  await settle(lifecycle, handle, decided, typeof input === 'string' ? input : undefined);
  lifecycle.audit.emit('drain_decision', { handle, disposition: decided });
  return { handle, disposition: decided };
}

async function settle(lifecycle: Lifecycle, handle: string, disposition: Disposition, input: string | undefined): Promise<void> {
  if (disposition === 'cancel') await closeWorker(lifecycle, { kind: 'worker', id: handle }, { by: 'operator' });
  if (disposition === 'resume') await resumeDrained(lifecycle, handle, input);
}

/** Resumes the suspension that the drain has seen, and waits for what comes of it. */
export async function resumeDrained(lifecycle: Lifecycle, handle: string, input: string | undefined): Promise<JsonObject> {
  const worker = lifecycle.registry.get(handle);
  const summary = await resumeWorker(lifecycle, {
    target: { kind: 'worker', id: handle, suspensionId: worker?.suspension?.suspension_id },
    input,
    continueTranscript: true,
    cause: 'parent',
    startedAt: lifecycle.realClock.now(),
    entry: lifecycle.registry.nextEntry(),
    mayReadResult: false,
  });
  await lifecycle.registry.get(handle)?.atRest();
  return summary;
}

function isDisposition(value: unknown): value is Disposition {
  return value === 'resume' || value === 'cancel' || value === 'leave';
}
