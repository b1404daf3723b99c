import { matchesGlob } from '../../agent/glob.ts';
import type { ContextAnswer, EscalationAnswer, LoopCallbacks, LoopControlAnswer, PostTurnAnswer } from '../../agent/loop-live.ts';
import { buildLlmResult } from '../../agent/model-call/llm-result.ts';
import type { ModelAnswer, ModelRequest } from '../../agent/providers/provider.ts';
import { requestConditions } from '../../agent/self-park.ts';
import { renderToolValue, type ToolReturn } from '../../agent/tools/tool.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { brandedRequest } from '../../lifecycle/await-resumption.ts';
import { approvalsOf } from '../approvals.ts';
import { callValue } from '../call.ts';
import type { Context } from '../context.ts';
import { dictEntries } from '../dict.ts';
import { display } from '../display.ts';
import { plainError } from '../errors.ts';
import { toJson } from '../json.ts';
import { Dict, type HarnFunction, isCallable, typeOf, type Value } from '../value.ts';
import { toolReturn } from './agent-tools.ts';
import { agentValue, field, optionsJson } from './agent-values.ts';

/** Options of `agent_loop` that are callables (spec/agents.md 3.2), as the loop wants them: JSON in, plain answers out. */
export const CALLBACK_OPTIONS = [
  'post_turn_callback',
  'loop_control',
  'verify_completion',
  'done_judge',
  'context_callback',
  'context_filter',
  'compact_callback',
  'consolidate_on_idle',
  'llm_caller',
  'tool_caller',
  'resume_by',
] as const;

/** Options that are a callable or say in data what is wanted. */
export const MAY_BE_DATA: ReadonlySet<string> = new Set(['verify_completion', 'done_judge', 'consolidate_on_idle']);

export type CallbackName = (typeof CALLBACK_OPTIONS)[number];

export type NamedCallbacks = Readonly<Partial<Record<CallbackName, HarnFunction>>>;

/** @throws plain error for a callback that cannot be called */
export function namedCallbacks(options: Value): NamedCallbacks {
  const found: Partial<Record<CallbackName, HarnFunction>> = {};
  for (const name of CALLBACK_OPTIONS) {
    const value = field(options, name);
    if (value === undefined) continue;
    if (isCallable(value)) found[name] = value;
    else if (!MAY_BE_DATA.has(name)) throw plainError(`agent_loop: ${name} must be a function`);
  }
  return found;
}

/** `permissions` of a loop, and of those above it. */
export interface DeclaredPermissions {
  readonly own: Value;
  readonly inherited: readonly Value[];
}

export function bindCallbacks(context: Context, named: NamedCallbacks, permissions: DeclaredPermissions): LoopCallbacks {
  const call = (fn: HarnFunction, ...args: Value[]): Promise<Value> => Promise.resolve(callValue(context, 0, fn, ...args));
  const judge = named.verify_completion ?? named.done_judge;
  const rewrite = named.context_callback ?? named.context_filter;
  const { post_turn_callback: postTurn, loop_control: control, compact_callback: compact, llm_caller: llm, tool_caller: tool } = named;
  const { consolidate_on_idle: consolidate } = named;
  const escalation = field(permissions.own, 'on_escalation');
  if (escalation !== undefined && !isCallable(escalation)) throw plainError('agent_loop: permissions.on_escalation must be a function');
  return {
    postTurn: postTurn && (async (info) => readPostTurn(await call(postTurn, agentValue(info)))),
    loopControl: control && (async (info) => readControl(await call(control, agentValue(info)))),
    verifyCompletion: judge && (async (info) => readObjection(await call(judge, agentValue(info)))),
    context: rewrite && (async (view) => readContext(await call(rewrite, agentValue(view)))),
    compact: compact && (async (messages) => readSummary(await call(compact, agentValue(messages)))),
    consolidate: consolidate && (async (messages) => readSummary(await call(consolidate, agentValue(messages)))),
    llmCaller: llm && (async (request, next) => readAnswer(await call(llm, requestValue(request), nextModel(next)), request)),
    toolCaller: tool && (async (facts, next) => toolReturn(await call(tool, agentValue(facts), nextTool(next)))),
    escalate: isCallable(escalation) ? async (request) => readEscalation(await call(escalation, agentValue(request))) : undefined,
    isApproved: approvalsOf(context.run).areGranted,
    permits: bindPredicates(permissions, call),
    resumeBy: named.resume_by,
  };
}

