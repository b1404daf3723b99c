import { HarnError } from '../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { matchesGlob } from './glob.ts';
import type { Tool } from './tools/tool.ts';

/**
 * Skills of a loop (`skills`, `skill_match`, `working_files`): which of them fit what the user wants, what they add to
 * the system prompt, and which tools they leave. Pure; turn-skills.ts decides when.
 */
export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly whenToUse: string;
  /** Globs; a working file that fits is reason enough. */
  readonly paths: readonly string[];
  /** Names, globs, or `namespace:TAG`; empty leaves all tools. */
  readonly allowedTools: readonly string[];
  readonly prompt: string;
  /** Only people may call it; the loop does not choose it. */
  readonly isHidden: boolean;
}

export interface SkillMatching {
  /** What the author asked for. */
  readonly strategy: string;
  readonly topN: number;
  /** Skills stay active once they are; otherwise they are chosen anew before each turn. */
  readonly isSticky: boolean;
  readonly workingFiles: readonly string[];
}

export type SkillMatch = { readonly name: string; readonly score: number; readonly reason: string };

/** A registry, a list of entries or registries. @throws HarnError `plain` for anything else */
export function decodeSkills(value: Json | undefined): Skill[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => decodeSkills(item));
  if (!isJsonObject(value)) throw new HarnError('plain', 'agent_loop: skills must be a skill registry or a list of skills');
  if (value._type === 'skill_registry') return decodeSkills(value.skills);
  return [decodeSkill(value)];
}

function decodeSkill(entry: JsonObject): Skill {
  return {
    name: textOf(entry.name),
    description: textOf(entry.description),
    whenToUse: textOf(entry.when_to_use),
    paths: textsOf(entry.paths),
    allowedTools: textsOf(entry.allowed_tools),
    prompt: textOf(entry.prompt),
    isHidden: entry['disable-model-invocation'] === true || entry.disable_model_invocation === true,
  };
}

/** @throws HarnError `plain` */
export function decodeSkillMatching(match: Json | undefined, files: Json | undefined): SkillMatching {
  const { strategy = 'metadata', top_n: topN, sticky } = isJsonObject(match) ? match : ({} as JsonObject);
  if (strategy !== 'metadata' && strategy !== 'host' && strategy !== 'embedding') {
    throw new HarnError('plain', 'agent_loop: skill_match.strategy must be metadata, host or embedding');
  }
  return {
    strategy,
    topN: typeof topN === 'number' ? topN : 1,
    isSticky: sticky !== false,
    workingFiles: typeof files === 'string' ? [files] : textsOf(files),
  };
}

const NAME_WEIGHT = 5;
const PATH_WEIGHT = 4;
const DESCRIPTION_WEIGHT = 2;

/** Skills that have anything to do with a text or with the files at hand, the best first. */
export function matchSkills(skills: readonly Skill[], text: string, workingFiles: readonly string[]): SkillMatch[] {
  const asked = wordsOf(text);
  return skills
    .filter((skill) => !skill.isHidden)
    .map((skill) => scoreSkill(skill, text.toLowerCase(), asked, workingFiles))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
}

function scoreSkill(skill: Skill, text: string, asked: ReadonlySet<string>, files: readonly string[]): SkillMatch {
  const reasons: string[] = [];
  let score = 0;
  const add = (points: number, reason: string): void => {
    if (points === 0) return;
    score += points;
    reasons.push(reason);
  };
  const isNamed = skill.name !== '' && new RegExp(`(^|[^a-z0-9_])${escaped(skill.name.toLowerCase())}($|[^a-z0-9_])`).test(text);
  add(isNamed ? NAME_WEIGHT : 0, 'named');
  add(PATH_WEIGHT * files.filter((file) => skill.paths.some((glob) => fitsPath(glob, file))).length, 'paths');
  add(DESCRIPTION_WEIGHT * overlap(asked, skill.description), 'description');
  add(overlap(asked, skill.whenToUse), 'when_to_use');
  return { name: skill.name, score, reason: reasons.join(', ') };
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Under `**` folders may be many or none. */
function fitsPath(glob: string, file: string): boolean {
  return matchesGlob(glob, file) || matchesGlob(glob.replaceAll('**/', ''), file);
}

function overlap(asked: ReadonlySet<string>, text: string): number {
  return [...wordsOf(text)].filter((word) => asked.has(word)).length;
}

/** Words that say nothing of what somebody wants. */
const EMPTY_WORDS = new Set(
  'the and for with from that this user asks ask says say wants want use uses when please into any are can you your'.split(' '),
);

function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[a-z0-9]{3,}/g) ?? [];
  return new Set(words.filter((word) => !EMPTY_WORDS.has(word)).map(stem));
}

/** The forms of a word as one: releases, released, releasing. */
function stem(word: string): string {
  const cut = word.replace(/(ing|ed|es|s)$/, '');
  return cut.length >= 3 ? cut.replace(/e$/, '') : word;
}

/** What active skills add to the system prompt; undefined when there is none. */
export function activeSkillsBlock(active: readonly Skill[]): string | undefined {
  if (active.length === 0) return undefined;
  const parts = active.map(({ name, description, prompt, allowedTools }) =>
    [
      `### ${name}`,
      ...(description === '' ? [] : [description]),
      ...(prompt === '' ? [] : [prompt]),
      ...(allowedTools.length === 0 ? [] : [`Scoped tools: ${allowedTools.join(', ')}`]),
    ].join('\n'),
  );
  return `## Active skills\n\n${parts.join('\n\n')}`;
}

/** Tools of the runtime itself, which no skill takes away. */
const OWN_TOOLS: ReadonlySet<string> = new Set(['subagent_pause', 'subagent_resume', 'load_skill']);

/** The tools that active skills leave: all, unless one of them names its own. */
export function skillTools(tools: readonly Tool[], active: readonly Skill[]): readonly Tool[] {
  const allowed = active.flatMap((skill) => skill.allowedTools);
  if (allowed.length === 0) return tools;
  return tools.filter(
    (tool) => OWN_TOOLS.has(tool.name) || tool.name.startsWith('__harn_') || allowed.some((entry) => admits(entry, tool)),
  );
}

function admits(entry: string, { name, namespace }: Tool): boolean {
  const tag = /^namespace:(.+)$/.exec(entry)?.[1];
  return tag === undefined ? matchesGlob(entry, name) : namespace === tag;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function textsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
