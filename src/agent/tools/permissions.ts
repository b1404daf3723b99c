import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { matchesGlob } from '../glob.ts';
import type { ToolCallFacts } from '../loop-live.ts';
import type { LoopOptions } from '../loop-options.ts';
import { pathArguments, policyFault, type ToolPolicyFacts } from './policy.ts';
import { isWriting } from './tool.ts';

/**
 * May this call run (spec/agents.md 2.4)? Declarations answer, each may only narrow. What the policy or a parent's
 * limits refuse is forbidden: nobody the loop can ask may allow it. Else permissions and approval decide.
 */
export type PermissionVerdict = { readonly kind: 'allow' } | { readonly kind: 'forbid' | 'deny' | 'ask'; readonly reason: string };

const ALLOW: PermissionVerdict = { kind: 'allow' };

/** What a loop inherits from those above it, the nearest last. */
export interface InheritedLimits {
  readonly permissions: JsonObject | undefined;
  readonly approvalPolicy: JsonObject | undefined;
}

export function checkPermission(
  call: ToolCallFacts,
  tool: ToolPolicyFacts | undefined,
  { policy, permissions, approvalPolicy, inherited }: Pick<LoopOptions, 'policy' | 'permissions' | 'approvalPolicy' | 'inherited'>,
  given: { readonly granted: readonly JsonObject[]; readonly isApproved?: boolean | undefined },
): PermissionVerdict {
  const fault = policy === undefined ? undefined : policyFault(call, tool, policy);
  if (fault !== undefined) return { kind: 'forbid', reason: fault };
  for (const limits of inherited) {
    const above = checkBoth(call, tool, limits, given.isApproved);
    if (above.kind !== 'allow') return { kind: 'forbid', reason: `${above.reason} for the parent` };
  }
  const verdict = checkBoth(call, tool, { permissions, approvalPolicy }, given.isApproved);
  return verdict.kind === 'ask' && given.granted.some((grant) => grant.tool === call.name) ? ALLOW : verdict;
}

function checkBoth(
  call: ToolCallFacts,
  tool: ToolPolicyFacts | undefined,
  { permissions, approvalPolicy }: InheritedLimits,
  isApproved: boolean | undefined,
): PermissionVerdict {
  const declared = permissions === undefined ? ALLOW : checkDeclared(call, permissions);
  if (declared.kind !== 'allow' || approvalPolicy === undefined) return declared;
  const verdict = checkApproval(call, tool, approvalPolicy);
  return verdict.kind === 'ask' && isApproved === true ? ALLOW : verdict;
}

/**
 * Deny wins; what an allow list does not name may be asked for when somebody can answer. An entry that is a function
 * is null here: the function decides, and where it was lost in a restore whatever stands for it refuses.
 */
function checkDeclared(call: ToolCallFacts, permissions: JsonObject): PermissionVerdict {
  if (matchesAny(permissions.deny, call, false)) return { kind: 'deny', reason: `tool ${call.name} is denied` };
  if (permissions.allow === undefined || permissions.allow === null || matchesAny(permissions.allow, call, true)) return ALLOW;
  return { kind: 'ask', reason: `tool ${call.name} is not in the allow list` };
}

function checkApproval(call: ToolCallFacts, tool: ToolPolicyFacts | undefined, policy: JsonObject): PermissionVerdict {
  if (matchesAny(policy.auto_deny, call)) return { kind: 'deny', reason: `tool ${call.name} is auto_denied by the approval policy` };
  const refused = refusedWrite(call, tool, policy);
  if (refused !== undefined) return { kind: 'deny', reason: `tool ${call.name} may not write ${refused}` };
  if (matchesAny(policy.auto_approve, call)) return ALLOW;
  if (matchesAny(policy.require_approval, call)) return { kind: 'ask', reason: `tool ${call.name} requires approval` };
  return ALLOW;
}

/** A path that a writing tool was given and `write_path_allowlist` does not cover. */
function refusedWrite(call: ToolCallFacts, tool: ToolPolicyFacts | undefined, policy: JsonObject): string | undefined {
  const { write_path_allowlist: allowed } = policy;
  if (!Array.isArray(allowed) || tool === undefined) return undefined;
  const declared = { ...tool.annotations, ...tool.policy };
  if (!isWriting(tool)) return undefined;
  const globs = allowed.filter((glob) => typeof glob === 'string');
  return pathArguments(call, declared).find((path) => !globs.some((glob) => matchesGlob(glob, path)));
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
