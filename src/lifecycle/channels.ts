import { renderInstant } from '../base/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { EventRecord } from '../store/event-log.ts';
import { type ChannelPlace, channelError, channelTopic, parseChannelName, parseChannelSelector, resolveChannel } from './channel-name.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Binding } from './trigger-registry.ts';

/** Channels between pipelines, sessions and tenants (spec/agents.md 9.5): a durable record, then every binding that listens. */
export interface EmitOptions {
  /** Makes the emit idempotent. */
  readonly id?: string | undefined;
  readonly ttlMs?: number | undefined;
  readonly scope?: string | undefined;
  readonly emittedBy?: string | undefined;
}

/**
 * Emits and waits until all matching bindings have been dispatched.
 * @throws HarnError `HARN-CHN-001` … `-004`
 */
export async function emitChannel(
  lifecycle: Lifecycle,
  dispatcher: Dispatcher,
  name: string,
  payload: Json,
  place: ChannelPlace,
  options: EmitOptions,
): Promise<JsonObject> {
  const channel = resolveChannel(scopedName(name, options.scope), place);
  const topic = channelTopic(channel);
  const id = options.id ?? lifecycle.platform.random.uuidV7();
  const earlier = options.id === undefined ? undefined : emittedBefore(lifecycle, topic, options.id);
  const occurredAt = earlier?.occurredAt ?? lifecycle.platform.clock.now();
  const record = earlier ?? lifecycle.eventLog.append({ topic, kind: 'channel.emit', payload, headers: { id }, occurredAt });
  if (earlier === undefined) await fanOut(lifecycle, dispatcher, channel, place, payload, id);
  return {
    event_id: record.id,
    id,
    name_resolved: `${channel.scope}:${channel.scopeId}:${channel.name}`,
    scope: channel.scope,
    scope_id: channel.scopeId,
    emitted_at: { at_ms: occurredAt, at: renderInstant(occurredAt), algorithm: null, key_id: null, signature: null },
    emitted_by: options.emittedBy ?? null,
    retention: 'durable',
    ttl_ms: options.ttlMs ?? null,
    duplicate: earlier !== undefined,
  };
}

/** Records of a channel, oldest first. */
export function channelEvents(
  lifecycle: Lifecycle,
  name: string,
  place: ChannelPlace,
  options: { readonly limit?: number | undefined; readonly fromCursor?: number | undefined },
): JsonObject[] {
  const topic = channelTopic(resolveChannel(parseChannelName(name), place));
  return lifecycle.eventLog.read(topic, options.fromCursor ?? 0, options.limit).map(shownRecord);
}

export function shownRecord(record: EventRecord): JsonObject {
  const { id, topic, kind, payload, headers, occurredAt } = record;
  return { id, cursor: id, topic, kind, payload, headers, occurred_at_ms: occurredAt };
}

function scopedName(name: string, scope: string | undefined) {
  const parsed = parseChannelName(name);
  if (scope === undefined) return parsed;
  const isBare = !name.includes(':');
  if (!isBare && scope !== parsed.scope) throw channelError('004', name, `the option scope \`${scope}\` contradicts the name`);
  return isBare ? parseChannelName(scope === 'tenant' ? name : `${scope}:${name}`) : parsed;
}

function emittedBefore(lifecycle: Lifecycle, topic: string, id: string): EventRecord | undefined {
  return lifecycle.eventLog.read(topic, 0).find((record) => isJsonObject(record.headers) && record.headers.id === id);
}

async function fanOut(
  lifecycle: Lifecycle,
  dispatcher: Dispatcher,
  channel: { readonly scope: string; readonly scopeId: string; readonly name: string },
  place: ChannelPlace,
  payload: Json,
  id: string,
): Promise<void> {
  const listening = lifecycle.triggers.list().filter((binding) => isListening(binding, channel, place));
  if (listening.length === 0) return;
  const event = dispatcher.accept({
    provider: 'channel',
    kind: 'channel.emit',
    payload,
    headers: { channel: channelTopic(channel) },
    dedupeKey: id,
  });
  await dispatcher.publishTo(listening, event);
}

function isListening(
  binding: Binding,
  channel: { readonly scope: string; readonly scopeId: string; readonly name: string },
  place: ChannelPlace,
): boolean {
  if (binding.state !== 'active' || binding.spec.provider !== 'channel') return false;
  return binding.spec.events.some((selector) => {
    const wanted = parseChannelSelector(selector).channel;
    if (wanted === undefined || wanted.name !== channel.name || wanted.scope !== channel.scope) return false;
    return wanted.scopeId === undefined
      ? channel.scope !== 'tenant' || channel.scopeId === place.tenantId
      : wanted.scopeId === channel.scopeId;
  });
}
