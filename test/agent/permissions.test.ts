import { describe, expect, test } from 'vitest';
import { checkPermission } from '../../src/agent/permissions.ts';
import type { JsonObject } from '../../src/base/json.ts';

const CALL = { id: 'c', name: 'write_file', arguments: { path: '/project/a.txt' } };

interface Row {
  readonly rule: string;
  readonly policy?: JsonObject;
  readonly permissions?: JsonObject;
  readonly approvalPolicy?: JsonObject;
  readonly granted?: readonly JsonObject[];
  readonly predicates?: 'bound' | 'lost';
  readonly expected: 'allow' | 'deny' | 'ask';
}

const ROWS: Row[] = [
  { rule: 'nothing declared', expected: 'allow' },
  { rule: 'deny by glob', permissions: { deny: ['write*'] }, expected: 'deny' },
  { rule: 'deny wins over allow', permissions: { allow: ['*'], deny: ['write_file'] }, expected: 'deny' },
  { rule: 'not in the allow list', permissions: { allow: ['read*'] }, expected: 'ask' },
  { rule: 'granted for the session', permissions: { allow: ['read*'] }, granted: [{ tool: 'write_file' }], expected: 'allow' },
  { rule: 'an argument pattern that matches', permissions: { allow: { write_file: ['/project/*'] } }, expected: 'allow' },
  { rule: 'an argument pattern that does not', permissions: { allow: { write_file: '/tmp/*' } }, expected: 'ask' },
  { rule: 'a deny function decides itself', permissions: { deny: { write_file: null } }, predicates: 'bound', expected: 'allow' },
  { rule: 'a deny function lost in a restore denies', permissions: { deny: { write_file: null } }, predicates: 'lost', expected: 'deny' },
  {
    rule: 'an allow function lost in a restore allows nothing',
    permissions: { allow: { write_file: null } },
    predicates: 'lost',
    expected: 'ask',
  },
  { rule: 'outside the policy ceiling', policy: { tools: ['read*'] }, permissions: { allow: ['*'] }, expected: 'deny' },
  { rule: 'an empty ceiling is none', policy: { tools: [] }, expected: 'allow' },
  { rule: 'auto_deny', approvalPolicy: { auto_deny: ['write*'] }, expected: 'deny' },
  { rule: 'require_approval', approvalPolicy: { require_approval: ['write*'] }, expected: 'ask' },
];

describe('permissions (2.4)', () => {
  test.each(ROWS)('$rule', ({ policy, permissions, approvalPolicy, granted = [], predicates = 'bound', expected }) => {
    expect(checkPermission(CALL, { policy, permissions, approvalPolicy }, granted, predicates).kind).toBe(expected);
  });
});
