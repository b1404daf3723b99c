import { describe, expect, test } from 'vitest';
import { checkPermission, type InheritedLimits } from '../../src/agent/tools/permissions.ts';
import { intersectPolicies, type ToolPolicyFacts } from '../../src/agent/tools/policy.ts';
import type { JsonObject } from '../../src/base/json.ts';

const CALL = { id: 'c', name: 'write_file', arguments: { path: '/project/a.txt' } };

interface Row {
  readonly rule: string;
  readonly tool?: ToolPolicyFacts;
  readonly policy?: JsonObject;
  readonly permissions?: JsonObject;
  readonly approvalPolicy?: JsonObject;
  readonly inherited?: readonly InheritedLimits[];
  readonly granted?: readonly JsonObject[];
  readonly expected: 'allow' | 'deny' | 'ask' | 'forbid';
}

const WRITER: ToolPolicyFacts = {
  annotations: { kind: 'edit' },
  policy: { capabilities: { workspace: ['write_text'] }, side_effect_level: 'workspace_write', path_params: ['path'] },
};

const above = (permissions?: JsonObject, approvalPolicy?: JsonObject): InheritedLimits[] => [{ permissions, approvalPolicy }];

const ROWS: Row[] = [
  { rule: 'nothing declared', expected: 'allow' },
  { rule: 'deny by glob', permissions: { deny: ['write*'] }, expected: 'deny' },
  { rule: 'deny wins over allow', permissions: { allow: ['*'], deny: ['write_file'] }, expected: 'deny' },
  { rule: 'not in the allow list', permissions: { allow: ['read*'] }, expected: 'ask' },
  { rule: 'granted for the session', permissions: { allow: ['read*'] }, granted: [{ tool: 'write_file' }], expected: 'allow' },
  { rule: 'an argument pattern that matches', permissions: { allow: { write_file: ['/project/*'] } }, expected: 'allow' },
  { rule: 'an argument pattern that does not', permissions: { allow: { write_file: '/tmp/*' } }, expected: 'ask' },
  { rule: 'a deny function decides itself', permissions: { deny: { write_file: null } }, expected: 'allow' },
  { rule: 'an allow function decides itself', permissions: { allow: { write_file: null } }, expected: 'allow' },
  { rule: 'outside the policy ceiling', policy: { tools: ['read*'] }, permissions: { allow: ['*'] }, expected: 'forbid' },
  { rule: 'no grant reaches above the ceiling', policy: { tools: ['read*'] }, granted: [{ tool: 'write_file' }], expected: 'forbid' },
  { rule: 'an empty ceiling is none', policy: { tools: [] }, expected: 'allow' },
  { rule: 'a capability within the ceiling', tool: WRITER, policy: { capabilities: { workspace: ['write_text'] } }, expected: 'allow' },
  { rule: 'a capability above the ceiling', tool: WRITER, policy: { capabilities: { workspace: ['read_text'] } }, expected: 'forbid' },
  { rule: 'side effects above the ceiling', tool: WRITER, policy: { side_effect_level: 'read_only' }, expected: 'forbid' },
  { rule: 'side effects within the ceiling', tool: WRITER, policy: { side_effect_level: 'process_exec' }, expected: 'allow' },
  {
    rule: 'what the policy says of a tool wins over what the tool says',
    tool: WRITER,
    policy: { side_effect_level: 'read_only', tool_annotations: { write_file: { side_effect_level: 'none' } } },
    expected: 'allow',
  },
  { rule: 'a path inside the workspace', tool: WRITER, policy: { workspace_roots: ['/project'] }, expected: 'allow' },
  { rule: 'a path outside the workspace', tool: WRITER, policy: { workspace_roots: ['/project2', '/tmp'] }, expected: 'forbid' },
  {
    rule: 'arguments within a constraint',
    policy: { tool_arg_constraints: [{ tool: 'write*', arg_patterns: ['/project/*'] }] },
    expected: 'allow',
  },
  {
    rule: 'arguments outside a constraint',
    policy: { tool_arg_constraints: [{ tool: 'write*', arg_key: 'path', arg_patterns: ['/x/*'] }] },
    expected: 'forbid',
  },
  { rule: 'a constraint on another tool', policy: { tool_arg_constraints: [{ tool: 'run', arg_patterns: ['/x/*'] }] }, expected: 'allow' },
  { rule: 'auto_deny', approvalPolicy: { auto_deny: ['write*'] }, expected: 'deny' },
  { rule: 'require_approval', approvalPolicy: { require_approval: ['write*'] }, expected: 'ask' },
  {
    rule: 'auto_approve answers for require_approval',
    approvalPolicy: { auto_approve: ['write_file'], require_approval: ['write*'] },
    expected: 'allow',
  },
  { rule: 'auto_deny wins over auto_approve', approvalPolicy: { auto_approve: ['*'], auto_deny: ['write*'] }, expected: 'deny' },
  { rule: 'a write that the allow list covers', tool: WRITER, approvalPolicy: { write_path_allowlist: ['/project/*'] }, expected: 'allow' },
  { rule: 'a write that it does not cover', tool: WRITER, approvalPolicy: { write_path_allowlist: ['/docs/*'] }, expected: 'deny' },
  { rule: 'a parent denies for good', inherited: above({ deny: ['write*'] }), permissions: { allow: ['*'] }, expected: 'forbid' },
  { rule: 'a parent allows something else', inherited: above({ allow: ['read*'] }), expected: 'forbid' },
  {
    rule: 'a parent wants approval',
    inherited: above(undefined, { require_approval: ['write*'] }),
    granted: [{ tool: 'write_file' }],
    expected: 'forbid',
  },
  { rule: 'a parent allows it too', inherited: above({ allow: ['write*'] }), expected: 'allow' },
];

