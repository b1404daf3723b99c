import type { JsonObject } from '../../base/json.ts';
import type { HookHandler, HookReturn } from '../../lifecycle/hooks.ts';
import { callValue } from '../call.ts';
import type { Context } from '../context.ts';
import { toJson } from '../json.ts';
import { deriveContext } from '../task-context.ts';
import { Dict, type HarnFunction, isCallable, typeOf, type Value } from '../value.ts';
import { currentLoop, type LoopPlace } from './agent-context.ts';
import { agentValue } from './agent-values.ts';
import { harnessValue } from './lifecycle-values.ts';
import { NO_LIMITS } from './loop-limits.ts';

/** Closures as hooks of lifecycle (spec/agents.md 0.3, 10.1). */

/** Code of a hook runs in a place that says whose transition it belongs to. */
interface HookPlace extends LoopPlace {
  readonly hookOf: string;
}

/** The worker whose transition the calling hook belongs to; undefined outside of hooks. */
export function hookWorkerId(context: Context): string | undefined {
  const place = currentLoop(context);
  return place !== undefined && 'hookOf' in place ? (place as HookPlace).hookOf : undefined;
}

/** Events whose hooks stand inside a transition. */
const TRANSITION_EVENTS: ReadonlySet<unknown> = new Set(['PreSuspend', 'PostSuspend', 'PreResume', 'PostResume']);

/** A closure with one parameter gets the event, one with two the harness and the event. */
export function hookHandler(context: Context, closure: HarnFunction): HookHandler {
  return async (payload) => {
    const inside = deriveContext(context, { agent: placeOf(context, payload) });
    const event = agentValue(payload);
    const takesHarness = closure.meta.params.length >= 2;
    const answer = await (takesHarness ? callValue(inside, 0, closure, harnessValue(inside), event) : callValue(inside, 0, closure, event));
    return hookReturn(answer);
  };
}

function placeOf(context: Context, payload: JsonObject): unknown {
  const { handle, session_id: sessionId } = payload;
  if (typeof handle !== 'string' || !TRANSITION_EVENTS.has(payload.event)) return context.agent;
  const limits = currentLoop(context)?.limits ?? NO_LIMITS;
  const named = typeof sessionId === 'string' ? sessionId : '';
  return { kind: 'loop', workerId: handle, sessionId: named, limits, hookOf: handle } satisfies HookPlace;
}

function hookReturn(value: Value): HookReturn {
  const isPlain =
    value === undefined || typeof value === 'boolean' || typeof value === 'string' || Array.isArray(value) || value instanceof Dict;
  return isPlain && !isCallable(value) ? { value: toJson(value) } : { typeName: typeOf(value) };
}
