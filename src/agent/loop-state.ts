import * as z from 'zod/mini';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { lazily } from '../base/lazily.ts';
import type { LoopState } from '../lifecycle/activation.ts';
import type { Message } from './transcript/message.ts';
import { completeTranscript, type Transcript } from './transcript/transcript.ts';

/**
 * What a loop is made of between two steps: its transcript and its counters (spec/agents.md 4.7 `loop`). Plain
 * JSON, so that "suspend, save, load, resume" equals "never stopped". All changes go through `applyRecord`.
 */
export type LoopCounters = {
  /** Completed turns over the life of the worker. */
  readonly iterations_completed: number;
  readonly activations: number;
  readonly llm_calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
  /** Time inside turns, over the life of the worker. */
  readonly duration_ms: number;
  readonly consecutive_text_only: number;
  /** Names in first-use order. */
  readonly tools_used: readonly string[];
  readonly successful_tools: readonly string[];
  readonly rejected_tools: readonly string[];
  readonly granted_permissions: readonly JsonObject[];
  readonly active_skills: readonly string[];
  readonly pending_feedback: readonly Feedback[];
  readonly deferred_user_messages: readonly string[];
  /** Set by post_turn_callback, for the rest of the activation. */
  readonly option_patches: JsonObject;
  /** A natural end that was recorded but not yet reported: a crash came between. */
  readonly ended?: RecordedEnd | undefined;
  /** Background work that ran when the last turn ended (2.8); what a later process does not have any more is lost. */
  readonly async_handles?: readonly JsonObject[] | undefined;
  /** `seq` of the last event of a daemon's queue whose work is done. */
  readonly consumed_event?: number | undefined;
  /** Calls of a turn that a crash cut off while they ran; an idempotent tool runs again (4.9). */
  readonly interrupted?: InterruptedTurn | undefined;
};

/** A message of the runtime to the model that waits for the next turn. */
export type Feedback = { readonly kind: string; readonly content: string };

export type RecordedEnd = { readonly status: string; readonly stop_reason: string };

export type InterruptedTurn = {
  readonly turn: number;
  readonly calls: readonly { readonly pos: number; readonly id: string; readonly name: string; readonly arguments: JsonObject }[];
  /** Texts of all results of the turn, under the text grammar, where they share one message. */
  readonly texts?: readonly { readonly name: string; readonly text: string }[] | undefined;
};

export interface LoopParts {
  readonly transcript: Transcript;
  readonly counters: LoopCounters;
}

export const NEW_COUNTERS: LoopCounters = {
  iterations_completed: 0,
  activations: 1,
  llm_calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
  duration_ms: 0,
  consecutive_text_only: 0,
  tools_used: [],
  successful_tools: [],
  rejected_tools: [],
  granted_permissions: [],
  active_skills: [],
  pending_feedback: [],
  deferred_user_messages: [],
  option_patches: {},
};

/** The stored form as typed parts. Counters that an older format did not have are new. */
export function readLoopState(state: LoopState, transcriptId: string): LoopParts {
  return { transcript: completeTranscript(state.transcript, transcriptId), counters: readCounters(state.loop) };
}

const count = z.catch(z.number().check(z.nonnegative()), 0);
const names = z.catch(z.array(z.string()), []);
const objects = z.catch(z.array(z.custom<JsonObject>(isJsonObject)), []);

/** Few files hold a turn that was cut off. */
const interruptedSchema = lazily(() =>
  z.looseObject({
    turn: z.number(),
    calls: z.array(z.looseObject({ pos: z.number(), id: z.string(), name: z.string(), arguments: z.custom<JsonObject>(isJsonObject) })),
    texts: z.optional(z.array(z.looseObject({ name: z.string(), text: z.string() }))),
  }),
);

/**
 * Counters as a file holds them. The checksum vouches for the file and not for its writer, and a count that cannot be
 * read must not keep a transcript from going on: it starts anew.
 */
const countersSchema = z.looseObject({
  iterations_completed: count,
  activations: count,
  llm_calls: count,
  input_tokens: count,
  output_tokens: count,
  cost_usd: count,
  duration_ms: count,
  consecutive_text_only: count,
  tools_used: names,
  successful_tools: names,
  rejected_tools: names,
  granted_permissions: objects,
  active_skills: names,
  pending_feedback: z.catch(z.array(z.object({ kind: z.string(), content: z.string() })), []),
  deferred_user_messages: names,
  option_patches: z.catch(z.custom<JsonObject>(isJsonObject), {}),
  ended: z.catch(z.optional(z.object({ status: z.string(), stop_reason: z.string() })), undefined),
  async_handles: z.catch(z.optional(z.array(z.custom<JsonObject>(isJsonObject))), undefined),
  consumed_event: z.catch(z.optional(z.number()), undefined),
  interrupted: z.catch(z.optional(z.lazy(() => interruptedSchema())), undefined),
});

function readCounters(stored: JsonObject): LoopCounters {
  const { ended, async_handles, consumed_event, interrupted, ...always } = countersSchema.parse({ ...NEW_COUNTERS, ...stored });
  return {
    ...always,
    ...(ended === undefined ? {} : { ended }),
    ...(async_handles === undefined ? {} : { async_handles }),
    ...(consumed_event === undefined ? {} : { consumed_event }),
    ...(interrupted === undefined ? {} : { interrupted }),
  };
}

export function writeLoopState(parts: LoopParts): LoopState {
  return { transcript: parts.transcript, loop: parts.counters };
}

/** Names added in first-use order, each once. */
export function withNames(names: readonly string[], added: readonly string[]): readonly string[] {
  const fresh = [...new Set(added)].filter((name) => !names.includes(name));
  return fresh.length === 0 ? names : [...names, ...fresh];
}

/** Cost and size of one model call. */
export type CallUsage = {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
  readonly calls: number;
};

export type CallResult = {
  readonly pos: number;
  readonly id: string;
  readonly name: string;
  /** `ok`, `error`, `rejected`, `skipped`, `awaiting_resumption`. */
  readonly status: string;
  readonly text: string;
};

export type AddedMessage = { readonly kind: string; readonly message: Message };
