import { errorText } from '../../base/harn-error.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import { sha256 } from '../../base/sha256.ts';
import type { ParkRequest } from '../../lifecycle/activation.ts';
import type { Clock } from '../../platform/platform.ts';
import { waitForPromise } from '../../tasks/wait.ts';
import { schemaFaults } from '../json-schema.ts';
import { firstCodePoints, renderJson, wellFormed } from '../json-text.ts';
import { type RepeatGuard, skippedRepeat } from '../loop-guard.ts';
import type { LoopCallbacks, ToolCallFacts } from '../loop-live.ts';
import type { LoopOptions } from '../loop-options.ts';
import type { LoopRecord } from '../loop-record.ts';
import type { CallResult } from '../loop-state.ts';
import { UNPARSED } from '../providers/answer-parts.ts';
import { placeholderText } from '../self-park.ts';
import type { ToolCall } from '../transcript/message.ts';
import { type NewEvent, plainEvent } from '../transcript/transcript.ts';
import { checkPermission, type PermissionVerdict, permissionDenied } from './permissions.ts';
import { policyFault } from './policy.ts';
import { redactSecrets } from './secret-scan.ts';
import {
  completeArguments,
  isReadOnly,
  isToolFault,
  isWriting,
  renderToolValue,
  resultStatus,
  type Tool,
  type ToolContinuation,
  type ToolReturn,
  type ToolStatus,
} from './tool.ts';

/**
 * The tool phase of a turn (spec/agents.md 3.5 step 11): every call gets exactly one result. Calls run in order;
 * neighbours that only read run at the same time. Around each handler stand, from outside in: repeated-call guard,
 * permissions, arguments, journal, middleware, timeout and retries.
 */
export interface Dispatcher {
  readonly tools: ReadonlyMap<string, Tool>;
  options: LoopOptions;
  readonly callbacks: LoopCallbacks;
  readonly guard: RepeatGuard;
  readonly clock: Clock;
  /** Closes the worker; whoever waits for a handler stops waiting. */
  readonly signal: AbortSignal;
  readonly sessionId: string;
  record(record: LoopRecord): void;
  emit(event: JsonObject): void;
}

export interface Dispatched {
  readonly results: readonly CallResult[];
  /** Permission events for the transcript. */
  readonly events: readonly NewEvent[];
  /** Grants of this session, old and new. */
  readonly granted: readonly JsonObject[];
  /** A handler asked to park; its siblings have run (7.2). The first one counts. */
  readonly park: ParkRequest | undefined;
}

/** What accumulates over the calls of one turn. */
interface Phase {
  readonly results: CallResult[];
  readonly events: NewEvent[];
  granted: readonly JsonObject[];
  park: ParkRequest | undefined;
}

export async function dispatchCalls(
  dispatcher: Dispatcher,
  calls: readonly ToolCall[],
  granted: readonly JsonObject[],
): Promise<Dispatched> {
  const phase: Phase = { results: [], events: [], granted, park: undefined };
  for (let pos = 0; pos < calls.length; ) {
    const count = concurrentRun(dispatcher, calls, pos);
    const batch = calls.slice(pos, pos + count).map((call, offset) => dispatchCall(dispatcher, call, pos + offset, phase));
    phase.results.push(...(await Promise.all(batch)));
    pos += count;
  }
  return phase;
}

/** How many calls from `pos` on may run together: a stretch of read-only ones, else one. */
function concurrentRun({ tools }: Dispatcher, calls: readonly ToolCall[], pos: number): number {
  let count = 0;
  while (pos + count < calls.length) {
    const tool = tools.get(calls[pos + count]?.name ?? '');
    if (tool === undefined || !isReadOnly(tool)) break;
    count++;
  }
  return Math.max(1, count);
}

/** What one call came to, before it is written down. */
export interface Settled {
  readonly status: ToolStatus | 'awaiting_resumption';
  readonly text: string;
  readonly category?: string;
  readonly park?: ParkRequest;
  readonly events?: readonly NewEvent[];
}

/** Whoever goes on with a paused call has to know which one it was. */
export function transcriptEvents(call: ToolCall, { park, events = [] }: Settled): NewEvent[] {
  return events.map((event) => (park === undefined ? event : { ...event, metadata: { ...event.metadata, call } }));
}

