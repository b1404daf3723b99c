import type { JsonObject } from '../base/json.ts';
import { renderJson } from './json-text.ts';

export interface GuardLimits {
  readonly warn: number;
  readonly block: number;
  readonly skip: number;
}

/**
 * Notices a model that asks the same again and again (spec/agents.md 2.6). Counts anew in every activation, so it
 * is no part of the saved state.
 */
export class RepeatGuard {
  readonly #limits: GuardLimits;
  readonly #seen = new Map<string, { count: number; result: string }>();

  constructor(limits: GuardLimits) {
    this.#limits = limits;
  }

  /** True when the call must not be executed any more. */
  refuses(name: string, args: JsonObject): boolean {
    const { skip } = this.#limits;
    return skip > 0 && (this.#seen.get(callKey(name, args))?.count ?? 0) + 1 >= skip;
  }

  /** Takes note of a settled call; answers the text that the model gets. */
  settle(name: string, args: JsonObject, result: string): string {
    const key = callKey(name, args);
    const before = this.#seen.get(key);
    const count = before?.result === result ? before.count + 1 : 1;
    this.#seen.set(key, { count, result });
    const { warn, block } = this.#limits;
    if (block > 0 && count >= block) return redirect(name, count);
    if (warn > 0 && count >= warn) return `${result}\n\n[${name} has given this same result ${count} times; try something else.]`;
    return result;
  }
}

function callKey(name: string, args: JsonObject): string {
  return `${name} ${renderJson(args)}`;
}

function redirect(name: string, count: number): string {
  return `${name} was called ${count} times with the same arguments and the same result. The result is not shown again. Use what you know, change the arguments, or use another tool.`;
}

/** Result of a call that was not executed. */
export function skippedRepeat(name: string): string {
  return `Error: ${name} was not executed: the same call was made too often. Use another tool or other arguments.`;
}