describe('permissions (2.4)', () => {
  test.each(ROWS)('$rule', ({ tool, policy, permissions, approvalPolicy, inherited = [], granted = [], expected }) => {
    expect(checkPermission(CALL, tool, { policy, permissions, approvalPolicy, inherited }, { granted }).kind).toBe(expected);
  });
});

/** Parent, child, and what a child may do. */
const INTERSECTIONS: readonly (readonly [
  rule: string,
  parent: JsonObject | undefined,
  child: JsonObject | undefined,
  both: JsonObject | undefined,
])[] = [
  ['one alone stays', { tools: ['a'] }, undefined, { tools: ['a'] }],
  ['names in common', { tools: ['a', 'b'] }, { tools: ['b', 'c'] }, { tools: ['b'] }],
  ['a name under a glob', { tools: ['read*'] }, { tools: ['read_file', 'run'] }, { tools: ['read_file'] }],
  ['nothing in common is nothing, not everything', { tools: ['a'] }, { tools: ['b'] }, { tools: ['(nothing)'] }],
  ['a list that is empty does not limit', { tools: [] }, { tools: ['b'] }, { tools: ['b'] }],
  ['the lower level', { side_effect_level: 'read_only' }, { side_effect_level: 'network' }, { side_effect_level: 'read_only' }],
  ['an unknown level counts as the highest', { side_effect_level: 'odd' }, { side_effect_level: 'none' }, { side_effect_level: 'none' }],
  [
    'operations in common',
    { capabilities: { fs: ['read', 'write'], net: ['get'] } },
    { capabilities: { fs: ['read'], process: ['exec'] } },
    { capabilities: { fs: ['read'] } },
  ],
  ['the inner root', { workspace_roots: ['/p'] }, { workspace_roots: ['/p/a', '/q'] }, { workspace_roots: ['/p/a'] }],
  ['the smaller recursion', { recursion_limit: 1 }, { recursion_limit: 4 }, { recursion_limit: 1 }],
  [
    'all constraints',
    { tool_arg_constraints: [{ tool: 'a' }] },
    { tool_arg_constraints: [{ tool: 'b' }] },
    { tool_arg_constraints: [{ tool: 'a' }, { tool: 'b' }] },
  ],
];

describe('policies only narrow (2.4)', () => {
  test.each(INTERSECTIONS)('%s', (_rule, parent, child, both) => {
    expect(intersectPolicies(parent, child)).toEqual(both);
  });
});
