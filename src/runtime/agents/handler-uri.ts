import { HarnError } from '../../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';
import type { Binding } from '../../lifecycle/trigger-registry.ts';
import type { Context, Run } from '../context.ts';
import { sendRequest } from '../http/http-client.ts';
import { lifecycleOf } from './agent-lifecycle.ts';

/**
 * Handlers that are elsewhere (spec/agents.md 9.1): `worker://QUEUE` leaves a job in the event log for whoever works
 * on that queue, `a2a://HOST[:PORT][/AGENT]` hands the event to an agent that speaks the agent-to-agent protocol.
 */
export function callHandlerUri(context: Context, uri: string, event: JsonObject, binding: Binding): Promise<Json> {
  const { scheme = '', rest = '' } = /^(?<scheme>a2a|worker):\/\/(?<rest>.+)$/.exec(uri)?.groups ?? {};
  if (scheme === 'worker') return Promise.resolve(enqueue(context.run, rest, event, binding));
  return askAgent(context, rest, event, binding);
}

function enqueue(run: Run, queue: string, event: JsonObject, binding: Binding): Json {
  const lifecycle = lifecycleOf(run);
  const name = queue.replace(/[^A-Za-z0-9._-]/g, '_');
  const responseTopic = `worker.responses.${name}`;
  const { id } = lifecycle.eventLog.append({
    topic: `worker.queues.${name}`,
    kind: 'worker_job',
    payload: { queue, event, binding_id: binding.id, autonomy_tier: binding.spec.autonomyTier, response_topic: responseTopic },
    headers: { trigger_id: binding.id, trace_id: event.trace_id ?? null },
    occurredAt: lifecycle.platform.clock.now(),
  });
  return { queue, job_event_id: id, response_topic: responseTopic };
}

/** How long an agent elsewhere may take for its answer. */
const ANSWER_TIMEOUT_MS = 120_000;

async function askAgent(context: Context, target: string, event: JsonObject, binding: Binding): Promise<Json> {
  const [authority = '', ...path] = target.split('/');
  const scheme = binding.spec.allowCleartext ? 'http' : 'https';
  const named = { binding_id: binding.id, autonomy_tier: binding.spec.autonomyTier, trace_id: event.trace_id ?? null };
  const envelope = { target_agent: path.join('/') || null, event, ...named };
  const id = context.run.platform.random.id('a2a');
  const parts = [{ kind: 'text', text: JSON.stringify(envelope) }];
  const call = { jsonrpc: '2.0', id, method: 'message/send', params: { message: { kind: 'message', messageId: id, role: 'user', parts } } };
  const response = await sendRequest(context, {
    method: 'POST',
    url: new URL(`${scheme}://${authority}/`),
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(call),
    timeoutMs: ANSWER_TIMEOUT_MS,
    retries: 0,
    backoffMs: 0,
    retryStatuses: new Set(),
    maxRedirects: 0,
  });
  return readAnswer(authority, response.status, await response.text());
}

/** A finished task or a message gives what it says, as JSON where it is; an open task gives its id. */
function readAnswer(authority: string, status: number, text: string): Json {
  const answer = parseJson(text);
  if (status < 200 || status > 299 || !isJsonObject(answer))
    throw new HarnError('plain', `a2a://${authority} answered with status ${status}`);
  if (isJsonObject(answer.error)) throw new HarnError('plain', `a2a://${authority}: ${String(answer.error.message ?? 'error')}`);
  const result = isJsonObject(answer.result) ? answer.result : {};
  const state = isJsonObject(result.status) ? result.status.state : 'completed';
  if (state === 'failed' || state === 'rejected' || state === 'canceled')
    throw new HarnError('plain', `a2a://${authority}: the task ended as ${state}`);
  if (state !== 'completed') return { status: 'pending', task_id: result.id ?? null, state: state ?? null };
  const said = textOf(result);
  return parseJson(said) ?? said;
}

/** The text of a message, or of the artifacts of a task. */
function textOf(result: JsonObject): string {
  const holders = Array.isArray(result.artifacts) ? result.artifacts : [result];
  return holders
    .filter(isJsonObject)
    .flatMap(({ parts }) => (Array.isArray(parts) ? parts.filter(isJsonObject) : []))
    .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
    .join('\n');
}
