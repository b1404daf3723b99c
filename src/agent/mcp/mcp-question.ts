import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';
import type { ToolContinuation, ToolReturn } from '../tools/tool.ts';
import { plainEvent } from '../transcript/transcript.ts';
import type { McpAnswers, McpQuestion } from './mcp-client.ts';

/**
 * A tool of a server that needs an answer of a person before it can go on. The loop parks itself; what the server kept is
 * an event of the transcript, and with it in the snapshot. The input of the resume goes back as the answer, over a new
 * connection and perhaps to a new process of the server.
 */
export const TOOL_PAUSED = 'tool_paused';

export function questionReturn(server: string, { requests, state }: McpQuestion): ToolReturn {
  const questions = Object.values(requests).flatMap((request) => {
    const message = isJsonObject(request) && isJsonObject(request.params) ? request.params.message : undefined;
    return typeof message === 'string' ? [message] : [];
  });
  const reason = `MCP server ${server} asks: ${questions.length === 0 ? 'for input' : questions.join(' ')}`;
  return {
    kind: 'park',
    request: { reason, initiator: 'self', conditions: undefined },
    events: [plainEvent(TOOL_PAUSED, reason, { server, input_requests: requests, request_state: state ?? null })],
  };
}

/** The input as what each question wants; without one every question is called off. */
export function answersOf({ state, input }: ToolContinuation): McpAnswers {
  const requests = isJsonObject(state.input_requests) ? state.input_requests : {};
  return {
    responses: Object.fromEntries(Object.entries(requests).map(([id, request]) => [id, answerTo(request, input)])),
    state: typeof state.request_state === 'string' ? state.request_state : undefined,
  };
}

function answerTo(request: Json | undefined, input: string | undefined): JsonObject {
  if (input === undefined) return { action: 'cancel' };
  const params = isJsonObject(request) && isJsonObject(request.params) ? request.params : {};
  const schema = isJsonObject(params.requestedSchema) ? params.requestedSchema : {};
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  return { action: 'accept', content: formContent(properties, input) };
}

/** An object as it is; any other text is the value of the one field that is asked for. */
function formContent(properties: JsonObject, input: string): JsonObject {
  const json = parseJson(input);
  if (isJsonObject(json)) return json;
  const [name, ...others] = Object.keys(properties);
  if (name === undefined || others.length > 0) return { answer: input };
  const field = properties[name];
  const type = isJsonObject(field) ? field.type : undefined;
  if (type === 'boolean') return { [name]: /^\s*(true|yes|y|ok|1)\s*$/i.test(input) };
  return { [name]: (type === 'number' || type === 'integer') && typeof json === 'number' ? json : input };
}
