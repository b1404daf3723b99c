import { expect, test } from 'vitest';
import { loopOptionNames } from '../../src/agent/loop-options.ts';
import { parse } from '../../src/language/parser.ts';
import { optionsJson } from '../../src/runtime/agents/agent-values.ts';
import { CARRY_KEYS, CONFIG_KEYS, SUB_AGENT_KEYS } from '../../src/runtime/agents/spawn-options.ts';
import { BUILTIN_TYPES } from '../../src/runtime/builtin-types.ts';
import { dictOf } from '../../src/runtime/dict.ts';
import { Duration } from '../../src/runtime/value.ts';

function namesOf(type: string): readonly string[] {
  const [item] = parse({ path: '', text: BUILTIN_TYPES[type] ?? '' }).program.items;
  if (item?.kind !== 'TypeAlias' || item.type.kind !== 'ShapeType') throw new Error(`${type} is no shape`);
  return item.type.fields.map(({ name }) => name).sort();
}

/** Workers keep lists of their own beside the options. */
const REQUEST_LISTS = ['research_questions', 'action_items', 'workflow_stages', 'verification_steps'];

test.each([
  ['LoopOptions', [...loopOptionNames()]],
  ['SpawnConfig', CONFIG_KEYS],
  ['CarryPolicy', CARRY_KEYS],
  ['SubAgentOptions', [...loopOptionNames(), ...SUB_AGENT_KEYS, ...REQUEST_LISTS]],
])('the checker knows the names that the run time reads: %s', (type, names) => {
  expect(namesOf(type)).toEqual([...new Set(names)].sort());
});

test('a duration counts in the unit of its option', () => {
  const options = dictOf([
    ['timeout', new Duration(90_000)],
    ['tool_call_timeout', new Duration(1500)],
    ['provider', 'mock'],
  ]);
  expect(optionsJson(options)).toEqual({ timeout: 90, tool_call_timeout: 1500, provider: 'mock' });
});