async function dispatchCall(dispatcher: Dispatcher, call: ToolCall, pos: number, phase: Phase): Promise<CallResult> {
  const { id, name } = call;
  emitCall(dispatcher, call);
  const startedMs = dispatcher.clock.monotonicMs();
  const settled = (await refuse(dispatcher, call, phase)) ?? (await execute(dispatcher, call, pos));
  if (settled.park !== undefined) phase.park ??= settled.park;
  phase.events.push(...transcriptEvents(call, settled));
  for (const event of settled.events ?? []) dispatcher.emit({ type: event.kind, ...event.metadata });
  const result: CallResult = { pos, id, name, status: settled.status, text: settled.text };
  dispatcher.record({ t: 'result', ...result });
  const tool = dispatcher.tools.get(name);
  if (settled.status === 'ok' && tool !== undefined && isWriting(tool)) {
    await dispatcher.callbacks.hook?.('file_edited', { session_id: dispatcher.sessionId, tool: name });
  }
  emitUpdate(dispatcher, call, settled, dispatcher.clock.monotonicMs() - startedMs);
  return result;
}

/** Reasons not to run a call at all. */
async function refuse(dispatcher: Dispatcher, call: ToolCall, phase: Phase): Promise<Settled | undefined> {
  const tool = dispatcher.tools.get(call.name);
  if (tool === undefined) return refuseUnknown(dispatcher, call, phase);
  if (typeof call.arguments[UNPARSED] === 'string') {
    const text = `Error: the arguments of ${call.name} are not a JSON object: ${firstCodePoints(call.arguments[UNPARSED], 200)}`;
    return { status: 'error', text, category: 'schema_validation' };
  }
  if (dispatcher.guard.refuses(call.name, call.arguments)) {
    return { status: 'rejected', text: skippedRepeat(call.name), category: 'rejected_loop' };
  }
  const reason = await deniedReason(dispatcher, call, phase);
  if (reason !== undefined) return denied(call, reason);
  const faults = schemaFaults(completeArguments(call.arguments, tool.parameters), tool.parameters, call.name);
  if (faults.length === 0) return undefined;
  return { status: 'error', text: `Error: invalid arguments: ${faults.join('; ')}`, category: 'schema_validation' };
}

/** A tool that the policy keeps away is denied, also when the loop was not given it in the first place. */
function refuseUnknown({ options }: Dispatcher, call: ToolCall, phase: Phase): Settled {
  const fault = options.policy === undefined ? undefined : policyFault(call, undefined, options.policy);
  if (fault === undefined) return { status: 'error', text: `Error: unknown tool ${call.name}`, category: 'tool_error' };
  phase.events.push(permissionEvent('PermissionDeny', call.name, fault));
  return denied(call, fault);
}

function denied(call: ToolCall, reason: string): Settled {
  return { status: 'rejected', text: renderToolValue(permissionDenied(call.name, reason)), category: 'permission_denied' };
}

/**
 * Asks the declarations, then the predicates, then whoever may widen them; writes what happened to the transcript.
 * A grant for the session answers for later calls of the same tool.
 */
async function deniedReason(dispatcher: Dispatcher, call: ToolCall, phase: Phase): Promise<string | undefined> {
  const { options, callbacks } = dispatcher;
  const facts = { id: call.id, name: call.name, arguments: call.arguments };
  const verdict = await judgePermission(dispatcher, facts, phase.granted);
  if (verdict.kind === 'allow') {
    if (options.permissions !== undefined) phase.events.push(permissionEvent('PermissionGrant', call.name, 'allowed'));
    return undefined;
  }
  const granted = phase.granted.find((grant) => grant.tool === call.name);
  if (granted !== undefined && verdict.kind !== 'forbid') {
    phase.events.push(permissionEvent('PermissionGrant', call.name, 'granted for the session'));
    return undefined;
  }
  if (verdict.kind !== 'forbid' && callbacks.escalate !== undefined && options.permissions !== undefined) {
    phase.events.push(permissionEvent('PermissionEscalation', call.name, verdict.reason));
    await callbacks.hook?.('permission_asked', { session_id: dispatcher.sessionId, tool: call.name });
    const answer = await callbacks.escalate({ tool: call.name, args: call.arguments, reason: verdict.reason });
    await callbacks.hook?.('permission_replied', { session_id: dispatcher.sessionId, tool: call.name, grant: answer.grant });
    if (answer.grant !== 'deny') {
      phase.events.push(permissionEvent('PermissionGrant', call.name, answer.reason ?? `granted ${answer.grant}`));
      if (answer.grant === 'session') phase.granted = [...phase.granted, { tool: call.name, grant: 'session' }];
      return undefined;
    }
  }
  phase.events.push(permissionEvent('PermissionDeny', call.name, verdict.reason));
  return verdict.reason;
}

async function judgePermission(
  { options, callbacks, tools }: Dispatcher,
  facts: ToolCallFacts,
  granted: readonly JsonObject[],
): Promise<PermissionVerdict> {
  const declared = checkPermission(facts, tools.get(facts.name), options, { granted, isApproved: callbacks.isApproved });
  if (declared.kind === 'deny' || declared.kind === 'forbid') return declared;
  const predicate = await callbacks.permits?.(facts);
  switch (predicate) {
    case 'forbid':
      return { kind: 'forbid', reason: `tool ${facts.name} is denied for the parent` };
    case 'deny':
      return { kind: 'deny', reason: `tool ${facts.name} is denied` };
    default:
      return declared;
  }
}

