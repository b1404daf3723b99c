import { matchesGlob } from '../../agent/glob.ts';
import { permissionDenied } from '../../agent/tools/permissions.ts';
import { renderToolValue, snipText, type ToolReturn } from '../../agent/tools/tool.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { callValue } from '../call.ts';
import type { Context, Run } from '../context.ts';
import { plainError } from '../errors.ts';
import { toJson } from '../json.ts';
import { Dict, type HarnFunction, isCallable, type Value } from '../value.ts';
import { agentValue, field, optionalText } from './agent-values.ts';

/** Hooks around tool calls (spec/agents.md 10.1): refuse them, change their arguments, cut or replace their results. */
interface ToolHook {
  readonly pattern: string;
  /** Why every matching call is refused. */
  readonly deny: string | undefined;
  /** Code points of a result that are kept. */
  readonly maxOutput: number | undefined;
  readonly pre: HarnFunction | undefined;
  readonly post: HarnFunction | undefined;
}

const HOOKS = Symbol('tool hooks');

function hooksOf(run: Run): ToolHook[] {
  return run.service(HOOKS, () => []);
}

/** @throws plain error for a spec of another shape */
export function registerToolHook(run: Run, spec: Value): void {
  if (!(spec instanceof Dict)) throw plainError('register_tool_hook: expected a dict');
  const pattern = field(spec, 'pattern');
  if (typeof pattern !== 'string') throw plainError('register_tool_hook: pattern must be a string');
  const deny = field(spec, 'deny');
  const maxOutput = field(spec, 'max_output');
  hooksOf(run).push({
    pattern,
    deny: deny === true ? 'denied by hook' : deny === false ? undefined : optionalText(deny),
    maxOutput: typeof maxOutput === 'number' ? maxOutput : undefined,
    pre: optionalFunction(spec, 'pre'),
    post: optionalFunction(spec, 'post'),
  });
}

export function clearToolHooks(run: Run): void {
  hooksOf(run).length = 0;
}

function optionalFunction(spec: Dict, key: string): HarnFunction | undefined {
  const value = field(spec, key);
  if (value === undefined || isCallable(value)) return value;
  throw plainError(`register_tool_hook: ${key} must be a function`);
}

/** Runs a call inside the hooks that match it, in the order of their registration. */
export async function withToolHooks(
  context: Context,
  name: string,
  args: JsonObject,
  run: (args: JsonObject) => Promise<ToolReturn>,
): Promise<ToolReturn> {
  const hooks = hooksOf(context.run).filter((hook) => matchesGlob(hook.pattern, name));
  let current = args;
  for (const hook of hooks) {
    if (hook.deny !== undefined) return denied(name, hook.deny);
    const verdict = hook.pre === undefined ? undefined : await callValue(context, 0, hook.pre, agentValue({ name, args: current }));
    const reason = denyReason(verdict);
    if (reason !== undefined) return denied(name, reason);
    const changed = toJson(field(field(verdict, 'modify'), 'args') ?? field(verdict, 'args'));
    if (isJsonObject(changed)) current = changed;
  }
  let answer = await run(current);
  for (const hook of hooks) answer = await afterwards(context, name, hook, answer);
  return answer;
}

/** The return values of 10.2 that refuse. */
function denyReason(verdict: Value): string | undefined {
  const says = field(verdict, 'decision') ?? verdict;
  const isDenied = verdict === false || field(verdict, 'block') === true || (typeof says === 'string' && /^(deny|ask)$/i.test(says));
  return isDenied ? (optionalText(field(verdict, 'reason')) ?? 'blocked by hook') : undefined;
}

function denied(name: string, reason: string): ToolReturn {
  return { kind: 'value', value: permissionDenied(name, reason) };
}

async function afterwards(context: Context, name: string, hook: ToolHook, answer: ToolReturn): Promise<ToolReturn> {
  if (answer.kind === 'park') return answer;
  const text = answer.text ?? renderToolValue(answer.value);
  const replaced = hook.post === undefined ? undefined : await callValue(context, 0, hook.post, agentValue({ name, result: text }));
  const shown = replaced === undefined ? answer : ({ kind: 'value', value: toJson(replaced) } as const);
  return hook.maxOutput === undefined ? shown : cut(shown, hook.maxOutput);
}

function cut(answer: Extract<ToolReturn, { kind: 'value' }>, limit: number): ToolReturn {
  const text = answer.text ?? renderToolValue(answer.value);
  const shown = snipText(text, limit);
  return shown === text ? answer : { kind: 'value', value: shown };
}
