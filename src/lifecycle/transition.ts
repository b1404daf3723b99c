import type { WorkerStatus } from '../store/worker-status.ts';

/**
 * The state machine of a worker (spec/agents.md 5.1) as one table. It decides and never acts: the order of hooks,
 * claims, writes and events around a step is that of 5.3, 5.4 and 5.11 and lives in suspend.ts, resume.ts and close.ts.
 */
export type WorkerEvent =
  /** `suspend_agent`, a signal or a broadcast asks for a park at the next boundary. */
  | 'suspend'
  /** The loop stands at a boundary and parks. */
  | 'park'
  | 'resume'
  | 'close'
  /** The loop ended by itself. */
  | 'complete'
  /** The loop threw. */
  | 'fail'
  /** A retriggerable worker finished a cycle. */
  | 'await'
  /** `send_input` or `worker_trigger` starts the next run of the worker. */
  | 'restart'
  /** A timeout with the action `fail`. */
  | 'expire'
  /** The owner found a higher generation on disk. */
  | 'fence';

export type Decision =
  | { readonly kind: 'go'; readonly to: WorkerStatus }
  /** Nothing changes and nobody is told; the caller gets the current summary. */
  | { readonly kind: 'stay' }
  | { readonly kind: 'refuse'; readonly code: RefusalCode };

/** `none`: the pair cannot come up from outside; meeting it is a defect of harn. */
export type RefusalCode = 'HARN-SUS-001' | 'HARN-SUS-003' | 'HARN-SUS-006' | 'HARN-SUS-010' | 'plain' | 'none';

const go = (to: WorkerStatus): Decision => ({ kind: 'go', to });
const refuse = (code: RefusalCode): Decision => ({ kind: 'refuse', code });
const stay: Decision = { kind: 'stay' };
const never = refuse('none');

const TABLE: Readonly<Record<WorkerStatus, Readonly<Record<WorkerEvent, Decision>>>> = {
  running: {
    suspend: stay,
    park: go('suspended'),
    resume: refuse('HARN-SUS-003'),
    close: go('cancelled'),
    complete: go('completed'),
    fail: go('failed'),
    await: go('awaiting'),
    restart: refuse('plain'),
    expire: never,
    fence: refuse('HARN-SUS-006'),
  },
  awaiting: {
    suspend: refuse('HARN-SUS-001'),
    park: never,
    resume: refuse('HARN-SUS-003'),
    close: go('cancelled'),
    complete: never,
    fail: never,
    await: never,
    restart: go('running'),
    expire: never,
    fence: refuse('HARN-SUS-006'),
  },
  suspended: {
    suspend: stay,
    park: never,
    resume: go('running'),
    close: go('cancelled'),
    complete: never,
    fail: never,
    await: never,
    restart: refuse('plain'),
    expire: go('failed'),
    fence: refuse('HARN-SUS-006'),
  },
  interrupted: {
    suspend: refuse('HARN-SUS-001'),
    park: never,
    resume: go('running'),
    close: go('cancelled'),
    complete: never,
    fail: never,
    await: never,
    restart: refuse('plain'),
    expire: never,
    fence: refuse('HARN-SUS-006'),
  },
  completed: terminal('HARN-SUS-003', go('running')),
  failed: terminal('HARN-SUS-003', go('running')),
  cancelled: terminal('HARN-SUS-010', refuse('plain')),
};

function terminal(onResume: RefusalCode, onRestart: Decision): Readonly<Record<WorkerEvent, Decision>> {
  return {
    suspend: refuse('HARN-SUS-001'),
    park: never,
    resume: refuse(onResume),
    close: stay,
    complete: never,
    fail: never,
    await: never,
    restart: onRestart,
    expire: never,
    fence: never,
  };
}

/** What an event means for a worker in this status. */
export function transition(status: WorkerStatus, event: WorkerEvent): Decision {
  return TABLE[status][event];
}

/** The four states of the public contract behind the finer status words (spec/agents.md 0.5). */
export type LifecycleState = 'running' | 'suspended' | 'done' | 'closed';

export function lifecycleStateOf(status: WorkerStatus): LifecycleState {
  switch (status) {
    case 'running':
    case 'awaiting':
      return 'running';
    case 'suspended':
    case 'interrupted':
      return 'suspended';
    case 'completed':
    case 'failed':
      return 'done';
    case 'cancelled':
      return 'closed';
  }
}

/** Nothing leaves these but a new task for a finished worker. */
export function isTerminal(status: WorkerStatus): boolean {
  const state = lifecycleStateOf(status);
  return state === 'done' || state === 'closed';
}

/** Where a worker stands when its snapshot says `written` and its journal and claim are looked at as well (4.7, 5.7). */
export function effectiveStatus(
  written: WorkerStatus,
  beside: { readonly hasActiveJournal: boolean; readonly isClaimed: boolean },
): WorkerStatus {
  // The head of a worker that never parked, and files of a format without journals, say `running`.
  if (beside.hasActiveJournal || written === 'running') return beside.isClaimed ? 'running' : 'interrupted';
  return written;
}
