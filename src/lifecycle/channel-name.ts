import { HarnError } from '../base/harn-error.ts';

/** Names of channels and their topics (spec/agents.md 9.5). */
export type ChannelScope = 'session' | 'pipeline' | 'tenant';

export interface ChannelName {
  readonly scope: ChannelScope;
  /** Session, pipeline or tenant that the channel belongs to; undefined: the current one. */
  readonly scopeId: string | undefined;
  readonly name: string;
}

export interface ChannelPlace {
  readonly sessionId: string | undefined;
  readonly pipelineId: string | undefined;
  readonly tenantId: string;
}

const NAME = /^[A-Za-z0-9._-]{1,128}$/;
const SCOPES: ReadonlySet<string> = new Set(['session', 'pipeline', 'tenant']);

/** @throws HarnError `HARN-CHN-002` for `org:`, `HARN-CHN-003` for a malformed name */
export function parseChannelName(text: string): ChannelName {
  const parts = text.split(':');
  const [first = '', second = '', third] = parts;
  if (first === 'org' && parts.length > 1) throw channelError('002', text, 'the scope org is reserved');
  const parsed =
    parts.length === 1 ? { scope: 'tenant' as const, scopeId: undefined, name: first } : scoped(first, second, third, parts.length);
  if (parsed === undefined) throw channelError('003', text, 'expected name, session:name, pipeline:name or tenant:id:name');
  for (const part of [parsed.name, parsed.scopeId ?? parsed.name]) {
    if (!NAME.test(part)) throw channelError('003', text, "a name has letters, digits, '.', '_' and '-' only");
  }
  return parsed;
}

function scoped(scope: string, second: string, third: string | undefined, count: number): ChannelName | undefined {
  if (!SCOPES.has(scope)) return undefined;
  if (scope === 'tenant') return count === 3 ? { scope, scopeId: second, name: third ?? '' } : undefined;
  return count === 2 ? { scope: scope as ChannelScope, scopeId: undefined, name: second } : undefined;
}

/**
 * Fills in whose channel it is.
 * @throws HarnError `HARN-CHN-001` outside a pipeline, `HARN-CHN-002` for another tenant
 */
export function resolveChannel(
  channel: ChannelName,
  place: ChannelPlace,
): { readonly scope: ChannelScope; readonly scopeId: string; readonly name: string } {
  const { scope, name } = channel;
  switch (scope) {
    case 'tenant': {
      const scopeId = channel.scopeId ?? place.tenantId;
      if (scopeId !== place.tenantId) throw channelError('002', `tenant:${scopeId}:${name}`, 'it belongs to another tenant');
      return { scope, scopeId, name };
    }
    case 'session':
      return { scope, scopeId: place.sessionId ?? 'default', name };
    case 'pipeline':
      if (place.pipelineId === undefined) throw channelError('001', `pipeline:${name}`, 'scope pipeline needs a running pipeline');
      return { scope, scopeId: place.pipelineId, name };
  }
}

export function channelTopic(channel: { readonly scope: string; readonly scopeId: string; readonly name: string }): string {
  return `channels.${channel.scope}.${channel.scopeId.replaceAll(/[^A-Za-z0-9._-]/g, '_')}.${channel.name}`;
}

/** The selector of a channel trigger: `channel:` and a channel name. */
export function parseChannelSelector(
  selector: string,
): { readonly channel: ChannelName; readonly problem?: undefined } | { readonly channel?: undefined; readonly problem: string } {
  const name = selector.startsWith('channel:') ? selector.slice('channel:'.length) : undefined;
  if (name === undefined) return { problem: `'${selector}' does not start with channel:` };
  try {
    return { channel: parseChannelName(name) };
  } catch (error) {
    return { problem: error instanceof HarnError ? error.message : String(error) };
  }
}

/** 001 pipeline scope outside a pipeline, 002 cross-tenant or org, 003 malformed name, 004 conflicting scope. */
export function channelError(number: '001' | '002' | '003' | '004', name: string, problem: string): HarnError {
  const code = `HARN-CHN-${number}`;
  return new HarnError(code, `${code}: channel \`${name}\`: ${problem}`, { data: { operation: 'emit_channel', detail: { name } } });
}

/** 005: settings of `batch` in a trigger. */
export function batchError(problem: string): HarnError {
  return new HarnError('HARN-CHN-005', `HARN-CHN-005: invalid batch: ${problem}`, {
    data: { operation: 'trigger_register', field: 'batch' },
  });
}
