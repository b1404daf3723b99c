import type { JsonObject } from '../base/json.ts';
import { type Loop, recordStep } from './loop-context.ts';
import type { TurnHook } from './loop-live.ts';
import type { EndFacts } from './loop-result.ts';

/**
 * Session hooks around what a loop does (spec/agents.md 10.1). Reminders that a hook returns are pending from then on.
 *
 * @returns why a hook refused; only who may be refused looks at it
 */
export async function runHook(loop: Loop, event: TurnHook, payload: JsonObject = {}): Promise<string | undefined> {
  const { activation, live } = loop;
  const answer = await live.callbacks.hook?.(event, { session_id: activation.sessionId, ...payload });
  if (answer !== undefined && answer.reminders.length > 0) recordStep(loop, { t: 'in', reminders: answer.reminders });
  return answer?.denied;
}

/** The hard stop of 3.7: a hook refused the prompt, or the turn. */
export function blockedByHook(reason: string): EndFacts {
  return { status: 'blocked', stop_reason: 'hook', error: { category: 'blocked', message: reason } };
}
