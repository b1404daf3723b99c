import { field } from '../agents/agent-values.ts';
import { defineSkill, skillEntries, skillRegistry } from '../agents/skill-registry.ts';
import { textArgument } from '../arguments.ts';
import type { BuiltinGroup } from '../builtin.ts';
import { dictEntries, dictOf } from '../dict.ts';
import { display } from '../display.ts';
import { plainError } from '../errors.ts';
import { Dict, isCallable, type Value } from '../value.ts';

/** Registries of skills: named instructions with the tools and files they apply to. */
export const SKILLS: BuiltinGroup = {
  name: 'skills',
  title: 'Skills',
  errors: [
    { text: 'skill_define: name must be a non-empty string', when: 'also `config must be a dict`' },
    { text: "skill_define: 'K' must be a string", when: '`description`, `when_to_use`, `prompt`, `invocation`, `model`, `effort`' },
    { text: 'NAME: first argument must be a skill registry', when: 'a registry that is something else' },
    { text: 'skill_select: names must be a list', when: '`skill_select`' },
  ],
  builtins: {
    skill_registry: { signature: '() -> dict', doc: 'An empty registry of skills.', call: () => skillRegistry([]) },
    skill_define: {
      signature: '(registry: any, name: any, config: any = nil) -> dict',
      doc: 'A registry with that skill; one of the same name is replaced. The given registry stays as it is.',
      call: (_c, _d, registry, name, config) => defineSkill(registry, name, config),
    },
    skill_find: {
      signature: '(registry: any, name: any) -> any',
      doc: 'The skill of that name, or nil.',
      call: (_c, _d, registry, name) => skillEntries(registry, 'skill_find').find((skill) => field(skill, 'name') === name),
    },
    skill_count: {
      signature: '(registry: any) -> int',
      doc: 'How many skills there are.',
      call: (_c, _d, registry) => skillEntries(registry, 'skill_count').length,
    },
    skill_list: {
      signature: '(registry: any) -> list',
      doc: 'All skills without their functions, ready to be shown or saved.',
      call: (_c, _d, registry) => skillEntries(registry, 'skill_list').map(withoutFunctions),
    },
    skill_select: {
      signature: '(registry: any, names: any) -> dict',
      doc: 'A registry of only these skills.',
      call: (_c, _d, registry, names) => {
        if (!Array.isArray(names)) throw plainError('skill_select: names must be a list');
        return skillRegistry(skillEntries(registry, 'skill_select').filter((skill) => names.includes(field(skill, 'name'))));
      },
    },
    skill_remove: {
      signature: '(registry: any, name: any) -> dict',
      doc: 'A registry without that skill.',
      call: (_c, _d, registry, name) =>
        skillRegistry(skillEntries(registry, 'skill_remove').filter((skill) => field(skill, 'name') !== name)),
    },
    skill_describe: {
      signature: '(registry: any) -> string',
      doc: 'Names, descriptions and occasions of all skills as text for a model.',
      call: (_c, _d, registry) => describe(skillEntries(registry, 'skill_describe')),
    },
    skill_render: {
      signature: '(entry: any, args: any = nil) -> string',
      doc: 'The text of a skill, or any text, with `$1`, `$ARGUMENTS` and `${HARN_SKILL_DIR}` filled in; arguments that are missing stay.',
      call: (_c, _d, skill, args) => render(skill, Array.isArray(args) ? args.map(display) : []),
    },
  },
};

function withoutFunctions(skill: Value): Value {
  return skill instanceof Dict ? dictOf(dictEntries(skill).filter(([, value]) => !isCallable(value))) : skill;
}

function describe(skills: readonly Value[]): string {
  const lines = skills
    .map((skill) => {
      const occasion = field(skill, 'when_to_use');
      const name = `- ${display(field(skill, 'name'))}: ${display(field(skill, 'description'))}`;
      return occasion === undefined ? name : `${name} (when: ${display(occasion)})`;
    })
    .sort();
  return ['Available skills:', ...lines].join('\n');
}

function render(skill: Value, args: readonly string[]): string {
  const body = textArgument(skill instanceof Dict ? (field(skill, 'body') ?? field(skill, 'prompt')) : skill);
  const directory = field(skill, 'skill_dir');
  return body.replaceAll(/\$(?:(\d+)|(ARGUMENTS)\b|\{HARN_SKILL_DIR\})/g, (written, position?: string, all?: string) => {
    if (position !== undefined) return args[Number(position) - 1] ?? written;
    if (all !== undefined) return args.join(' ');
    return directory === undefined ? written : display(directory);
  });
}
