import type { Json, JsonObject } from '../../base/json.ts';

/**
 * Messages and content blocks (spec/agents.md 1.2). They are type aliases and not interfaces, because they are
 * plain JSON that goes into transcripts, snapshots and requests as it is.
 */
export type Role = 'system' | 'user' | 'assistant' | 'tool' | 'developer';

/** A request of the model to use a tool. `arguments` is decoded; adapters turn it into text where an API wants text. */
export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: JsonObject };

export type Block =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image';
      readonly url?: string | undefined;
      readonly base64?: string | undefined;
      readonly media_type: string;
      readonly detail?: string | undefined;
    }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: Json }
  | { readonly type: 'tool_result'; readonly tool_use_id: string; readonly content: Json }
  /** Reasoning that its provider signed: it may only go back to that provider and model (5.15 row 3). */
  | {
      readonly type: 'reasoning';
      readonly text: string;
      readonly signature: string;
      /** In the place of a text that the service does not show. */
      readonly redacted?: string | undefined;
      readonly provider: string;
      readonly model: string;
    }
  /** What the service itself did within its answer, in its own words: as bound to provider and model as its reasoning. */
  | { readonly type: 'service'; readonly block: JsonObject; readonly provider: string; readonly model: string };

export type Message = {
  readonly role: Role;
  readonly content: string | readonly Block[];
  /** Assistant messages only. */
  readonly tool_calls?: readonly ToolCall[] | undefined;
  /** Tool messages only: the call that this answers. */
  readonly tool_call_id?: string | undefined;
  /** Tool messages only: the tool that answered; some APIs want it instead of the id. */
  readonly name?: string | undefined;
};

export function userMessage(text: string): Message {
  return { role: 'user', content: text };
}

export function toolMessage(call: { readonly id: string; readonly name: string }, text: string): Message {
  return { role: 'tool', tool_call_id: call.id, name: call.name, content: text };
}

export function assistantMessage(text: string, calls: readonly ToolCall[]): Message {
  return calls.length === 0 ? { role: 'assistant', content: text } : { role: 'assistant', content: text, tool_calls: calls };
}

/** The text that people and end conditions see: text blocks joined, nothing else. */
export function messageText(message: Message): string {
  if (typeof message.content === 'string') return message.content;
  return message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

/** Calls of an assistant message, whichever way it writes them. */
export function messageCalls(message: Message): readonly ToolCall[] {
  return message.role === 'assistant' ? (message.tool_calls ?? []) : [];
}

/** Whether another model wrote this block for itself: its service refuses it, and nobody else can read it. */
export function isForeignBlock(block: Block, target: { readonly provider: string; readonly model: string }): boolean {
  return (block.type === 'reasoning' || block.type === 'service') && (block.provider !== target.provider || block.model !== target.model);
}
