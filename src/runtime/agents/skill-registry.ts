import { dictGet, dictOf, dictSet, mergeDicts } from '../dict.ts';
import { plainError } from '../errors.ts';
import { Dict, type Value } from '../value.ts';
import { field } from './agent-values.ts';

/** Skill registries as values: plain dicts, like tool registries. A `skill` declaration is a registry of one. */

export function skillRegistry(skills: readonly Value[]): Dict {
  return dictOf([
    ['_type', 'skill_registry'],
    ['skills', skills],
  ]);
}

/** @throws plain error, prefixed with the name of the builtin */
export function skillEntries(registry: Value, operation: string): readonly Value[] {
  const entries = field(registry, 'skills');
  if (field(registry, '_type') !== 'skill_registry' || !Array.isArray(entries)) {
    throw plainError(`${operation}: first argument must be a skill registry`);
  }
  return entries;
}

/** What of a skill is shown to people and models as it stands. */
const TEXT_KEYS = ['description', 'when_to_use', 'prompt', 'invocation', 'model', 'effort'] as const;

/** A registry with this skill; one of the same name is replaced where it stands. */
export function defineSkill(registry: Value, name: Value, config: Value): Dict {
  const entries = skillEntries(registry, 'skill_define');
  if (typeof name !== 'string' || name.trim() === '') throw plainError('skill_define: name must be a non-empty string');
  if (config !== undefined && !(config instanceof Dict)) throw plainError('skill_define: config must be a dict');
  for (const key of TEXT_KEYS) {
    const value = dictGet(config ?? new Dict(), key);
    if (value !== undefined && typeof value !== 'string') throw plainError(`skill_define: '${key}' must be a string`);
  }
  assertToolNames(dictGet(config ?? new Dict(), 'allowed_tools'));
  const entry = skillEntry(name, config ?? new Dict());
  const at = entries.findIndex((other) => field(other, 'name') === name);
  return skillRegistry(at < 0 ? [...entries, entry] : entries.with(at, entry));
}

/** A colon can only begin the tag of a namespace. */
function assertToolNames(allowed: Value): void {
  if (!Array.isArray(allowed)) return;
  const bad = allowed.find((name: Value) => typeof name === 'string' && name.includes(':') && !/^namespace:./.test(name));
  if (bad !== undefined) throw plainError(`skill_define: allowed_tools entry '${String(bad)}' must be a tool name or namespace:TAG`);
}

/** What is known of one skill; the description is always a string. */
export function skillEntry(name: string, config: Dict): Dict {
  return dictSet(mergeDicts(dictOf([['description', '']]), config), 'name', name);
}
