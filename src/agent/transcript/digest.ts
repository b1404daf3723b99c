import { firstCodePoints } from '../json-text.ts';
import { visibleText } from '../tools/text-tools.ts';
import { messageText } from './message.ts';
import type { Transcript } from './transcript.ts';

const PART_LIMIT = 400;
const TOTAL_LIMIT = 2000;

/**
 * What a model that starts afresh is told of the conversation so far (spec/agents.md 5.6). Made without a model
 * call, so that a resume is deterministic and free (13.14).
 */
export function transcriptDigest(transcript: Transcript, toolsUsed: readonly string[]): string {
  if (transcript.summary !== null && transcript.summary.trim() !== '') return firstCodePoints(transcript.summary, TOTAL_LIMIT);
  const { messages } = transcript;
  const firstUser = messages.find((message) => message.role === 'user');
  const answers = messages
    .filter((message) => message.role === 'assistant')
    .map((message) => visibleText(messageText(message)))
    .filter((text) => text.trim() !== '')
    .slice(-2);
  const parts = [
    ...(firstUser === undefined ? [] : [`Request: ${cut(messageText(firstUser))}`]),
    ...answers.map((text) => `Answer: ${cut(text)}`),
    ...(toolsUsed.length === 0 ? [] : [`Tools used: ${cut(toolsUsed.join(', '))}`]),
  ];
  return firstCodePoints(parts.length === 0 ? 'No messages before the suspension.' : parts.join('\n'), TOTAL_LIMIT);
}

function cut(text: string): string {
  return firstCodePoints(text, PART_LIMIT);
}
