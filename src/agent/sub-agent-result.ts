import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { schemaFaults } from './json-schema.ts';
import { extractJson } from './model-call/structured-output.ts';
import { eventsByKind, type Transcript } from './transcript/transcript.ts';

/**
 * What the caller of a sub-agent gets (spec/agents.md 4.4): the outcome of the child's loop, not its conversation.
 *
 * @param result of the child's loop (3.8)
 * @param schema JSON Schema that `data` has to fit; the text of the answer is read as JSON for it
 */
export function subAgentResult(
  result: JsonObject,
  {
    transcript,
    sessionId,
    schema,
  }: { readonly transcript: Transcript; readonly sessionId: string; readonly schema: JsonObject | undefined },
): JsonObject {
  const text = typeof result.visible_text === 'string' ? result.visible_text : '';
  const isDone = result.status === 'done';
  const data = result.data ?? (schema === undefined ? null : (extractJson(text)?.value ?? null));
  const faults = isDone && schema !== undefined ? schemaFaults(data, schema) : [];
  const llm = isJsonObject(result.llm) ? result.llm : {};
  return {
    ok: isDone && faults.length === 0,
    summary: text,
    artifacts: [],
    evidence_added: 0,
    tokens_used: count(llm.input_tokens) + count(llm.output_tokens),
    budget_exceeded: result.status === 'budget_exhausted',
    data,
    error: faults.length > 0 ? { category: 'schema_validation', message: faults.join('; ') } : isDone ? null : endError(result, transcript),
    session_id: sessionId,
    transcript,
    status: result.status ?? null,
    suspension: null,
  };
}

/** A child that did not get to its end because it was refused a tool says so. */
function endError(result: JsonObject, transcript: Transcript): JsonObject {
  const refused = eventsByKind(transcript, 'PermissionDeny').at(-1)?.metadata;
  if (typeof refused?.tool === 'string') {
    return { category: 'permission_denied', message: `tool ${refused.tool} was denied: ${String(refused.reason)}`, tool: refused.tool };
  }
  const given = isJsonObject(result.error) ? result.error : {};
  const message = typeof given.message === 'string' ? given.message : `the loop ended with status ${String(result.status)}`;
  return { category: typeof given.category === 'string' ? given.category : 'generic', message };
}

function count(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}
