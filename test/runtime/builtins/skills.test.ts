import { expect, test } from 'vitest';
import { linesOf, type ScriptRow } from '../run-text.ts';

const REVIEW = 'let reg = skill_define(skill_registry(), "review", {description: "Reads code", hook: { -> 1 }})\n';

const ROWS: readonly ScriptRow[] = [
  [
    'a declaration is a registry of one',
    'skill ship { description "Ships" }\nprintln(skill_count(ship))\nprintln(skill_find(ship, "ship"))',
    ['1', '{description: Ships, name: ship}'],
  ],
  ['a description is never nil', 'skill bare { }\nprintln(skill_find(bare, "bare"))', ['{description: , name: bare}']],
  [
    'defining leaves the given registry alone',
    `${REVIEW}let more = skill_define(reg, "b", {})\nprintln("\${skill_count(reg)} \${skill_count(more)}")`,
    ['1 2'],
  ],
  [
    'defining again replaces',
    `${REVIEW}println(skill_list(skill_define(reg, "review", {description: "New"})))`,
    ['[{description: New, name: review}]'],
  ],
  ['a list holds no functions', `${REVIEW}println(skill_list(reg))`, ['[{description: Reads code, name: review}]']],
  [
    'select and remove filter by name',
    `${REVIEW}println(skill_count(skill_select(reg, ["x"])))\nprintln(skill_count(skill_remove(reg, "review")))`,
    ['0', '0'],
  ],
  [
    'describe tells the occasion',
    'println(skill_describe(skill_define(skill_registry(), "a", {description: "A", when_to_use: "often"})))',
    ['Available skills:', '- a: A (when: often)'],
  ],
  ['render fills in arguments and keeps missing ones', 'println(skill_render("$1, $2: $ARGUMENTS", ["x"]))', ['x, $2: x']],
  ['render takes the prompt of a skill', 'println(skill_render({prompt: "in ${"$"}{HARN_SKILL_DIR}", skill_dir: "/s"}))', ['in /s']],
  [
    'a name is needed',
    'println(try { skill_define(skill_registry(), " ", {}) } catch (e) { e })',
    ['skill_define: name must be a non-empty string'],
  ],
  [
    'what is shown as text is text',
    'println(try { skill_define(skill_registry(), "a", {invocation: ["b"]}) } catch (e) { e })',
    ["skill_define: 'invocation' must be a string"],
  ],
  ['a registry is needed', 'println(try { skill_find({}, "a") } catch (e) { e })', ['skill_find: first argument must be a skill registry']],
];

test.each(ROWS)('%s', async (_rule, script, lines) => {
  expect(await linesOf(script)).toEqual(lines);
});
