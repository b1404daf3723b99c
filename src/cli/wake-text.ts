import type { Instant } from '../base/instant.ts';
import { renderInstant } from '../base/instant.ts';
import type { Palette } from '../diagnostics/render.ts';
import type { SuspensionHead } from '../lifecycle/suspension-head.ts';
import type { WorkerHead } from '../lifecycle/worker-head.ts';
import { counted } from './counted.ts';
import { dueText, hasLivingScript, processText } from './worker-text.ts';

export interface WakeFacts {
  /** The next tick of its schedule. */
  readonly scheduledAt: Instant | undefined;
  /** Records of its topic that came after the park. */
  readonly waitingRecords: number;
  readonly now: Instant;
  readonly host: string;
  readonly palette: Palette;
}

/** What will wake a worker, when and by whom, in whole sentences, one a line. */
export function wakeLines(head: WorkerHead, facts: WakeFacts): string[] {
  const { suspension } = head;
  if (suspension === undefined) return stateLines(head);
  return [
    ...timeoutLines(suspension, facts),
    ...triggerLines(suspension, facts),
    ...topicLines(suspension, facts),
    ownerLine(suspension, head),
    ...attendanceLines(suspension, facts),
  ];
}

function stateLines(head: WorkerHead): string[] {
  const { id, status } = head;
  switch (status) {
    case 'running':
      return ['it runs; nothing has to wake it'];
    case 'awaiting':
      if (!hasLivingScript(head)) return [`nobody: the process of its script is gone; harn workers close ${id} ends it`];
      return ['worker_trigger of the script that started it starts its next cycle; nobody else can wake it'];
    case 'interrupted':
      return ['nobody: its process ended in the middle of its work; a resume goes on from its last settled step'];
    default:
      return [];
  }
}

const ACTIONS: Readonly<Record<string, string>> = {
  resume_with_summary: 'resumes it from a summary of its history, without input',
  resume_with_input: 'resumes it with its whole history and a note that the time is up',
  fail: 'ends it as failed; nothing resumes it after that',
};

function timeoutLines({ timeout }: SuspensionHead, { now }: WakeFacts): string[] {
  if (timeout === undefined) return [];
  const action = ACTIONS[timeout.action] ?? `is refused with HARN-SUS-008: harn does not know the action ${timeout.action}`;
  const when =
    timeout.deadlineAt === undefined ? 'never armed' : `${renderInstant(timeout.deadlineAt)}, ${dueText(timeout.deadlineAt, now)}`;
  return [`timeout (${when}): ${action}`];
}

function triggerLines({ trigger }: SuspensionHead, { scheduledAt, now }: WakeFacts): string[] {
  if (trigger === undefined) return [];
  const { provider, kind, schedule, timezone, hasPredicate, isArmed } = trigger;
  const what =
    schedule === undefined
      ? `an event ${kind} of ${provider}`
      : `the schedule ${schedule}${timezone === undefined ? '' : ` in ${timezone}`}`;
  const predicate = hasPredicate ? ' that passes the predicate of the script' : '';
  const next = scheduledAt === undefined ? '' : `, next ${renderInstant(scheduledAt)}, ${dueText(scheduledAt, now)}`;
  return [`trigger: ${what}${predicate}${next}${isArmed ? ' resumes it with the event as input' : ', which its owner did not arm'}`];
}

function topicLines({ topic }: SuspensionHead, { waitingRecords }: WakeFacts): string[] {
  if (topic === undefined) return [];
  if (!topic.isArmed) return [`topic ${topic.name}, which its owner did not arm`];
  const waiting =
    waitingRecords === 0 ? '' : `; ${counted(waitingRecords, 'record')} came since, and the next host delivers the first at once`;
  return [`topic ${topic.name}: the next record resumes it with its payload as input${waiting}`];
}

function ownerLine({ mechanism }: SuspensionHead, { parentId }: WorkerHead): string {
  switch (mechanism) {
    case undefined:
      return 'owner: none; the process died before one was chosen';
    case 'ResumeBy.parent_llm':
      return parentId === undefined
        ? 'owner: ResumeBy.parent_llm; a root loop has no parent, so somebody has to resume it'
        : `owner: ResumeBy.parent_llm; its parent ${parentId} decides`;
    case 'ResumeBy.local_runtime':
      return 'owner: ResumeBy.local_runtime; the process that armed it wakes it';
    case 'ResumeBy.cloud_harness':
      return 'owner: ResumeBy.cloud_harness; a receiver outside was told of it and wakes it';
    case 'ResumeBy.pipeline_drain':
      return 'owner: ResumeBy.pipeline_drain; the end of its pipeline decides';
    default:
      return `owner: ${mechanism}, chosen by the script`;
  }
}

function attendanceLines({ attendance, armer }: SuspensionHead, { host, palette }: WakeFacts): string[] {
  switch (attendance) {
    case 'attended':
      return armer === undefined ? [] : [`armed by ${processText(armer, host)}, which is alive`];
    case 'elsewhere':
      return armer === undefined ? [] : [`armed by ${processText(armer, host)}; whether it is alive cannot be seen from here`];
    case 'unattended': {
      const who =
        armer === undefined ? 'no process of this host is known to have armed it' : `${processText(armer, host)} armed it and is gone`;
      return [`${palette.error('nobody will wake it')}: ${who}; resume it by hand, or let a host arm it again`];
    }
    case 'open':
      return ['nothing is armed: it waits until somebody resumes it'];
  }
}
