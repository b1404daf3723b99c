import { isJsonObject, type JsonObject } from '../base/json.ts';
import { firstCodePoints } from './json-text.ts';
import type { CallUsage } from './loop-state.ts';
import type { CallPolicy, ModelWorld } from './model-call/model-call.ts';
import { callShaped } from './model-call/structured-call.ts';
import type { ModelRequest } from './providers/provider.ts';
import { type ModelTarget, resolveModel } from './providers/resolve-model.ts';
import { type Message, messageCalls, messageText, userMessage } from './transcript/message.ts';

/**
 * `done_judge` and `verify_completion` as dicts (spec/agents.md 3.2): another model call that decides whether the work
 * is done, and says what is missing. What fails or cannot be read lets the end pass: a judge must not keep a loop from
 * ending that nobody could end otherwise.
 */
export interface DoneJudge {
  /** What a finished work is; undefined leaves it to the task. */
  readonly criteria: string | undefined;
  readonly system: string | undefined;
  /** The model that judges; undefined takes the loop's. */
  readonly provider: string | undefined;
  readonly model: string | undefined;
  /** So many objections at most in an activation. */
  readonly maxObjections: number;
}

const SYSTEM = [
  'You check whether an assistant has finished its task. Judge by the criteria alone, and only by what the conversation shows.',
  'Answer with JSON: {"done": true} when the work is finished, else {"done": false, "feedback": "what is missing, in one or two sentences"}.',
].join(' ');

const SCHEMA: JsonObject = {
  type: 'object',
  properties: { done: { type: 'boolean' }, feedback: { type: 'string' } },
  required: ['done'],
};

/** Of the conversation the end matters most, and of single messages their beginning. */
const SHOWN_MESSAGES = 30;
const SHOWN_CHARACTERS = 4000;

export interface Judged {
  /** What the model is told; undefined lets the end pass. */
  readonly objection: string | undefined;
  readonly usage: CallUsage;
}

export function judgeRequest(
  { provider, model, criteria, system = SYSTEM }: DoneJudge,
  target: ModelTarget,
  env: (name: string) => string | undefined,
  { task, messages }: { readonly task: string; readonly messages: readonly Message[] },
): ModelRequest {
  const asked = provider === undefined && model === undefined ? target : resolveModel({ provider, model }, env);
  const prompt = [
    `<task>\n${task}\n</task>`,
    ...(criteria === undefined ? [] : [`<criteria>\n${criteria}\n</criteria>`]),
    `<conversation>\n${messages.slice(-SHOWN_MESSAGES).map(renderMessage).join('\n\n')}\n</conversation>`,
  ];
  return { ...asked, system, messages: [userMessage(prompt.join('\n\n'))], tools: [], toolChoice: 'auto', options: {} };
}

export async function judgeDone(world: ModelWorld, request: ModelRequest, policy: CallPolicy, signal: AbortSignal): Promise<Judged> {
  const wish = { schema: SCHEMA, validation: 'warn' as const, retries: 0, nudge: undefined };
  const { data, usage } = await callShaped(world, request, policy, wish, signal);
  if (!isJsonObject(data) || data.done !== false) return { objection: undefined, usage };
  const { feedback } = data;
  return { objection: typeof feedback === 'string' && feedback.trim() !== '' ? feedback : 'The work is not complete yet.', usage };
}

function renderMessage(message: Message): string {
  const calls = messageCalls(message).map((call) => `[calls ${call.name} ${JSON.stringify(call.arguments)}]`);
  return [`${message.role}: ${firstCodePoints(messageText(message), SHOWN_CHARACTERS)}`, ...calls].join('\n');
}