function permissionEvent(kind: string, tool: string, reason: string): NewEvent {
  return plainEvent(kind, `${tool}: ${reason}`, { tool, reason });
}

async function execute(dispatcher: Dispatcher, call: ToolCall, pos: number): Promise<Settled> {
  const tool = dispatcher.tools.get(call.name) as Tool; // refuse() has looked
  const args = completeArguments(call.arguments, tool.parameters);
  dispatcher.record({ t: 'begin', pos, id: call.id, name: call.name, args_sha256: sha256(renderJson(args)) });
  dispatcher.emit({
    type: 'tool_call_update',
    tool_call_id: call.id,
    tool_name: call.name,
    status: 'in_progress',
    executor: tool.executor,
  });
  const settled = await runTool(dispatcher, tool, { ...call, arguments: args });
  return settled.park === undefined ? { ...settled, text: dispatcher.guard.settle(call.name, call.arguments, settled.text) } : settled;
}

/**
 * Runs a handler to its end: middleware, timeout, retries. Also what recovery uses to run an idempotent call again.
 */
export async function runTool(dispatcher: Dispatcher, tool: Tool, call: ToolCall, continuation?: ToolContinuation): Promise<Settled> {
  const { options, clock, signal } = dispatcher;
  for (let attempt = 0; ; attempt++) {
    try {
      return settle(await runBounded(dispatcher, tool, call, continuation));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ToolTimeout) return { status: 'error', text: error.message, category: 'timeout' };
      if (!isToolFault(error)) throw error;
      if (attempt >= options.toolRetries)
        return { status: 'error', text: resultText(`Error: ${errorText(error)}`), category: 'tool_error' };
      await clock.sleep(options.toolBackoffMs * 2 ** attempt, signal);
    }
  }
}

function settle(answer: ToolReturn): Settled {
  if (answer.kind === 'park') {
    const { request, events } = answer;
    return {
      status: 'awaiting_resumption',
      text: placeholderText(request.reason),
      park: request,
      ...(events === undefined ? {} : { events }),
    };
  }
  // One text for the model, the journal and the snapshot: a loop that was restored reads what one that never stopped does.
  const text = resultText(answer.text ?? renderToolValue(answer.value));
  return { status: resultStatus(answer.value, text), text, ...(answer.events === undefined ? {} : { events: answer.events }) };
}

function resultText(text: string): string {
  return wellFormed(redactSecrets(text));
}

class ToolTimeout extends Error {}

/** The handler is told when its time is over, but nobody waits for it: a late answer goes nowhere (2.7). */
async function runBounded(
  { options, callbacks, clock, signal }: Dispatcher,
  tool: Tool,
  call: ToolCall,
  continuation?: ToolContinuation,
): Promise<ToolReturn> {
  signal.throwIfAborted();
  const bound = new AbortController();
  const follow = (): void => bound.abort(signal.reason);
  signal.addEventListener('abort', follow, { once: true });
  const limitMs = tool.timeoutMs ?? options.toolCallTimeoutMs;
  const cancelTimer =
    limitMs === undefined
      ? undefined
      : clock.timer(limitMs, () => bound.abort(new ToolTimeout(`Error: tool ${tool.name} timed out after ${limitMs} ms`)));
  const next = (): Promise<ToolReturn> => tool.handler(call.arguments, { callId: call.id, signal: bound.signal, continuation });
  try {
    const running = callbacks.toolCaller === undefined ? next() : callbacks.toolCaller(call, next);
    return await waitForPromise(bound.signal, running);
  } finally {
    cancelTimer?.();
    signal.removeEventListener('abort', follow);
  }
}

function emitCall({ emit, tools }: Dispatcher, call: ToolCall): void {
  const kind: Json = tools.get(call.name)?.annotations.kind ?? 'other';
  emit({ type: 'tool_call', tool_call_id: call.id, tool_name: call.name, kind, status: 'pending', raw_input: call.arguments });
}

function emitUpdate({ emit, tools }: Dispatcher, call: ToolCall, settled: Settled, durationMs: number): void {
  const isFailed = settled.status === 'error' || settled.status === 'rejected';
  emit({
    type: 'tool_call_update',
    tool_call_id: call.id,
    tool_name: call.name,
    status: isFailed ? 'failed' : 'completed',
    ...(isFailed ? { error: settled.text, error_category: settled.category ?? 'tool_error' } : { raw_output: settled.text }),
    duration_ms: Math.round(durationMs),
    execution_duration_ms: Math.round(durationMs),
    executor: tools.get(call.name)?.executor ?? null,
  });
}
