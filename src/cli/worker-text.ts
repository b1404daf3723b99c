import { renderElapsed } from '../base/elapsed.ts';
import type { Instant } from '../base/instant.ts';
import type { SeenProcess, SuspensionHead } from '../lifecycle/suspension-head.ts';
import type { WorkerHead } from '../lifecycle/worker-head.ts';

/** Words for what `harn workers` knows of a worker, as short as a column of a table wants them. */

/** Who answers for a worker: the process that runs it, or the owner of its wake. */
export function ownerText({ status, runner, suspension }: WorkerHead, host: string): string {
  if (suspension !== undefined) return wakeOwnerText(suspension, host);
  if (runner === undefined) return status === 'interrupted' ? 'gone' : '-';
  return `${processText(runner, host)}${livenessMark(runner)}`;
}

function wakeOwnerText({ mechanism, armer, attendance }: SuspensionHead, host: string): string {
  const owner = mechanism === undefined ? 'none' : mechanismText(mechanism);
  if (attendance === 'unattended') return `${owner}, gone`;
  return armer === undefined ? owner : `${owner}, ${processText(armer, host)}`;
}

const MECHANISMS: Readonly<Record<string, string>> = {
  'ResumeBy.parent_llm': 'parent',
  'ResumeBy.local_runtime': 'local',
  'ResumeBy.cloud_harness': 'cloud',
  'ResumeBy.pipeline_drain': 'drain',
};

function mechanismText(mechanism: string): string {
  return MECHANISMS[mechanism] ?? mechanism;
}

export function processText({ pid, host }: SeenProcess, ownHost: string): string {
  return host === ownHost ? `pid ${pid}` : `pid ${pid}@${host}`;
}

function livenessMark({ liveness }: SeenProcess): string {
  return { alive: '', dead: ', gone', unknown: ', silent' }[liveness];
}

/** What will happen next, and when. @param scheduledAt the next tick of its schedule */
export function nextWakeText(head: WorkerHead, scheduledAt: Instant | undefined, now: Instant): string {
  const { suspension } = head;
  if (head.status === 'awaiting') return hasLivingScript(head) ? 'by its script' : 'nobody';
  if (suspension === undefined) return head.status === 'interrupted' ? 'by hand' : '-';
  const { attendance } = suspension;
  if (attendance === 'unattended') return 'nobody';
  if (attendance === 'open') return openWakeText(head, suspension);
  return armedWakes(suspension, scheduledAt, now).join(' or ') || 'by its owner';
}

/** Of a worker between two cycles: only the process that holds its claim can start the next one. */
export function hasLivingScript({ runner }: WorkerHead): boolean {
  return runner !== undefined && runner.liveness !== 'dead';
}

function openWakeText({ parentId }: WorkerHead, { mechanism }: SuspensionHead): string {
  if (mechanism === 'ResumeBy.pipeline_drain') return 'by the pipeline';
  return mechanism === 'ResumeBy.parent_llm' && parentId !== undefined ? 'by its parent' : 'by hand';
}

function armedWakes({ timeout, trigger, topic }: SuspensionHead, scheduledAt: Instant | undefined, now: Instant): string[] {
  const times = [timeout?.deadlineAt, scheduledAt].filter((at) => at !== undefined);
  const hasTicks = scheduledAt !== undefined;
  return [
    ...(times.length === 0 ? [] : [dueText(Math.min(...times), now)]),
    ...(trigger?.isArmed === true && !hasTicks ? [`${trigger.provider} ${trigger.kind}`] : []),
    ...(topic?.isArmed === true ? [`topic ${topic.name}`] : []),
  ];
}

export function dueText(dueAt: Instant, now: Instant): string {
  return dueAt > now ? `in ${renderElapsed(dueAt - now)}` : `overdue ${renderElapsed(now - dueAt)}`;
}

export function ageText(since: Instant | undefined, now: Instant): string {
  return since === undefined ? '-' : renderElapsed(Math.max(0, now - since));
}
