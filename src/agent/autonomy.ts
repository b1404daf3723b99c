import type { Instant } from '../base/instant.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { Activation, TopicView } from '../lifecycle/activation.ts';
import type { Clock } from '../platform/platform.ts';
import type { CallResult } from './loop-state.ts';
import { isReadOnly, type Tool } from './tools/tool.ts';

/**
 * `autonomy_budget` (spec/agents.md 3.2, 3.7 row 7): how many tool calls with effects may run in an hour and in a day
 * before somebody has to look. The calls are counted in the event log under the key of the budget, so that all loops
 * with the key share it, those of other processes and of the time before a restart included.
 */
export interface AutonomyBudget {
  readonly perHour: number | undefined;
  readonly perDay: number | undefined;
  /** Loops with the same key share the budget; by default the session's own. */
  readonly key: string | undefined;
  /** Who is to be asked; told in the result. */
  readonly reviewer: string | undefined;
}

/** A limit that is reached. */
export type AutonomyStop = {
  readonly window: 'hour' | 'day';
  readonly limit: number;
  readonly spent: number;
  readonly key: string;
  readonly reviewer: string | null;
};

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const KIND = 'autonomy_spent';

export class AutonomyMeter {
  readonly #budget: AutonomyBudget;
  readonly #clock: Clock;
  readonly #activation: Activation;
  readonly #topicName: string;
  readonly #key: string;
  readonly #topic: TopicView;
  #cursor = 0;
  /** What was spent within the last day, oldest first. */
  #spent: readonly { readonly at: Instant; readonly count: number }[] = [];

  constructor(budget: AutonomyBudget, clock: Clock, activation: Activation) {
    this.#budget = budget;
    this.#clock = clock;
    this.#activation = activation;
    this.#key = budget.key ?? activation.sessionId;
    this.#topicName = `agent.autonomy.${this.#key.replaceAll(/[^A-Za-z0-9._-]/g, '_')}`.slice(0, 256);
    this.#topic = activation.topic(this.#topicName);
  }

  /** Notes the calls of a turn. */
  spend(results: readonly CallResult[], tools: ReadonlyMap<string, Tool>): void {
    const count = results.filter(({ name, status }) => (status === 'ok' || status === 'error') && hasEffects(tools.get(name))).length;
    if (count > 0) this.#activation.log(this.#topicName, KIND, { at: this.#clock.now(), count, worker_id: this.#activation.workerId });
  }

  /** The first limit that is reached; undefined while there is room. */
  reached(): AutonomyStop | undefined {
    this.#readOn();
    const { perHour, perDay, reviewer = null } = this.#budget;
    const within = (window: 'hour' | 'day', limit: number | undefined, ms: number): AutonomyStop | undefined => {
      const spent = this.#sumSince(this.#clock.now() - ms);
      return limit === undefined || spent < limit ? undefined : { window, limit, spent, key: this.#key, reviewer };
    };
    return within('hour', perHour, HOUR_MS) ?? within('day', perDay, DAY_MS);
  }

  close(): void {
    this.#topic.close();
  }

  #readOn(): void {
    const found = [...this.#spent];
    for (let record = this.#topic.next(this.#cursor); record !== undefined; record = this.#topic.next(this.#cursor)) {
      this.#cursor = record.cursor;
      const { at, count } = isJsonObject(record.payload) ? record.payload : ({} as JsonObject);
      if (typeof at === 'number' && typeof count === 'number') found.push({ at, count });
    }
    const dayAgo = this.#clock.now() - DAY_MS;
    this.#spent = found.filter(({ at }) => at > dayAgo);
  }

  #sumSince(since: Instant): number {
    return this.#spent.reduce((sum, { at, count }) => (at > since ? sum + count : sum), 0);
  }
}

function hasEffects(tool: Tool | undefined): boolean {
  return tool !== undefined && !isReadOnly(tool);
}
