import type { Json, JsonObject } from '../base/json.ts';
import type { Clock } from '../platform/platform.ts';
import type { EventLog } from '../store/event-log.ts';

/** The audit log of a run (spec/agents.md 8.5): who caused what. Never event payloads, inputs or transcript text. */
export interface AuditRecord {
  /** 1 for the first record of the run; goes on counting after a take. */
  readonly seq: number;
  readonly kind: string;
  readonly payload: Json;
  readonly pipeline_id: string | null;
}

export const AUDIT_TOPIC = 'pipeline.lifecycle.audit';

export class AuditLog {
  readonly #eventLog: EventLog;
  readonly #clock: Clock;
  #records: AuditRecord[] = [];
  #seq = 0;
  /** Set by the runtime while a pipeline runs. */
  pipelineId: string | undefined;

  constructor(eventLog: EventLog, clock: Clock) {
    this.#eventLog = eventLog;
    this.#clock = clock;
  }

  emit(kind: string, payload: Json): AuditRecord {
    const record: AuditRecord = { seq: ++this.#seq, kind, payload, pipeline_id: this.pipelineId ?? null };
    this.#records.push(record);
    this.#eventLog.append({
      topic: AUDIT_TOPIC,
      kind,
      payload: record as unknown as JsonObject, // an interface without an index signature, JSON by its fields
      headers: {},
      occurredAt: this.#clock.now(),
      durability: 'lazy',
    });
    return record;
  }

  snapshot(): readonly AuditRecord[] {
    return [...this.#records];
  }

  /** Gives the records and empties the log. */
  take(): readonly AuditRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }
}
