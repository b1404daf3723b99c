/** Words for where a worker stands (spec/agents.md 0.5), as they are written in snapshots. */
export const STATUSES = ['running', 'awaiting', 'suspended', 'completed', 'failed', 'cancelled', 'interrupted'] as const;

export type WorkerStatus = (typeof STATUSES)[number];

/** What an id of a worker may be made of; it names files. */
export const WORKER_ID = /^(?!(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))[a-z0-9._-]{1,200}(?<!\.)$/i;
