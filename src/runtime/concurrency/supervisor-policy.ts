import type { Instant } from '../../base/instant.ts';

export type RestartMode = 'never' | 'on_failure' | 'always';

/** When and how often a supervised child is started again (spec/language.md 10.7). */
export interface RestartPolicy {
  readonly mode: RestartMode;
  /** Restarts allowed within `windowMs`. */
  readonly maxRestarts: number;
  readonly windowMs: number;
  /** Before the first restart; each further one waits `factor` times as long, up to `maxBackoffMs`. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  readonly factor: number;
  /** After the cap: how long until one attempt is made again. Undefined gives up for good. */
  readonly circuitOpenMs: number | undefined;
}

export const DEFAULT_POLICY: RestartPolicy = {
  mode: 'never',
  maxRestarts: 3,
  windowMs: 60_000,
  backoffMs: 100,
  maxBackoffMs: 30_000,
  factor: 2,
  circuitOpenMs: undefined,
};

export interface ChildHistory {
  /** When each restart so far was decided. */
  readonly restartedAt: readonly Instant[];
  /** The attempt that just ended was the trial of an open circuit. */
  readonly wasTrial: boolean;
}

export type AfterEnd =
  | { readonly kind: 'stop' }
  | { readonly kind: 'restart'; readonly afterMs: number }
  | { readonly kind: 'open_circuit'; readonly forMs: number }
  | { readonly kind: 'give_up'; readonly reason: 'restart_cap_exceeded' | 'not_restartable' };

/** What becomes of a child whose attempt has ended. */
export function afterEnd(policy: RestartPolicy, history: ChildHistory, now: Instant, hasFailed: boolean): AfterEnd {
  if (!hasFailed && policy.mode !== 'always') return { kind: 'stop' };
  if (policy.mode === 'never') return { kind: 'give_up', reason: 'not_restartable' };
  const recent = history.restartedAt.filter((at) => now - at <= policy.windowMs).length;
  const isTrialOver = hasFailed && history.wasTrial;
  if (!isTrialOver && recent < policy.maxRestarts) return { kind: 'restart', afterMs: backoffMs(policy, history.restartedAt.length) };
  if (policy.circuitOpenMs !== undefined) return { kind: 'open_circuit', forMs: policy.circuitOpenMs };
  return { kind: 'give_up', reason: 'restart_cap_exceeded' };
}

function backoffMs(policy: RestartPolicy, restarts: number): number {
  return Math.min(policy.maxBackoffMs, policy.backoffMs * policy.factor ** restarts);
}
