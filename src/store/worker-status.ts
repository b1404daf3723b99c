/** Words for where a worker stands (spec/agents.md 0.5), as they are written in snapshots. */
export const STATUSES = ['running', 'awaiting', 'suspended', 'completed', 'failed', 'cancelled', 'interrupted'] as const;

export type WorkerStatus = (typeof STATUSES)[number];
