import type { Json, JsonObject } from '../base/json.ts';
import type { ParkRequest } from '../lifecycle/activation.ts';
import type { DaemonPort } from './daemon/daemon-port.ts';
import type { Feedback } from './loop-state.ts';
import type { ModelAnswer, ModelRequest } from './providers/provider.ts';
import type { ReminderSpec } from './reminder.ts';
import type { Tool, ToolReturn } from './tools/tool.ts';
import type { SessionEdit } from './transcript/session-edit.ts';
import type { NewEvent, Transcript } from './transcript/transcript.ts';
import type { WorkflowPort } from './workflow-run.ts';

/**
 * The part of a loop that cannot be saved: handlers and callbacks. The runtime adapter makes it from the options
 * of `agent_loop`, and again from the program after a cold restore. Everything speaks JSON.
 */
export interface LoopLive {
  readonly tools: readonly Tool[];
  readonly callbacks: LoopCallbacks;
  /** What others have for this loop: messages of the host, results of `async_tool_run`. */
  readonly inbox: LoopInbox;
  /** Shows the loop to whoever asks for its session while it runs. @returns what ends that */
  readonly attach?: ((history: RunningHistory) => () => void) | undefined;
  /** Background work that this loop started (2.8). */
  readonly background?: BackgroundWork | undefined;
  /** The queue and the file of a daemon; absent for other loops. */
  readonly daemon?: DaemonPort | undefined;
  /** Runs the graph of a worker of mode `workflow`; undefined for loops. */
  readonly workflow?: WorkflowPort | undefined;
  /** Ends the loop with the task that called it: its cancellation, its deadline. */
  readonly signal?: AbortSignal | undefined;
}

/** The history of a running loop. */
export interface RunningHistory {
  /** As it is, with the changes that wait. */
  read(): Transcript;
  /** Changes it at the loop's next boundary. */
  edit(edit: SessionEdit): void;
}

export interface BackgroundWork {
  /** What still runs, as a snapshot notes it. */
  running(): readonly JsonObject[];
  /** Whether it was started in this process, however it stands with it. */
  isOurs(handleId: string): boolean;
}

export interface LoopInbox {
  /** True when one of the next two would give something. */
  hasWaiting(): boolean;
  /** Takes messages to be put into the transcript before the next model call. */
  takeHostMessages(): readonly string[];
  /** Takes feedback that arrived since the last call. */
  takeFeedback(): readonly Feedback[];
  /** Takes what the tape noted of hooks since the last call (10.3). */
  takeTape(): readonly NewEvent[];
}

export interface LoopCallbacks {
  /** `post_turn_callback` (3.6). */
  readonly postTurn?: ((info: JsonObject) => Promise<PostTurnAnswer>) | undefined;
  /** `loop_control`. */
  readonly loopControl?: ((info: JsonObject) => Promise<LoopControlAnswer>) | undefined;
  /** `verify_completion` and `done_judge`: text refuses the end and tells the model why; undefined lets it pass. */
  readonly verifyCompletion?: ((info: JsonObject) => Promise<string | undefined>) | undefined;
  /** `context_callback`, `context_filter`: what the model sees in one call. */
  readonly context?: ((view: JsonObject) => Promise<ContextAnswer>) | undefined;
  /** `compact_callback`: the summary of what goes. */
  readonly compact?: ((messages: readonly Json[]) => Promise<string>) | undefined;
  /** `consolidate_on_idle`: the same, before a daemon idles. */
  readonly consolidate?: ((messages: readonly Json[]) => Promise<string>) | undefined;
  /** What a skill does when it becomes active, and when it stops to be. */
  readonly skill?: ((moment: 'on_activate' | 'on_deactivate', name: string) => Promise<void>) | undefined;
  /** `llm_caller`: may answer in the model's place, and may map a fault to an outcome. */
  readonly llmCaller?: ((request: ModelRequest, next: () => Promise<ModelAnswer>) => Promise<ModelAnswer | LlmCallerFault>) | undefined;
  /** `tool_caller` and tool hooks: around one call. */
  readonly toolCaller?: ((call: ToolCallFacts, next: () => Promise<ToolReturn>) => Promise<ToolReturn>) | undefined;
  /** `permissions.on_escalation` and predicates. */
  readonly escalate?: ((request: JsonObject) => Promise<EscalationAnswer>) | undefined;
  /** Functions among the permissions that refuse the call; those of a parent forbid it. undefined: none refuses. */
  /** Somebody has approved beforehand what needs approval. */
  readonly isApproved?: boolean | undefined;
  readonly permits?: ((call: ToolCallFacts) => Promise<'deny' | 'forbid' | undefined>) | undefined;
  /** Runs session hooks of an event (10.1); their reminders and feedback come back. */
  readonly hook?: ((event: TurnHook, payload: JsonObject) => Promise<HookAnswer>) | undefined;
  /** Default resume owner of parks that name none. Opaque here. */
  readonly resumeBy?: unknown;
}

export type ToolCallFacts = {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
};

export type TurnHook =
  | 'session_start'
  | 'session_end'
  | 'session_error'
  | 'session_idle'
  | 'user_prompt_submit'
  | 'pre_agent_turn'
  | 'post_agent_turn'
  | 'post_turn'
  | 'pre_compact'
  | 'post_compact'
  | 'permission_asked'
  | 'permission_replied'
  | 'file_edited';

/** `llm_caller` turned a fault into an end of the loop. */
export interface LlmCallerFault {
  readonly providerError: JsonObject;
}

export type PostTurnAnswer = {
  readonly message?: string | undefined;
  readonly stop?: boolean | undefined;
  /** Option patches for the rest of the activation. */
  readonly patches?: JsonObject | undefined;
  readonly park?: ParkRequest | undefined;
};

export type LoopControlAnswer = {
  readonly decision: 'continue' | 'extend' | 'stop';
  readonly reason?: string | undefined;
  /** Further turns, with `extend`. */
  readonly turns?: number | undefined;
};

/** What stays out of it is as it was. */
export type ContextAnswer = {
  readonly messages?: readonly Json[] | undefined;
  readonly system?: string | undefined;
};

export type EscalationAnswer = { readonly grant: 'deny' | 'once' | 'session'; readonly reason?: string | undefined };

/** What hooks returned: reminders, and a refusal, which only some events heed. */
export interface HookAnswer {
  readonly denied?: string | undefined;
  readonly reminders: readonly ReminderSpec[];
}

/** A loop without tools, callbacks and visitors. */
export const NOTHING_LIVE: LoopLive = {
  tools: [],
  callbacks: {},
  inbox: { hasWaiting: () => false, takeHostMessages: () => [], takeFeedback: () => [], takeTape: () => [] },
};
