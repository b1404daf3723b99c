import { join } from 'node:path';
import * as z from 'zod/mini';
import { decodeProblem, OWN_TEXTS_ONLY } from '../base/decode-problem.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../base/json.ts';
import { lazily } from '../base/lazily.ts';
import type { Files } from '../platform/platform.ts';
import { type Disk, ensureDirectory, writeAtomic } from './atomic-file.ts';
import { snapshotError } from './snapshot-error.ts';

/**
 * The two files of a daemon (spec/agents.md 11.4): `daemon.json`, its snapshot at the last idle, and
 * `daemon.meta.json`, its configuration and queue. Both are replaced as a whole.
 */
export interface DaemonFiles {
  readonly snapshot: string;
  readonly meta: string;
}

export function daemonFiles(directory: string): DaemonFiles {
  return { snapshot: join(directory, 'daemon.json'), meta: join(directory, 'daemon.meta.json') };
}

/** One trigger of a daemon. Delivery is at-least-once; `seq` lets a handler see that it had an event before. */
export type DaemonEvent = {
  /** Counted from 1 over the life of the daemon. */
  readonly seq: number;
  readonly enqueued_at: string;
  readonly payload: Json;
  /** It was in flight before, when the daemon stopped or crashed. */
  readonly redelivered?: boolean;
};

export type DaemonMeta = {
  readonly _type: 'daemon_meta';
  readonly id: string;
  readonly name: string;
  readonly prompt: string;
  readonly system: string | null;
  readonly session_id: string;
  readonly worker_id: string;
  readonly options: JsonObject;
  readonly event_queue_capacity: number;
  readonly next_event_seq: number;
  readonly pending_events: readonly DaemonEvent[];
  readonly inflight_event: DaemonEvent | null;
};

const count = lazily(() => z.int().check(z.nonnegative()));

const eventSchema = lazily(() =>
  z.object({ seq: count(), enqueued_at: z.string(), payload: z.json(), redelivered: z.optional(z.boolean()) }),
);

const metaSchema = lazily(() =>
  z.looseObject({
    _type: z.literal('daemon_meta'),
    id: z.string(),
    name: z.string(),
    prompt: z.string(),
    system: z.nullable(z.string()),
    session_id: z.string(),
    worker_id: z.string(),
    options: z.custom<JsonObject>(isJsonObject, 'expected an object'),
    event_queue_capacity: count(),
    next_event_seq: count(),
    pending_events: z.array(eventSchema()),
    inflight_event: z.nullable(eventSchema()),
  }),
);

export function writeDaemonMeta(disk: Disk, path: string, meta: DaemonMeta): void {
  ensureDirectory(disk.files, join(path, '..'));
  writeAtomic(disk, path, `${JSON.stringify(meta, null, 2)}\n`);
}

/**
 * @returns undefined when there is no such file
 * @throws HarnError `HARN-SUS-004`, reason `malformed`
 */
export function readDaemonMeta(files: Files, path: string, target = path): DaemonMeta | undefined {
  if (!files.exists(path)) return undefined;
  const given = parseJson(files.readText(path));
  if (given === undefined) throw snapshotError('malformed', `${path} is not valid JSON`, { target, path });
  const decoded = metaSchema().safeParse(given, OWN_TEXTS_ONLY);
  if (decoded.success) return decoded.data as DaemonMeta; // unknown keys are kept
  const issue = decoded.error.issues[0];
  const field = issue === undefined || issue.path.length === 0 ? 'document' : issue.path.join('.');
  throw snapshotError('malformed', `field \`${field}\` of ${path}: ${decodeProblem(issue, given)}`, { target, path, detail: { field } });
}

/** Events as a snapshot's daemon block holds them; those that are none are left out. */
export function decodeDaemonEvents(value: Json | undefined): DaemonEvent[] {
  return (Array.isArray(value) ? value : []).flatMap((item) => {
    const event = eventSchema().safeParse(item, OWN_TEXTS_ONLY);
    return event.success ? [event.data as DaemonEvent] : [];
  });
}
