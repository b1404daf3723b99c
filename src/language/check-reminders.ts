import type { DictLiteral, Element, Expression } from './ast.ts';
import type { CheckState } from './check-state.ts';

/**
 * Reminders written out as dicts (spec/agents.md 3.10), in a call of `transcript.inject_reminder` and in what a hook
 * returns: one that compaction may drop and that has no `ttl_turns` is said again in every turn until then.
 */
export function lintInjectedReminder(state: CheckState, receiver: Expression, method: string, args: readonly Element[]): void {
  if (method !== 'inject_reminder' || receiver.kind !== 'Identifier' || receiver.name !== 'transcript') return;
  if (state.scope.value('transcript') !== undefined) return;
  const [, spec] = args;
  if (spec?.kind === 'Dict') lintReminder(state, spec);
}

export function lintReturnedReminder(state: CheckState, node: DictLiteral): void {
  const reminder = entryOf(node, 'reminder');
  if (reminder?.kind === 'Dict') lintReminder(state, reminder);
}

function lintReminder(state: CheckState, spec: DictLiteral): void {
  if (!state.environment.lints || spec.entries.some((entry) => entry.kind === 'Spread' || typeof entry.key !== 'string')) return;
  const kept = entryOf(spec, 'preserve_on_compact');
  const isDroppable = kept === undefined || kept.kind === 'Nil' || (kept.kind === 'Bool' && !kept.value);
  if (entryOf(spec, 'body') === undefined || entryOf(spec, 'ttl_turns') !== undefined || !isDroppable) return;
  state.warn('a reminder that compaction may drop has no ttl_turns', spec.span, {
    code: 'HARN-RMD-004',
    help: 'set `ttl_turns`, or `preserve_on_compact: true` when it must stay',
  });
}

function entryOf(node: DictLiteral, key: string): Expression | undefined {
  const entry = node.entries.find((candidate) => candidate.kind === 'Entry' && candidate.key === key);
  return entry?.value;
}
