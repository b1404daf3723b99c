import { expect, test } from 'vitest';
import { checkToolSurface, type ToolSurface } from '../../src/agent/tools/tool-surface.ts';
import type { JsonObject } from '../../src/base/json.ts';

const READ = { name: 'read', parameters: { path: 'string' }, annotations: { kind: 'read', readOnlyHint: true }, executor: 'harn' };
const RUN = {
  name: 'run',
  parameters: { command: 'string' },
  annotations: { kind: 'execute', side_effect_level: 'process_exec', emits_artifacts: true, result_readers: ['read'] },
  executor: 'harn',
};

function codes(change: Partial<ToolSurface>): string[] {
  const surface = { tools: [READ, RUN], policy: {}, approvalPolicy: {}, prompt: '', hasToolSearch: false, ...change };
  return checkToolSurface(surface).map(({ code, severity }) => `${severity} ${code.replace('TOOL_SURFACE_', '')}`);
}

const ROWS: readonly (readonly [what: string, change: Partial<ToolSurface>, expected: readonly string[]])[] = [
  ['all fits', {}, []],
  ['no schema', { tools: [without(READ, 'parameters')] }, ['warning MISSING_SCHEMA']],
  ['no annotations', { tools: [without(READ, 'annotations')] }, ['warning MISSING_ANNOTATIONS']],
  ['unknown side effects', { tools: [{ ...READ, annotations: {} }] }, ['warning MISSING_SIDE_EFFECT_LEVEL']],
  ['nothing runs it', { tools: [without(READ, 'executor')] }, ['warning MISSING_EXECUTOR']],
  ['no reader', { tools: [RUN] }, ['warning UNKNOWN_RESULT_READER', 'error MISSING_RESULT_READER']],
  ['complete results', { tools: [{ ...RUN, annotations: { ...RUN.annotations, inline_result: true } }] }, []],
  ['above the ceiling', { policy: { side_effect_level: 'read_only' } }, ['error SIDE_EFFECT_CEILING_EXCEEDED']],
  ['constraint on no tool', { policy: { tool_arg_constraints: [{ tool: 'gone' }] } }, ['warning UNKNOWN_ARG_CONSTRAINT_TOOL']],
  [
    'constraint on no argument',
    { policy: { tool_arg_constraints: [{ tool: 'run', arg_key: 'x' }] } },
    ['warning UNKNOWN_ARG_CONSTRAINT_KEY'],
  ],
  ['constraint that fits', { policy: { tool_arg_constraints: [{ tool: 'run', arg_key: 'command' }] } }, []],
  ['approval of no tool', { approvalPolicy: { auto_deny: ['gone', 'any_*'] } }, ['warning APPROVAL_PATTERN_NO_MATCH']],
  ['prompt with an unknown tool', { prompt: 'Use gone({x: 1}).' }, ['warning UNKNOWN_PROMPT_TOOL']],
  ['prompt with a known tool', { prompt: 'Use run({command: "ls"}).' }, []],
  ['prompt outside the policy', { policy: { tools: ['read'] }, prompt: 'run({command: "ls"})' }, ['warning PROMPT_TOOL_NOT_IN_POLICY']],
  ['fenced text', { prompt: '```\ngone({})\n```' }, []],
  ['a line that is left out', { prompt: '<!-- harn-tool-surface: ignore-next-line -->\ngone({})\n' }, []],
  [
    'lines that are left out',
    { prompt: '<!-- harn-tool-surface: ignore-start -->\ngone({})\n<!-- harn-tool-surface: ignore-end -->\nother({})' },
    ['warning UNKNOWN_PROMPT_TOOL'],
  ],
  ['a deferred tool', { tools: [{ ...READ, defer_loading: true }], prompt: 'read({})' }, ['warning DEFERRED_TOOL_PROMPT_REFERENCE']],
  ['a deferred tool with a search', { tools: [{ ...READ, defer_loading: true }], prompt: 'read({})', hasToolSearch: true }, []],
  [
    'an old name of an argument',
    {
      tools: [{ ...READ, annotations: { ...READ.annotations, arg_schema: { arg_aliases: { file: 'path' } } } }],
      prompt: 'read({file: "a"})',
    },
    ['warning DEPRECATED_ARG_ALIAS'],
  ],
];

function without(tool: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(tool).filter(([name]) => name !== key));
}

test.each(ROWS)('%s', (_what, change, expected) => {
  expect(codes(change)).toEqual(expected);
});
