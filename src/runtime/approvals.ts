import type { Run } from './context.ts';

const APPROVALS = Symbol('approvals');

/** Whether somebody has approved beforehand whatever a policy or a hook of this run asks approval for (`--yes`). */
export interface Approvals {
  areGranted: boolean;
}

export function approvalsOf(run: Run): Approvals {
  return run.service(APPROVALS, (): Approvals => ({ areGranted: false }));
}
