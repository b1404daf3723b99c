import { assistantMessage, type Block, type Message, type ToolCall } from '../transcript/message.ts';
import type { ModelAnswer } from './provider.ts';
import type { ModelTarget } from './resolve-model.ts';

/**
 * An answer as a message of the history. What the service wants back goes with it; reasoning that is not signed is not
 * kept (spec/agents.md 1.3).
 *
 * @param target the model that was asked for, not the name that the service has for what answered: an alias stays one
 */
export function answerMessage({ provider, model }: ModelTarget, { text, carried }: ModelAnswer, calls: readonly ToolCall[]): Message {
  if (carried === undefined) return assistantMessage(text, calls);
  const content = carried.map((part): Block => (part.type === 'text' ? part : { ...part, provider, model }));
  return { ...assistantMessage('', calls), content };
}
