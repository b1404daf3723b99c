import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { matchesGlob } from './glob.ts';
import type { ToolCallFacts } from './loop-live.ts';
import type { LoopOptions } from './loop-options.ts';

/** May this call run (spec/agents.md 2.4)? Three declarations answer, each may only narrow: policy, permissions, approval. */
export type PermissionVerdict =
  | { readonly kind: 'allow' }
  | { readonly kind: 'deny'; readonly reason: string }
  | { readonly kind: 'ask'; readonly reason: string };

const ALLOW: PermissionVerdict = { kind: 'allow' };

export function checkPermission(
  call: ToolCallFacts,
  { policy, permissions, approvalPolicy }: Pick<LoopOptions, 'policy' | 'permissions' | 'approvalPolicy'>,
  granted: readonly JsonObject[],
  predicates: 'bound' | 'lost',
): PermissionVerdict {
  if (policy !== undefined && Array.isArray(policy.tools) && policy.tools.length > 0 && !matchesAny(policy.tools, call)) {
    return { kind: 'deny', reason: `tool ${call.name} is outside the policy ceiling` };
  }
  const declared = permissions === undefined ? ALLOW : checkDeclared(call, permissions, predicates);
  const verdict = declared.kind === 'allow' && approvalPolicy !== undefined ? checkApproval(call, approvalPolicy) : declared;
  return verdict.kind === 'ask' && granted.some((grant) => grant.tool === call.name) ? ALLOW : verdict;
}

/**
 * Deny wins; what an allow list does not name may be asked for when somebody can answer. An entry that is a function
 * is null here: the function decides. Where it was lost in a restore, it denies, since nothing may come back wider.
 */
function checkDeclared(call: ToolCallFacts, permissions: JsonObject, predicates: 'bound' | 'lost'): PermissionVerdict {
  if (matchesAny(permissions.deny, call, predicates === 'lost')) return { kind: 'deny', reason: `tool ${call.name} is denied` };
  if (permissions.allow === undefined || permissions.allow === null || matchesAny(permissions.allow, call, predicates === 'bound'))
    return ALLOW;
  return { kind: 'ask', reason: `tool ${call.name} is not in the allow list` };
}

function checkApproval(call: ToolCallFacts, policy: JsonObject): PermissionVerdict {
  if (matchesAny(policy.auto_deny, call)) return { kind: 'deny', reason: `tool ${call.name} is auto_denied by the approval policy` };
  if (matchesAny(policy.require_approval, call)) return { kind: 'ask', reason: `tool ${call.name} requires approval` };
  return ALLOW;
}

/** Entries: a glob over names, or a dict of globs to patterns that some string argument must match. */
function matchesAny(entries: Json | undefined, call: ToolCallFacts, functionMatches = true): boolean {
  if (isJsonObject(entries))
    return Object.entries(entries).some(([glob, patterns]) => matchesArguments(glob, patterns, call, functionMatches));
  if (!Array.isArray(entries)) return false;
  return entries.some((entry) => {
    if (typeof entry === 'string') return matchesGlob(entry, call.name);
    if (!isJsonObject(entry)) return false;
    if (typeof entry.tool === 'string') return matchesArguments(entry.tool, entry.args ?? entry.patterns, call, functionMatches);
    return Object.entries(entry).some(([glob, patterns]) => matchesArguments(glob, patterns, call, functionMatches));
  });
}

function matchesArguments(glob: string, patterns: Json | undefined, call: ToolCallFacts, functionMatches: boolean): boolean {
  if (!matchesGlob(glob, call.name)) return false;
  if (patterns === null) return functionMatches;
  if (patterns === undefined || patterns === true) return true;
  const globs = (Array.isArray(patterns) ? patterns : [patterns]).filter((pattern) => typeof pattern === 'string');
  const strings = Object.values(call.arguments).filter((value) => typeof value === 'string');
  return strings.some((text) => globs.some((pattern) => matchesGlob(pattern, text)));
}

/** What the model reads when it may not. */
export function permissionDenied(tool: string, reason: string): JsonObject {
  return { error: 'permission_denied', tool, reason };
}
