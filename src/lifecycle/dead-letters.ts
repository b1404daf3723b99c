import { renderInstant } from '../base/instant.ts';
import type { JsonObject } from '../base/json.ts';
import type { Platform } from '../platform/platform.ts';
import type { Binding } from './trigger-registry.ts';

/** Events whose handlers failed to the last attempt (spec/agents.md 9.3, 9.4), until a replay succeeds. */
export interface DeadLetter {
  readonly id: string;
  readonly bindingId: string;
  readonly bindingVersion: number;
  /** The event as closures see it. */
  readonly event: JsonObject;
  error: string;
  /** How often its handler was called in all. */
  attempts: number;
  /** The last attempt of each dispatch. */
  readonly history: { readonly attempt: number; readonly status: 'dlq' | 'replay_dlq'; readonly at: string; readonly error: string }[];
}

export class DeadLetters {
  readonly #platform: Pick<Platform, 'clock' | 'random'>;
  readonly #letters: DeadLetter[] = [];

  constructor(platform: Pick<Platform, 'clock' | 'random'>) {
    this.#platform = platform;
  }

  list(): readonly DeadLetter[] {
    return this.#letters;
  }

  /** A replay that fails again belongs to the letter of the event it replayed. */
  add(
    binding: Binding,
    failure: { readonly event: JsonObject; readonly error: string; readonly attempts: number; readonly replayOf: string | null },
  ): DeadLetter {
    const { event, error, attempts, replayOf } = failure;
    const at = renderInstant(this.#platform.clock.now());
    const known = replayOf === null ? undefined : this.#find(binding, replayOf);
    if (known !== undefined) {
      known.error = error;
      known.attempts += attempts;
      known.history.push({ attempt: known.attempts, status: 'replay_dlq', at, error });
      return known;
    }
    const letter: DeadLetter = {
      id: this.#platform.random.id('dlq'),
      bindingId: binding.id,
      bindingVersion: binding.version,
      event,
      error,
      attempts,
      history: [{ attempt: attempts, status: 'dlq', at, error }],
    };
    this.#letters.push(letter);
    return letter;
  }

  /** The event was handled after all. */
  resolve(binding: Binding, eventId: string): void {
    const letter = this.#find(binding, eventId);
    if (letter !== undefined) this.#letters.splice(this.#letters.indexOf(letter), 1);
  }

  #find(binding: Binding, eventId: string): DeadLetter | undefined {
    return this.#letters.find((letter) => letter.bindingId === binding.id && letter.event.id === eventId);
  }
}

/** A letter as `trigger_inspect_dlq` shows it. */
export function shownLetter(letter: DeadLetter): JsonObject {
  return {
    id: letter.id,
    event_id: letter.event.id ?? null,
    binding_id: letter.bindingId,
    binding_version: letter.bindingVersion,
    provider: letter.event.provider ?? null,
    kind: letter.event.kind ?? null,
    state: 'pending',
    error: letter.error,
    attempts: letter.attempts,
    event: letter.event,
    retry_history: letter.history.map((entry) => ({ ...entry })),
  };
}
