import { errorText, HarnError } from '../../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';
import type { ChannelPlace } from '../../lifecycle/channel-name.ts';
import { BEYOND_TIER, Dispatcher } from '../../lifecycle/dispatcher.ts';
import type { Binding } from '../../lifecycle/trigger-registry.ts';
import { callValue } from '../call.ts';
import type { Context, Run } from '../context.ts';
import { toJson } from '../json.ts';
import { rootContext } from '../task-context.ts';
import type { Value } from '../value.ts';
import { currentLoop } from './agent-context.ts';
import { lifecycleOf } from './agent-lifecycle.ts';
import { agentServices } from './agent-services.ts';
import { agentValue } from './agent-values.ts';
import { limitedTier, underTier } from './autonomy-tier.ts';
import { callHandlerUri } from './handler-uri.ts';
import { functionOfSpec, harnessValue } from './lifecycle-values.ts';

/** The dispatcher of a run, with closures as its handlers. */
interface TriggerService {
  readonly dispatcher: Dispatcher;
  /** What `handler_context()` gives while a handler runs. */
  handlerContext: JsonObject | undefined;
}

const TRIGGERS = Symbol('triggers');

export function triggerService(run: Run): TriggerService {
  return run.service(TRIGGERS, createService);
}

function createService(run: Run): TriggerService {
  const context = rootContext(run);
  const service: TriggerService = {
    handlerContext: undefined,
    dispatcher: new Dispatcher(lifecycleOf(run), {
      call: async (callable, event, binding, replayOf) => {
        const fn = functionOfSpec(callable);
        if (fn === undefined) throw new HarnError('plain', 'trigger handler is no function');
        const outer = service.handlerContext;
        const refused: string[] = [];
        const limited = underTier(context, limitedTier(binding.spec.autonomyTier), (operation) => refused.push(operation));
        service.handlerContext = {
          binding_id: binding.id,
          event_id: event.id ?? null,
          trace_id: event.trace_id ?? null,
          provider: binding.spec.provider,
          kind: binding.kind,
          agent: binding.id,
          action: `${binding.spec.provider}.${binding.kind}`,
          autonomy_tier: binding.spec.autonomyTier,
          replay_of_event_id: replayOf,
          trigger_event: event,
        };
        try {
          const value = agentValue(event);
          const takesHarness = fn.meta.params.length >= 2;
          return toJson(await (takesHarness ? callValue(limited, 0, fn, harnessValue(limited), value) : callValue(limited, 0, fn, value)));
        } catch (error) {
          // Another try would be refused as well.
          throw refused.length === 0 ? error : new HarnError(BEYOND_TIER, errorText(error));
        } finally {
          service.handlerContext = outer;
          tellRefused(run, binding, event, refused);
        }
      },
      callUri: (uri, event, binding) => callHandlerUri(context, uri, event, binding),
      spending: () => {
        const { inputTokens, outputTokens, costUsd } = agentServices(run).spending;
        return { tokens: inputTokens + outputTokens, costUsd };
      },
      evaluate: evaluatePath,
    }),
  };
  return service;
}

/** For whoever looks over a trigger before it may act: what it would have done, without the facts of the event. */
function tellRefused(run: Run, { id, version, spec }: Binding, event: JsonObject, operations: readonly string[]): void {
  const { eventLog, platform } = lifecycleOf(run);
  for (const operation of operations) {
    eventLog.append({
      topic: 'triggers.lifecycle',
      kind: 'AutonomyDenied',
      payload: { binding_id: id, binding_version: version, event_id: event.id ?? null, autonomy_tier: spec.autonomyTier, operation },
      headers: { trigger_id: id, event_id: event.id ?? null, trace_id: event.trace_id ?? null },
      occurredAt: platform.clock.now(),
      durability: 'lazy',
    });
  }
}

/** Where the caller stands, for the scopes of channels. */
export function channelPlace(
  context: Context,
  options: { readonly sessionId?: string | undefined; readonly pipelineId?: string | undefined } = {},
): ChannelPlace {
  return {
    sessionId: options.sessionId ?? currentLoop(context)?.sessionId,
    pipelineId: options.pipelineId ?? lifecycleOf(context.run).audit.pipelineId,
    tenantId: context.run.platform.env.get('HARN_TENANT_ID') ?? 'default',
  };
}

/**
 * `filter` and `dedupe_key`: a path into the event (`event.provider_payload.raw.id`), alone, or compared with a literal
 * by `==` or `!=`. A path that leads nowhere is nil.
 */
function evaluatePath(expression: string, event: JsonObject): Json {
  const comparison = /^(.*?)\s*(==|!=)\s*(.*)$/.exec(expression.trim());
  if (comparison === null) return followPath(expression.trim(), event);
  const [, left = '', operator, right = ''] = comparison;
  const isEqual = JSON.stringify(followPath(left, event)) === JSON.stringify(literal(right, event));
  return operator === '==' ? isEqual : !isEqual;
}

function followPath(path: string, event: JsonObject): Json {
  const steps = path.split('.').filter((step) => step !== '');
  if (steps[0] === 'event') steps.shift();
  return steps.reduce<Json>((value, step) => (isJsonObject(value) ? (value[step] ?? null) : null), event);
}

function literal(text: string, event: JsonObject): Json {
  const json = parseJson(text);
  if (json !== undefined) return json;
  if (text === 'nil') return null;
  // A bare word that is no path into the event stands for itself: `event.kind == issue.opened`.
  return text.startsWith('event.') ? followPath(text, event) : (followPath(text, event) ?? text);
}

/** An event as `trigger_fire` takes it. @throws plain error without provider or kind */
export function eventRequest(value: Value): {
  provider: string;
  kind: string;
  payload: Json;
  headers: JsonObject;
  id?: string;
  dedupeKey?: string;
  traceId?: string;
} {
  const event = toJson(value);
  if (!isJsonObject(event) || typeof event.provider !== 'string' || typeof event.kind !== 'string') {
    throw new HarnError('plain', 'trigger_fire: event needs `provider` and `kind`');
  }
  return {
    provider: event.provider,
    kind: event.kind,
    payload: event.payload ?? null,
    headers: isJsonObject(event.headers) ? event.headers : {},
    ...(typeof event.id === 'string' ? { id: event.id } : {}),
    ...(typeof event.dedupe_key === 'string' ? { dedupeKey: event.dedupe_key } : {}),
    ...(typeof event.trace_id === 'string' ? { traceId: event.trace_id } : {}),
  };
}
