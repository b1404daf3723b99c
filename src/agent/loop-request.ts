import { HarnError } from '../base/harn-error.ts';
import type { JsonObject } from '../base/json.ts';
import type { LoopOptions } from './loop-options.ts';
import { effectiveSentinel } from './loop-options.ts';
import type { ModelRequest, NativeToolSearch, ToolSpec } from './providers/provider.ts';
import type { ModelTarget } from './providers/resolve-model.ts';
import { type Reminder, renderReminders } from './reminder.ts';
import { AWAIT_RESUMPTION, AWAIT_RESUMPTION_SPEC } from './self-park.ts';
import { renderToolContract } from './tools/text-tools.ts';
import { type Tool, toolSpec } from './tools/tool.ts';
import { decodeMessages } from './transcript/decode-message.ts';
import { type Message, messageText } from './transcript/message.ts';

/** What stays the same in all model requests of an activation. */
export interface RequestFrame {
  readonly target: ModelTarget;
  readonly format: 'native' | 'text';
  readonly system: string | undefined;
  /** In the order given, lifecycle tools last. */
  readonly tools: readonly ToolSpec[];
  readonly toolNames: ReadonlySet<string>;
  /** The service searches among the tools by itself. */
  readonly toolSearch?: NativeToolSearch | undefined;
}

export function requestFrame(
  target: ModelTarget,
  hasNativeTools: boolean,
  system: string | undefined,
  tools: readonly Tool[],
  options: LoopOptions,
): RequestFrame {
  const format = options.toolFormat ?? (hasNativeTools ? 'native' : 'text');
  const own = tools.map(toolSpec);
  const isTaken = own.some((spec) => spec.name === AWAIT_RESUMPTION);
  const specs = options.awaitResumption && !isTaken ? [...own, AWAIT_RESUMPTION_SPEC] : own;
  return {
    target,
    format,
    system: format === 'native' ? system : withContract(system, specs, own.length > 0, options),
    tools: specs,
    toolNames: new Set(specs.map((spec) => spec.name)),
  };
}

/**
 * The contract follows the author's text, so that the author's words are the beginning of the prompt. The word that
 * ends the work belongs to work with tools; a loop without them ends by answering.
 */
function withContract(
  system: string | undefined,
  specs: readonly ToolSpec[],
  hasOwnTools: boolean,
  options: LoopOptions,
): string | undefined {
  if (specs.length === 0) return system;
  const mayEnd = hasOwnTools && options.turnPolicy.allowDoneSentinel;
  const contract = renderToolContract(specs, mayEnd ? effectiveSentinel(options, 'text') : undefined);
  return system === undefined || system === '' ? contract : `${system}\n\n${contract}`;
}

/**
 * The request of one turn: the persisted messages as they are, then what is for this call only (3.10, 13.13). The
 * bytes of earlier messages are therefore those of the previous request, also over a resume.
 */
export function buildRequest(
  frame: RequestFrame,
  messages: readonly Message[],
  reminders: readonly Reminder[],
  options: JsonObject,
): ModelRequest {
  const { target, format, system, tools } = frame;
  return {
    provider: target.provider,
    model: target.model,
    system,
    messages: reminders.length === 0 ? messages : [...messages, ...renderReminders(reminders)],
    tools: format === 'native' ? tools : [],
    ...(frame.toolSearch === undefined ? {} : { toolSearch: frame.toolSearch }),
    toolChoice: readToolChoice(options.tool_choice),
    options,
  };
}

export function readToolChoice(value: unknown): ModelRequest['toolChoice'] {
  if (value === undefined || value === null) return 'auto';
  if (value === 'auto' || value === 'none' || value === 'required') return value;
  if (typeof value === 'object' && 'name' in value && typeof value.name === 'string') return { name: value.name };
  throw new HarnError('plain', 'tool_choice must be "auto", "none", "required" or {name}');
}

/** What `context_callback` is told: what the model would see (`visible`), and what is kept of the conversation (`recorded`). */
export function contextView(request: ModelRequest, recorded: readonly Message[], iteration: number): JsonObject {
  const { messages, system } = request;
  const last = (all: readonly Message[], role: Message['role']): string | null => {
    const message = all.findLast((one) => one.role === role);
    return message === undefined ? null : messageText(message);
  };
  return {
    iteration,
    system: system ?? null,
    messages,
    visible_messages: messages,
    recorded_messages: recorded,
    latest_visible_user_message: last(messages, 'user'),
    latest_visible_assistant_message: last(messages, 'assistant'),
    latest_tool_result: last(messages, 'tool'),
    latest_recorded_user_message: last(recorded, 'user'),
    latest_recorded_assistant_message: last(recorded, 'assistant'),
    latest_recorded_tool_result: last(recorded, 'tool'),
  } as JsonObject; // messages are JSON
}

/** Messages that a callback rewrote for one call. */
export function rewrittenMessages(value: readonly unknown[]): readonly Message[] {
  return decodeMessages(value, 'context_callback');
}
