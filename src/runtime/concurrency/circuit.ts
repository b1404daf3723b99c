import type { Clock } from '../../platform/platform.ts';
import type { Run } from '../context.ts';

const DEFAULT_THRESHOLD = 5;
const DEFAULT_RESET_MS = 30_000;

interface Circuit {
  readonly threshold: number;
  readonly resetMs: number;
  failures: number;
  /** Monotonic; undefined while the circuit is closed. */
  openedAtMs: number | undefined;
}

/**
 * Circuit breakers by name (spec/language.md 10.8). An open circuit turns half open after its reset time: one failure
 * then opens it again, a success closes it. A name that was never created gets the defaults.
 */
export class CircuitBreakers {
  readonly #clock: Clock;
  readonly #circuits = new Map<string, Circuit>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  create(name: string, threshold = DEFAULT_THRESHOLD, resetMs = DEFAULT_RESET_MS): void {
    this.#circuits.set(name, { threshold: Math.max(1, threshold), resetMs, failures: 0, openedAtMs: undefined });
  }

  state(name: string): 'closed' | 'open' | 'half_open' {
    const circuit = this.#circuits.get(name);
    if (circuit?.openedAtMs === undefined) return 'closed';
    return this.#clock.monotonicMs() - circuit.openedAtMs >= circuit.resetMs ? 'half_open' : 'open';
  }

  /** True exactly when this failure opened the circuit. */
  recordFailure(name: string): boolean {
    if (!this.#circuits.has(name)) this.create(name);
    const circuit = this.#circuits.get(name) as Circuit;
    const before = this.state(name);
    circuit.failures++;
    if (before === 'open' || (before === 'closed' && circuit.failures < circuit.threshold)) return false;
    circuit.openedAtMs = this.#clock.monotonicMs();
    return true;
  }

  close(name: string): void {
    const circuit = this.#circuits.get(name);
    if (circuit === undefined) return;
    circuit.failures = 0;
    circuit.openedAtMs = undefined;
  }
}

const CIRCUIT_BREAKERS = Symbol('circuit breakers');

export function circuitBreakers(run: Run): CircuitBreakers {
  return run.service(CIRCUIT_BREAKERS, (owner) => new CircuitBreakers(owner.platform.clock));
}
