import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { Block, Message, ToolCall } from './message.ts';

/**
 * What of a stored message can be sent at all (spec/agents.md 5.15, row 4). A snapshot vouches for its bytes, not for
 * whoever wrote them, and an adapter that meets a block without its text would end the loop. By hand, like
 * `isTranscript`: it looks at every message of every loop that is restored.
 *
 * @returns the very same object when nothing had to go; undefined when nothing of it can be sent
 */
export function sendableMessage(message: Message): Message | undefined {
  if (!ROLES.has(message.role) || !(typeof message.content === 'string' || Array.isArray(message.content))) return undefined;
  if (message.role === 'tool' && typeof message.tool_call_id !== 'string') return undefined;
  const content = typeof message.content === 'string' ? message.content : kept(message.content, isSendableBlock);
  const calls = message.role === 'assistant' ? sendableCalls(message.tool_calls) : message.tool_calls;
  const hasName = message.name === undefined || typeof message.name === 'string';
  if (content === message.content && calls === message.tool_calls && hasName) return message;
  const { tool_calls: _calls, name, ...rest } = message;
  return { ...rest, content, ...(calls === undefined ? {} : { tool_calls: calls }), ...(hasName && name !== undefined ? { name } : {}) };
}

const ROLES: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool', 'developer']);

function sendableCalls(calls: readonly ToolCall[] | undefined): readonly ToolCall[] | undefined {
  return Array.isArray(calls) ? kept<ToolCall>(calls, isSendableCall) : undefined;
}

function isSendableCall(call: unknown): boolean {
  return isJsonObject(call) && typeof call.id === 'string' && typeof call.name === 'string' && isJsonObject(call.arguments);
}

type Look = (block: JsonObject) => boolean;

const hasTexts = (block: JsonObject, ...keys: readonly string[]): boolean => keys.every((key) => typeof block[key] === 'string');

/** What each kind of block must have for an adapter to send it. */
const LOOKS: Readonly<Record<Block['type'], Look>> = {
  text: (block) => hasTexts(block, 'text'),
  image: (block) =>
    hasTexts(block, 'media_type') &&
    hasTexts(block, 'url') !== hasTexts(block, 'base64') &&
    (block.detail === undefined || hasTexts(block, 'detail')),
  tool_use: (block) => hasTexts(block, 'id', 'name') && isJsonObject(block.input),
  tool_result: (block) => hasTexts(block, 'tool_use_id') && block.content !== undefined,
  reasoning: (block) => hasTexts(block, 'text', 'signature', 'provider', 'model'),
  service: (block) => hasTexts(block, 'provider', 'model') && isJsonObject(block.block),
};

function isSendableBlock(block: unknown): boolean {
  if (!isJsonObject(block) || typeof block.type !== 'string' || !Object.hasOwn(LOOKS, block.type)) return false;
  return LOOKS[block.type as Block['type']](block); // a key of the table, as was just seen
}

/** The same list when everything is kept. */
function kept<T extends Block | ToolCall>(items: readonly T[], isKept: (item: unknown) => boolean): readonly T[] {
  return items.every(isKept) ? items : items.filter(isKept);
}
