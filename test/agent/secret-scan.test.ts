import { describe, expect, test } from 'vitest';
import { redactSecrets } from '../../src/agent/tools/secret-scan.ts';
import { runActivation, script, sent, tool } from './fake-activation.ts';

const OPENAI = `sk-proj-${'a1B2'.repeat(10)}`;
const GITHUB = `ghp_${'Z9y8'.repeat(9)}`;
const PEM = `-----BEGIN RSA PRIVATE KEY-----\nMIIBOgIBAAJB\n-----END RSA PRIVATE KEY-----`;

describe('redactSecrets', () => {
  test.each([
    ['a key among words', `key=${OPENAI} end`, 'key=[redacted] end'],
    ['two of them', `${OPENAI}\n${GITHUB}`, '[redacted]\n[redacted]'],
    ['a private key with its body', `before\n${PEM}\nafter`, 'before\n[redacted]\nafter'],
    ['a private key that was cut', PEM.slice(0, 40), '[redacted]'],
    ['a text without any', 'sk-1 is short, and so is ghp_x', 'sk-1 is short, and so is ghp_x'],
  ])('%s', (_name, text, expected) => {
    expect(redactSecrets(text)).toBe(expected);
  });
});

test('T29: the result of a tool is redacted before the model, the journal or an event has it, and so is its error', async () => {
  const mock = script({ tool_calls: [{ name: 'leak' }, { name: 'fail' }] }, { text: 'end' });
  const tools = [tool('leak', () => `found ${OPENAI}`), tool('fail', () => `Error: denied for ${GITHUB}`)];
  const run = await runActivation({ mock, live: { tools } });
  const texts = sent(mock)[1]
    ?.messages.filter(({ role }) => role === 'tool')
    .map(({ content }) => content);
  expect(texts).toEqual(['found [redacted]', 'Error: denied for [redacted]']);
  expect(JSON.stringify([run.records, run.events, run.end])).not.toMatch(/sk-proj|ghp_/);
});
