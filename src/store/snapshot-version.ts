/** The newest format of snapshots that this harn reads, and the one that it writes (spec/agents.md 4.7). */
export const SNAPSHOT_VERSION = 1;
