import type { Json } from '../base/json.ts';
import type { RebindRequest } from './lifecycle.ts';
import type { WorkerRecord } from './worker.ts';

/**
 * What of a snapshot its script is bound again from (spec/agents.md 5.12).
 *
 * @param target the snapshot as the caller named it, for messages
 */
export function rebindRequest(record: WorkerRecord, snapshotPath: string, target: string): RebindRequest {
  return {
    program: record.program ?? null,
    config: { ...record.config.spec, task: record.task, graph: (record.config.graph ?? null) as Json }, // a payload of the snapshot
    mode: record.mode,
    workerId: record.id,
    snapshotPath,
    target,
    execution: record.execution ?? undefined,
    daemon: record.daemon ?? undefined,
  };
}
