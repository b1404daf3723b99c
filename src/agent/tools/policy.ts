import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { matchesGlob } from '../glob.ts';
import type { ToolCallFacts } from '../loop-live.ts';
import { insideRoot } from './path-roots.ts';
import type { Tool } from './tool.ts';

/**
 * The capability ceiling of a loop (spec/agents.md 2.4 `policy`). What a policy does not mention it does not limit;
 * a child's policy is intersected with its parent's, so that it can only narrow.
 */
export type ToolPolicyFacts = Pick<Tool, 'annotations' | 'policy'>;

/** Side-effect levels, harmless ones first. */
export const LEVELS = ['none', 'read_only', 'workspace_write', 'process_exec', 'network'] as const;

/** Stands in a list that nothing is left of: an empty list would limit nothing. */
const NOTHING = '(nothing)';

/** @returns why the call is outside of the policy; undefined when it is inside */
export function policyFault(call: ToolCallFacts, tool: ToolPolicyFacts | undefined, policy: JsonObject): string | undefined {
  const tools = textsOf(policy.tools);
  if (tools.length > 0 && !tools.some((glob) => matchesGlob(glob, call.name))) return `tool ${call.name} is outside the policy ceiling`;
  const declared = declaredPolicy(call.name, tool, policy);
  return capabilityFault(call, declared, policy) ?? rootFault(call, declared, policy) ?? constraintFault(call, policy);
}

/** What a tool says about itself, under what the policy says about it in `tool_annotations`. */
function declaredPolicy(name: string, tool: ToolPolicyFacts | undefined, { tool_annotations: annotations }: JsonObject): JsonObject {
  const given = isJsonObject(annotations) ? annotations[name] : undefined;
  return { ...tool?.annotations, ...tool?.policy, ...(isJsonObject(given) ? given : {}) };
}

function capabilityFault(call: ToolCallFacts, declared: JsonObject, policy: JsonObject): string | undefined {
  if (isJsonObject(policy.capabilities)) {
    const granted = policy.capabilities;
    for (const [capability, operations] of Object.entries(objectOf(declared.capabilities))) {
      const missing = textsOf(operations).find((operation) => !textsOf(granted[capability]).includes(operation));
      if (missing !== undefined) return `tool ${call.name} needs ${capability}.${missing}, which is outside the policy ceiling`;
    }
  }
  const level = levelOf(declared.side_effect_level);
  if (level <= levelOf(policy.side_effect_level, LEVELS.length)) return undefined;
  return `tool ${call.name} has side effects of level ${String(declared.side_effect_level)}, above the policy ceiling`;
}

function rootFault(call: ToolCallFacts, declared: JsonObject, policy: JsonObject): string | undefined {
  const roots = textsOf(policy.workspace_roots);
  if (roots.length === 0) return undefined;
  const outside = pathArguments(call, declared).find((path) => !roots.some((root) => insideRoot(root, path)));
  return outside === undefined ? undefined : `tool ${call.name} may not touch ${outside}: it is outside the workspace roots`;
}

/** Strings of the arguments that the tool declares to be paths. */
export function pathArguments(call: ToolCallFacts, declared: JsonObject): string[] {
  const schema = objectOf(declared.arg_schema);
  const names = [...textsOf(declared.path_params), ...textsOf(schema.path_params)];
  return names.flatMap((name) => {
    const value = call.arguments[name];
    return typeof value === 'string' ? [value] : textsOf(value);
  });
}

/** Each constraint names a tool, patterns, and perhaps the one argument that it is about. */
function constraintFault(call: ToolCallFacts, policy: JsonObject): string | undefined {
  for (const constraint of objectsOf(policy.tool_arg_constraints)) {
    if (typeof constraint.tool !== 'string' || !matchesGlob(constraint.tool, call.name)) continue;
    const patterns = [...textsOf(constraint.arg_patterns), ...textsOf(constraint.patterns)];
    const key = constraint.arg_key;
    const values = typeof key === 'string' ? [call.arguments[key]] : Object.values(call.arguments);
    const texts = values.filter((value) => typeof value === 'string');
    if (!texts.some((text) => patterns.some((pattern) => matchesGlob(pattern, text)))) {
      const subject = typeof key === 'string' ? `the argument ${key} of ${call.name}` : `every argument of ${call.name}`;
      return `${subject} does not match allowed patterns: ${patterns.join(', ')}`;
    }
  }
  return undefined;
}

/** The policy of a child under its parent's: never wider than either. */
export function intersectPolicies(parent: JsonObject | undefined, child: JsonObject | undefined): JsonObject | undefined {
  if (parent === undefined || child === undefined) return parent ?? child;
  return {
    ...child,
    ...parent,
    ...both(parent, child, 'tools', (a, b) => commonGlobs(textsOf(a), textsOf(b))),
    ...both(parent, child, 'capabilities', (a, b) => commonCapabilities(objectOf(a), objectOf(b))),
    ...both(parent, child, 'workspace_roots', (a, b) => commonRoots(textsOf(a), textsOf(b))),
    ...both(parent, child, 'side_effect_level', (a, b) => (levelOf(a) <= levelOf(b) ? a : b)),
    ...both(parent, child, 'recursion_limit', (a, b) => Math.min(Number(a), Number(b))),
    ...both(parent, child, 'tool_arg_constraints', (a, b) => [...objectsOf(a), ...objectsOf(b)]),
    ...both(parent, child, 'tool_annotations', (a, b) => ({ ...objectOf(b), ...objectOf(a) })),
  };
}

function both(parent: JsonObject, child: JsonObject, key: string, join: (a: Json, b: Json) => Json): JsonObject {
  const [a, b] = [limiting(parent[key]), limiting(child[key])];
  if (a === undefined && b === undefined) return {};
  return { [key]: a === undefined || b === undefined ? ((a ?? b) as Json) : join(a, b) }; // one of them is there
}

/** An absent, nil or empty list does not limit. */
function limiting(value: Json | undefined): Json | undefined {
  return value === null || (Array.isArray(value) && value.length === 0) ? undefined : value;
}

/** Entries of either side that the other side covers too; two globs that merely overlap are dropped. */
function commonGlobs(a: readonly string[], b: readonly string[]): string[] {
  const covered = (entry: string, by: readonly string[]): boolean => by.some((glob) => glob === entry || matchesGlob(glob, entry));
  const common = [...new Set([...a.filter((entry) => covered(entry, b)), ...b.filter((entry) => covered(entry, a))])];
  return common.length === 0 ? [NOTHING] : common;
}

function commonCapabilities(a: JsonObject, b: JsonObject): JsonObject {
  const names = Object.keys(a).filter((name) => name in b);
  return Object.fromEntries(names.map((name) => [name, textsOf(a[name]).filter((operation) => textsOf(b[name]).includes(operation))]));
}

function commonRoots(a: readonly string[], b: readonly string[]): string[] {
  const within = (roots: readonly string[], others: readonly string[]): string[] =>
    roots.filter((root) => others.some((other) => insideRoot(other, root)));
  const common = [...new Set([...within(a, b), ...within(b, a)])];
  return common.length === 0 ? [NOTHING] : common;
}

/** @param fallback for a level that is not given; by default one below all others */
/** Position of a side-effect level, harmless ones first. */
export function levelOf(level: Json | undefined, fallback = -1): number {
  const index = typeof level === 'string' ? (LEVELS as readonly string[]).indexOf(level) : -1;
  if (index >= 0) return index;
  // A word that nobody knows must not be read as harmless.
  return typeof level === 'string' ? LEVELS.length - 1 : fallback;
}

function textsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
