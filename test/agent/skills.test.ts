import { describe, expect, test } from 'vitest';
import { decodeSkills, matchSkills, type SkillMatch } from '../../src/agent/skills.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { parkedAndBack, type Run, result, runActivation, type Setup, script, sent, tool } from './fake-activation.ts';

const SHIP = {
  name: 'ship',
  description: 'Ship a production release',
  when_to_use: 'User says ship/release/deploy',
  prompt: 'One command at a time.',
  allowed_tools: ['deploy*', 'namespace:read'],
};
const REVIEW = { name: 'review', description: 'Review existing code', paths: ['src/**/*.ts'] };
const REGISTRY = { _type: 'skill_registry', skills: [SHIP, REVIEW] };
const CALL = { tool_calls: [{ name: 'deploy_app', arguments: {} }] };
const END = { text: 'end' };

describe('matching skills', () => {
  const matches = (text: string, files: string[] = []): SkillMatch[] => matchSkills(decodeSkills(REGISTRY), text, files);

  test.each<[string, string, string[], string[]]>([
    ['words of the description in any form', 'Please release this to production', [], ['ship']],
    ['words of when_to_use', 'deploy!', [], ['ship']],
    ['the name alone', 'use review on this', [], ['review']],
    ['a working file', 'fix the edge case', ['src/a/b.ts'], ['review']],
    ['a working file right under the folder', 'fix the edge case', ['src/b.ts'], ['review']],
    ['the better one first', 'review the code, then ship', [], ['review', 'ship']],
    ['nothing', 'make me a sandwich', ['docs/x.md'], []],
  ])('by %s', (_what, text, files, names) => {
    expect(matches(text, files).map(({ name }) => name)).toEqual(names);
  });

  test('says why', () => {
    expect(matches('ship it')[0]).toEqual({ name: 'ship', score: 8, reason: 'named, description, when_to_use' });
  });

  test('a skill for people only is never chosen', () => {
    expect(matchSkills(decodeSkills([{ ...SHIP, 'disable-model-invocation': true }]), 'ship', [])).toEqual([]);
  });

  test('what is no skill is refused', () => {
    expect(() => decodeSkills('ship')).toThrow('agent_loop: skills must be a skill registry or a list of skills');
  });
});

describe('skills of a loop', () => {
  const tools = [
    tool('deploy_app', () => 'deployed'),
    tool('read_file', () => 'text', { namespace: 'read' }),
    tool('write_file', () => 'written', { namespace: 'write' }),
  ];
  async function loop(prompt: string, options: JsonObject, entries: JsonObject[] = [END], setup: Setup = {}) {
    const mock = script(...entries);
    const run = await runActivation({ prompt, mock, options: { skills: REGISTRY, ...options }, live: { tools }, ...setup });
    const requests = sent(mock) as unknown as { system: string | null; tools: { function: { name: string } }[] | null }[]; // as the mock logs them
    return { run, requests };
  }
  const skillEvents = (run: Run): string[] =>
    (result(run).transcript as { events: { kind: string; text: string }[] }).events.flatMap(({ kind, text }) =>
      kind.startsWith('skill_') ? [`${kind} ${text}`] : [],
    );

  test('one that fits is added to the system prompt, and leaves its own tools', async () => {
    const { run, requests } = await loop('Ship the release', { agent_await_resumption_enabled: false });
    expect(requests[0]?.system).toBe(
      '## Active skills\n\n### ship\nShip a production release\nOne command at a time.\nScoped tools: deploy*, namespace:read',
    );
    expect(requests[0]?.tools?.map((entry) => entry.function.name)).toEqual(['deploy_app', 'read_file']);
    expect(skillEvents(run)).toEqual(['skill_matched ship', 'skill_activated ship', 'skill_scope_tools ship']);
    expect(run.events).toContainEqual(expect.objectContaining({ type: 'skill_activated', name: 'ship' }));
  });

  test('none that fits leaves everything as it was', async () => {
    const { run, requests } = await loop('Sing', {});
    expect(requests[0]?.system).toBeNull();
    expect(requests[0]?.tools).toHaveLength(4);
    expect(skillEvents(run)).toEqual(['skill_matched ']);
  });

  test('it sticks, whatever is said later', async () => {
    const postTurn = async () => ({ message: 'Now review the code' });
    const { requests } = await loop('Ship it', {}, [CALL, END], { live: { tools, callbacks: { postTurn } } });
    expect(requests.map(({ system }) => system?.includes('### ship'))).toEqual([true, true]);
  });

  test('without sticking it gives way to one that fits better, and both are told', async () => {
    const told: string[] = [];
    const callbacks = {
      postTurn: async () => ({ message: 'Now review the code' }),
      skill: async (moment: string, name: string) => {
        told.push(`${moment} ${name}`);
      },
    };
    const { requests } = await loop('Ship it', { skill_match: { sticky: false } }, [CALL, END], { live: { tools, callbacks } });
    expect(requests.map(({ system }) => /### \w+/.exec(system ?? '')?.[0])).toEqual(['### ship', '### review']);
    expect(told).toEqual(['on_activate ship', 'on_deactivate ship', 'on_activate review']);
  });

  test('top_n takes several; a host that is not there is replaced by the metadata', async () => {
    const { run, requests } = await loop('Ship it after a review', { skill_match: { strategy: 'host', top_n: 2 } });
    expect(requests[0]?.system?.match(/### \w+/g)).toEqual(['### ship', '### review']);
    const { events } = result(run).transcript as { events: { kind: string; metadata: JsonObject }[] };
    expect(events.find(({ kind }) => kind === 'skill_matched')?.metadata).toMatchObject({ strategy: 'metadata', fallback_from: 'host' });
  });

  test('a restored loop goes on with them', async () => {
    const park = { reason: 'wait', initiator: 'operator' as const, conditions: undefined };
    const first = await loop('Ship it', {}, [CALL], { worker: { suspendAt: { 1: park } } });
    expect(first.run.parkedState?.loop).toMatchObject({ active_skills: ['ship'] });
    const second = await loop('', {}, [END], { state: parkedAndBack(first.run) });
    expect(second.requests[0]?.system).toContain('### ship');
    expect(skillEvents(second.run).filter((text) => text.startsWith('skill_activated'))).toHaveLength(1);
  });
});
