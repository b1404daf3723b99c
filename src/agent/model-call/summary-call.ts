import type { JsonObject } from '../../base/json.ts';
import { firstCodePoints } from '../json-text.ts';
import type { CallUsage } from '../loop-state.ts';
import { contextTokens } from '../providers/model-catalog.ts';
import type { ModelRequest } from '../providers/provider.ts';
import type { ModelTarget } from '../providers/resolve-model.ts';
import { type Message, messageCalls, messageText, userMessage } from '../transcript/message.ts';
import { CHARACTERS_PER_TOKEN } from '../transcript/transcript.ts';
import { type CallPolicy, callModel, type ModelWorld } from './model-call.ts';
import { addUsage } from './structured-call.ts';

/** A model writes what earlier messages were about (spec/agents.md 3.2 `compaction`), so that they can go. */
const SYSTEM = [
  'You compress the earlier part of a conversation between a user, an assistant and its tools.',
  'Write a summary from which the assistant can go on: the task, decisions and their reasons, facts and names found,',
  'what was changed where, what failed, and what is still open. No preface, no comments on the conversation itself.',
].join(' ');

/** Longer single messages are cut, in characters: the summary is to be short. */
const MESSAGE_LIMIT = 8000;

/** Of very many messages each is cut further, since the request has to fit the model; less than this says nothing. */
const LEAST_MESSAGE = 200;

/** @param options of the call, as a provider takes them */
export function summaryRequest(target: ModelTarget, messages: readonly Message[], options: JsonObject = {}): ModelRequest {
  const room = (contextTokens(target.model) / 2) * CHARACTERS_PER_TOKEN;
  const limit = Math.min(MESSAGE_LIMIT, Math.max(LEAST_MESSAGE, Math.floor(room / messages.length)));
  const prompt = messages.map((message) => renderMessage(message, limit)).join('\n\n');
  return { ...target, system: SYSTEM, messages: [userMessage(prompt)], tools: [], toolChoice: 'auto', options };
}

export async function summariseMessages(
  world: ModelWorld,
  request: ModelRequest,
  policy: CallPolicy,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly usage: CallUsage }> {
  const answer = await callModel(world, request, policy, signal);
  return { text: answer.text.trim(), usage: addUsage({ input_tokens: 0, output_tokens: 0, cost_usd: 0, calls: 0 }, answer) };
}

function renderMessage(message: Message, limit: number): string {
  const calls = messageCalls(message).map((call) => firstCodePoints(`[calls ${call.name} ${JSON.stringify(call.arguments)}]`, limit));
  return [`${message.role}:`, firstCodePoints(messageText(message), limit), ...calls].join('\n');
}
