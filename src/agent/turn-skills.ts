import { isJsonObject, type JsonObject } from '../base/json.ts';
import { emitEvent, type Loop, recordStep } from './loop-context.ts';
import { matchSkills, type Skill, type SkillMatch } from './skills.ts';
import { messageText } from './transcript/message.ts';
import { type NewEvent, plainEvent, type Transcript } from './transcript/transcript.ts';

/**
 * When skills of a loop become active, and when they stop to be: before the first turn of an activation, and before
 * every turn when they are not to stick. Which are active is in the transcript, so that a session and a restored loop go
 * on with them.
 */
export async function chooseSkills(loop: Loop): Promise<void> {
  const { skills, skillMatching: matching } = loop.options;
  const isFirst = loop.turnsTaken <= 1;
  if (skills.length === 0 || (matching.isSticky && !isFirst)) return;
  const { transcript } = loop.progress;
  const candidates = matchSkills(skills, lastWish(transcript), matching.workingFiles);
  const before = activeSkillNames(transcript).filter((name) => skills.some((skill) => skill.name === name));
  const chosen = candidates.slice(0, matching.topN).map(({ name }) => name);
  const after = before.length > 0 && (matching.isSticky || chosen.length === 0) ? before : chosen;
  const gone = before.filter((name) => !after.includes(name));
  const come = after.filter((name) => !before.includes(name));
  const events = [
    matchedEvent(matching.strategy, candidates),
    ...gone.map((name) => plainEvent('skill_deactivated', name, { name })),
    ...come.flatMap((name) => activationEvents(skills, candidates, name)),
  ];
  recordStep(loop, { t: 'in', events, active_skills: after });
  for (const name of gone) await tellSkill(loop, 'skill_deactivated', name);
  for (const name of come) await tellSkill(loop, 'skill_activated', name);
}

/** What the user, or whoever speaks for them, said last. */
function lastWish({ messages }: Transcript): string {
  const last = messages.findLast((message) => message.role === 'user');
  return last === undefined ? '' : messageText(last);
}

/** Nobody but the metadata decides here: a host that would rank skills is not there. */
function matchedEvent(strategy: string, candidates: readonly SkillMatch[]): NewEvent {
  const facts: JsonObject = { strategy: 'metadata', ...(strategy === 'metadata' ? {} : { fallback_from: strategy }), candidates };
  return plainEvent('skill_matched', candidates.map(({ name }) => name).join(', '), facts);
}

function activationEvents(skills: readonly Skill[], candidates: readonly SkillMatch[], name: string): NewEvent[] {
  const match = candidates.find((candidate) => candidate.name === name);
  const allowed = skills.find((skill) => skill.name === name)?.allowedTools ?? [];
  return [
    plainEvent('skill_activated', name, { name, score: match?.score ?? null, reason: match?.reason ?? null }),
    ...(allowed.length === 0 ? [] : [plainEvent('skill_scope_tools', name, { name, allowed_tools: allowed })]),
  ];
}

async function tellSkill(loop: Loop, type: 'skill_activated' | 'skill_deactivated', name: string): Promise<void> {
  emitEvent(loop, { type, name });
  await loop.live.callbacks.skill?.(type === 'skill_activated' ? 'on_activate' : 'on_deactivate', name);
}

/** The metadata of a transcript that somebody brought along may be anything. */
export function activeSkillNames({ metadata }: Transcript): readonly string[] {
  const names = isJsonObject(metadata) ? metadata.active_skills : undefined;
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}

export function activeSkills(skills: readonly Skill[], transcript: Transcript): readonly Skill[] {
  const names = activeSkillNames(transcript);
  return skills.filter((skill) => names.includes(skill.name));
}
