import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { sha256 } from '../base/sha256.ts';

/**
 * Steps from one format of the snapshot to the next; entry n reads format n. Append only: a released format stays
 * readable for ever, and test/store/fixtures holds a file of each.
 */
export const SNAPSHOT_MIGRATIONS: readonly ((document: JsonObject) => JsonObject)[] = [fromUnversioned];

/** The format before versions: no `version`, `loop`, `resume` or `integrity`; a missing status means a crash. */
function fromUnversioned(document: JsonObject): JsonObject {
  const id = typeof document.id === 'string' ? document.id : 'worker_unknown';
  const status = typeof document.status === 'string' ? document.status : 'interrupted';
  const config = isJsonObject(document.config) ? document.config : {};
  return {
    name: 'worker',
    task: '',
    mode: 'sub_agent',
    history: [],
    request: {},
    artifacts: [],
    carry_policy: {},
    loop: {},
    resume: { generation: 0, suspension_id: null, opened_at: null, claim: null },
    ...document,
    id,
    _type: 'worker_snapshot',
    version: 1,
    config: { mode: typeof document.mode === 'string' ? document.mode : 'sub_agent', ...config },
    // A file of this format that says `running` was left behind by a crash; a live owner is known by its claim.
    status: status === 'running' ? 'interrupted' : status,
    lifecycle_state: typeof document.lifecycle_state === 'string' ? document.lifecycle_state : lifecycleStateOf(status),
    suspension: suspensionFromUnversioned(document.suspension, id),
    last_suspension: suspensionFromUnversioned(document.last_suspension, id),
  };
}

function lifecycleStateOf(status: string): string {
  if (status === 'completed' || status === 'failed') return 'done';
  return status === 'cancelled' ? 'closed' : 'suspended';
}

function suspensionFromUnversioned(value: Json | undefined, workerId: string): Json {
  if (!isJsonObject(value)) return null;
  const suspendedAt = typeof value.suspended_at === 'string' ? value.suspended_at : '';
  return {
    reason: '',
    iterations_completed: 0,
    ...value,
    suspension_id: typeof value.suspension_id === 'string' ? value.suspension_id : derivedSuspensionId(workerId, suspendedAt),
    status: 'suspended',
    handle: typeof value.handle === 'string' ? value.handle : workerId,
    initiator: value.initiator === 'self_initiated' || value.initiator === undefined ? 'self' : value.initiator,
    suspended_at: suspendedAt,
    suspended_at_turn: typeof value.suspended_at_turn === 'number' ? value.suspended_at_turn : null,
    auto_resume_trigger: isJsonObject(value.auto_resume_trigger) ? value.auto_resume_trigger : null,
  };
}

/** The same file must name the same suspension whenever it is read, so the id cannot be drawn anew. */
function derivedSuspensionId(workerId: string, suspendedAt: string): string {
  const hex = sha256(`${workerId}\n${suspendedAt}`);
  return `susp_${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}