function readPostTurn(value: Value): PostTurnAnswer {
  const request = brandedRequest(value);
  if (request !== undefined) {
    return { park: { reason: request.reason, initiator: 'self', ...requestConditions(request), resumeBy: request.resumeBy?.value } };
  }
  if (typeof value === 'string') return { message: value };
  if (typeof value === 'boolean') return { stop: value };
  const answer = optionsJson(value);
  const patches: JsonObject = { ...objectOf(answer.next_options), ...objectOf(answer.llm_options) };
  return {
    message: typeof answer.message === 'string' ? answer.message : undefined,
    stop: answer.stop === true,
    patches: Object.keys(patches).length === 0 ? undefined : patches,
  };
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** A stop that could not be read would be none. */
function readControl(value: Value): LoopControlAnswer {
  const answer = typeof value === 'string' ? { decision: value } : optionsJson(value);
  const { decision, reason, turns } = answer as JsonObject;
  const isNothing = value === undefined || (value instanceof Dict && decision === undefined && dictEntries(value).length === 0);
  if (!isNothing && !isDecision(decision))
    throw plainError(`agent_loop: loop_control must answer nil, "continue", "extend", "stop" or {decision}, got ${display(value)}`);
  return {
    decision: isDecision(decision) ? decision : 'continue',
    reason: typeof reason === 'string' ? reason : undefined,
    turns: typeof turns === 'number' ? turns : undefined,
  };
}

function isDecision(word: unknown): word is LoopControlAnswer['decision'] {
  return word === 'continue' || word === 'extend' || word === 'stop';
}

/** nil and true let the end pass; false, a text, or a dict that says no, refuse it. */
function readObjection(value: Value): string | undefined {
  if (value === undefined || value === true || value === '') return undefined;
  if (value === false) return 'The work is not complete yet.';
  if (typeof value === 'string') return value;
  const answer = optionsJson(value);
  const isPassed = answer.ok === true || answer.done === true || answer.pass === true || answer.complete === true;
  if (isPassed) return undefined;
  const why = [answer.feedback, answer.message, answer.reason].find((text) => typeof text === 'string');
  return typeof why === 'string' ? why : 'The work is not complete yet.';
}

/** What is meant to hide messages must not show all of them because its answer could not be read. */
function readContext(value: Value): ContextAnswer {
  if (value === undefined) return {};
  const json = toJson(value);
  const { messages, system } = isJsonObject(json) ? json : { messages: json };
  const isFit =
    (messages === undefined || Array.isArray(messages)) && (system === undefined || system === null || typeof system === 'string');
  if (!isFit) throw plainError(`agent_loop: context_callback must answer nil, messages or {messages, system}, got ${typeOf(value)}`);
  return { ...(messages === undefined ? {} : { messages }), ...(system === undefined ? {} : { system: system ?? undefined }) };
}

function readSummary(value: Value): string {
  const summary = field(value, 'summary') ?? value;
  return summary === undefined ? '' : display(summary);
}

function readEscalation(value: Value): EscalationAnswer {
  if (value === true) return { grant: 'once' };
  const { grant, reason } = optionsJson(value);
  const why = typeof reason === 'string' ? reason : undefined;
  return grant === 'once' || grant === 'session' ? { grant, reason: why } : { grant: 'deny', reason: why };
}

type Call = (fn: HarnFunction, ...args: Value[]) => Promise<Value>;

/**
 * Functions among the entries of `permissions.allow` and `.deny` decide by the arguments of a call. Deny wins; a
 * tool that has an allowing function is allowed only when that says so. What a loop above refuses is forbidden.
 */
function bindPredicates({ own, inherited }: DeclaredPermissions, call: Call): LoopCallbacks['permits'] {
  const above = inherited.map(predicatesOf).filter(hasPredicates);
  const mine = predicatesOf(own);
  if (above.length === 0 && !hasPredicates(mine)) return undefined;
  return async ({ name, arguments: args }) => {
    const value = agentValue(args);
    for (const predicates of above) if (await refuses(predicates, name, value, call)) return 'forbid';
    return (await refuses(mine, name, value, call)) ? 'deny' : undefined;
  };
}

interface Predicates {
  readonly deny: readonly Predicate[];
  readonly allow: readonly Predicate[];
}

interface Predicate {
  readonly glob: string;
  /** Undefined where it was lost in a restore: it refuses, since nothing may come back wider. */
  readonly fn: HarnFunction | undefined;
}

async function refuses({ deny, allow }: Predicates, name: string, args: Value, call: Call): Promise<boolean> {
  for (const { glob, fn } of deny) {
    if (matchesGlob(glob, name) && (fn === undefined || (await call(fn, args)) === true)) return true;
  }
  const own = allow.filter(({ glob }) => matchesGlob(glob, name));
  for (const { fn } of own) if (fn !== undefined && (await call(fn, args)) === true) return false;
  return own.length > 0;
}

function predicatesOf(permissions: Value): Predicates {
  return { deny: predicatesIn(field(permissions, 'deny')), allow: predicatesIn(field(permissions, 'allow')) };
}

function hasPredicates({ deny, allow }: Predicates): boolean {
  return deny.length + allow.length > 0;
}

/** An entry that is nil is one whose function is gone. */
function predicatesIn(entries: Value): Predicate[] {
  if (Array.isArray(entries)) {
    return entries.flatMap((entry: Value) => (isPredicate(entry) ? [{ glob: '*', fn: entry }] : predicatesIn(entry)));
  }
  if (!(entries instanceof Dict)) return [];
  return dictEntries(entries).flatMap(([glob, fn]) => (isPredicate(fn) ? [{ glob, fn }] : []));
}

function isPredicate(entry: Value): entry is HarnFunction | undefined {
  return entry === undefined || isCallable(entry);
}

function requestValue({ provider, model, system, messages, tools, options }: ModelRequest): Value {
  return agentValue({ provider, model, system: system ?? null, messages, tools, options });
}

/** The rest of the chain as a function of the language. */
function callable(name: string, run: () => Promise<Value>): HarnFunction {
  const fn = (() => run()) as unknown as HarnFunction;
  (fn as { meta: HarnFunction['meta'] }).meta = { kind: 'builtin', name, params: [], isAsync: true };
  return fn;
}

function nextModel(next: () => Promise<ModelAnswer>): HarnFunction {
  return callable('next', async () => agentValue(buildLlmResult(await next(), { data: null, transcript: {} })));
}

function nextTool(next: () => Promise<ToolReturn>): HarnFunction {
  return callable('next', async () => {
    const answer = await next();
    return answer.kind === 'value' ? agentValue(answer.value) : renderToolValue(answer.request.reason);
  });
}

/** A dict shaped like an LlmResult, or one that maps a fault. */
function readAnswer(value: Value, request: ModelRequest): ModelAnswer | { readonly providerError: JsonObject } {
  const answer = typeof value === 'string' ? { text: value } : optionsJson(value);
  const { status, error, text, tool_calls: calls, input_tokens: input, output_tokens: output } = answer as JsonObject;
  if (status === 'provider_error' || isJsonObject(error)) return { providerError: objectOf(error) };
  return {
    text: typeof text === 'string' ? text : '',
    toolCalls: (Array.isArray(calls) ? calls : []).filter(isJsonObject).map((call, index) => ({
      id: typeof call.id === 'string' ? call.id : `call_${index + 1}`,
      name: String(call.name ?? ''),
      arguments: objectOf(call.arguments),
    })),
    thinking: undefined,
    thinkingSummary: undefined,
    stopReason: undefined,
    provider: request.provider,
    model: request.model,
    usage: {
      input_tokens: typeof input === 'number' ? input : 0,
      output_tokens: typeof output === 'number' ? output : 0,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
    },
    blocks: undefined,
  };
}
