import { HarnError, hasCode } from '../../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { ParkRequest } from '../../lifecycle/activation.ts';
import { standardSchema } from '../json-schema.ts';
import { codePointLength, firstCodePoints, renderJson } from '../json-text.ts';
import type { ToolSpec } from '../providers/provider.ts';
import type { NewEvent } from '../transcript/transcript.ts';

/**
 * A tool as the loop sees it (spec/agents.md chapter 2): JSON in, JSON out. Whether a closure, a host or a server
 * stands behind `handler` is known only to whoever built it.
 */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of type object. */
  readonly parameters: JsonObject;
  readonly annotations: JsonObject;
  /** What it may touch, for the policy of a loop: `capabilities`, `side_effect_level`, `path_params`. */
  readonly policy: JsonObject;
  /** A repeated call with the same arguments does no harm; read by recovery alone (4.9). */
  readonly idempotent: boolean;
  /** Bound of one call in milliseconds; undefined takes the loop's. */
  readonly timeoutMs: number | undefined;
  /** Kept from the model until a search finds it, in a loop that has `tool_search`. */
  readonly deferLoading?: boolean | undefined;
  readonly namespace?: string | undefined;
  readonly executor: 'harn' | 'host_bridge' | 'mcp_server' | 'provider_native';
  readonly handler: ToolHandler;
}

export type ToolHandler = (args: JsonObject, call: ToolCallContext) => Promise<ToolReturn>;

export interface ToolCallContext {
  readonly callId: string;
  /** Fires when the call is timed out or the worker is closed. The handler is told, not killed (2.7). */
  readonly signal: AbortSignal;
  /** Set when the call goes on after a park that it had asked for: what the tool kept, and what the resume brought. */
  readonly continuation?: ToolContinuation | undefined;
}

export interface ToolContinuation {
  readonly state: JsonObject;
  readonly input: string | undefined;
}

export type ToolReturn =
  /** `text` is what the model reads where the value has a rendering of its own; `events` go into the transcript. */
  | { readonly kind: 'value'; readonly value: Json; readonly text?: string | undefined; readonly events?: readonly NewEvent[] }
  /** The handler answered the branded request of `agent_await_resumption` (7.2). */
  | { readonly kind: 'park'; readonly request: ParkRequest; readonly events?: readonly NewEvent[] };

const TOOL_FAULT = 'tool_error';

/** What a handler rejects with when the tool failed: the model gets its text. Any other rejection ends the loop. */
export function toolFault(message: string, cause?: unknown): HarnError {
  return new HarnError(TOOL_FAULT, message, { cause });
}

export function isToolFault(error: unknown): boolean {
  return hasCode(error, TOOL_FAULT);
}

/** A result that was too long for the model, with a mark of what went. */
export function snipText(text: string, limit: number): string {
  const length = codePointLength(text);
  return length <= limit ? text : `${firstCodePoints(text, limit)}\n[${length - limit} characters snipped]`;
}

export function isSnipped(text: string): boolean {
  return /\n\[\d+ characters snipped\]/.test(text);
}

export type ToolStatus = 'ok' | 'error' | 'rejected';

/** How a value reads for a model (2.3). */
export function renderToolValue(value: Json): string {
  if (typeof value === 'string') return value;
  return value === null ? '(no output)' : renderJson(value, 'pretty');
}

/** What a result counts as (2.3). */
export function resultStatus(value: Json, text: string): ToolStatus {
  if (isJsonObject(value) && value.error === 'permission_denied') return 'rejected';
  return text.startsWith('Error:') || text.startsWith('ERROR:') ? 'error' : 'ok';
}

export function isReadOnly(tool: Tool): boolean {
  return tool.annotations.readOnlyHint === true;
}

const WRITING_KINDS = ['edit', 'write', 'delete', 'move'];

/** By its annotation, or by the side effects that it declares. */
export function isWriting({ annotations, policy }: Pick<Tool, 'annotations' | 'policy'>): boolean {
  const declared = { ...annotations, ...policy };
  return WRITING_KINDS.includes(String(declared.kind)) || declared.side_effect_level === 'workspace_write';
}

export function toolSpec(tool: Tool): ToolSpec {
  const { name, description, parameters, deferLoading, namespace } = tool;
  return {
    name,
    description,
    parameters,
    ...(deferLoading === true ? { deferLoading } : {}),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/**
 * Both ways to write `parameters` become JSON Schema (2.2): a schema of type object is taken as it is; the short
 * form names each argument with its type, and an argument is required unless it says otherwise or has a default.
 */
export function parametersSchema(parameters: JsonObject | undefined): JsonObject {
  if (parameters === undefined) return { type: 'object', properties: {} };
  const isObject = parameters.type === 'object' || parameters.type === 'dict';
  if (isObject && (isJsonObject(parameters.properties) || Object.keys(parameters).length === 1)) return standardSchema(parameters);
  const properties: Record<string, Json> = {};
  const required: string[] = [];
  for (const [name, given] of Object.entries(parameters)) {
    if (given === undefined) continue;
    const { required: wanted, ...schema } = isJsonObject(given) ? given : { type: given };
    properties[name] = standardSchema(schema);
    if (wanted === true || (wanted !== false && schema.default === undefined)) required.push(name);
  }
  return { type: 'object', properties, required };
}

/** Arguments as the handler gets them: defaults filled in. Whole floats need nothing: JSON has one kind of number. */
export function completeArguments(args: JsonObject, schema: JsonObject): JsonObject {
  if (!isJsonObject(schema.properties)) return args;
  const defaults = Object.entries(schema.properties).flatMap(([name, part]): [string, Json][] =>
    args[name] === undefined && isJsonObject(part) && part.default !== undefined ? [[name, part.default]] : [],
  );
  return defaults.length === 0 ? args : { ...args, ...Object.fromEntries(defaults) };
}
