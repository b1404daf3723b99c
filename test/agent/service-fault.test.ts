import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adviceOnFault } from '../../src/agent/providers/llm-advice.ts';
import { llmError, llmErrorFacts } from '../../src/agent/providers/llm-errors.ts';
import { inWords } from '../../src/agent/providers/network-fault.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { asker, fault, KEY } from './ask-model.ts';
import { type ModelServer, openAiText, type Reply, startModelServer } from './model-server.ts';

/** What is told of a service that refuses: its own words, which request it was, whether it may pass, what to do. */
let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());
const ask = asker(() => server.url);

const JSON_TYPE = { 'content-type': 'application/json' };

function refused(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  return { status, headers: { ...JSON_TYPE, ...headers }, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

interface Row {
  readonly what: string;
  readonly reply: Reply;
  readonly message: string;
  readonly category: string;
}

const TEXTS: readonly Row[] = [
  {
    what: 'a text in `detail`',
    reply: refused(400, { detail: 'no model' }),
    message: 'openai answered 400: no model',
    category: 'generic',
  },
  {
    what: 'a list in `detail`',
    reply: refused(422, { detail: [{ loc: ['body', 'messages'], msg: 'field required' }, { msg: 'and more' }] }),
    message: 'openai answered 422: body.messages: field required; and more',
    category: 'generic',
  },
  {
    what: 'a list in `errors`',
    reply: refused(400, { success: false, errors: [{ code: 7, message: 'no route' }, 'and more'] }),
    message: 'openai answered 400: no route; and more',
    category: 'generic',
  },
  {
    what: 'an error in a list',
    reply: refused(400, [{ error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } }]),
    message: 'openai answered 400: API key not valid.',
    category: 'auth',
  },
  {
    what: 'what the service behind a router said',
    reply: refused(502, {
      error: {
        message: 'Provider returned error',
        code: 502,
        metadata: { raw: '{"error":{"message":"no memory"}}', provider_name: 'Deep' },
      },
    }),
    message: 'openai answered 502: Provider returned error (Deep: no memory)',
    category: 'server_error',
  },
  {
    what: 'lines and control characters',
    reply: refused(400, { error: { message: 'first\n\u001b[31msecond\u0007' } }),
    message: 'openai answered 400: first [31msecond',
    category: 'generic',
  },
  {
    what: 'a text without end',
    reply: refused(400, { error: { message: 'x'.repeat(5000) } }),
    message: `openai answered 400: ${'x'.repeat(1000 - 'openai answered 400: '.length)}`,
    category: 'generic',
  },
  {
    what: 'a page with 413',
    reply: refused(413, '<html>'),
    message: 'openai answered 413: the request is too large for it',
    category: 'generic',
  },
  { what: 'a page with 401', reply: refused(401, '<html>'), message: 'openai answered 401: it does not accept the key', category: 'auth' },
  { what: 'nothing with 200', reply: { headers: JSON_TYPE }, message: 'openai answered 200 with nothing', category: 'transient_network' },
  {
    what: 'a text with 200',
    reply: { headers: JSON_TYPE, body: 'hello' },
    message: 'openai answered 200 with what is no JSON object',
    category: 'transient_network',
  },
  {
    what: 'an id of the request',
    reply: refused(500, { error: { message: 'broken' } }, { 'x-request-id': 'req_011/a' }),
    message: 'openai answered 500: broken (request req_011/a)',
    category: 'server_error',
  },
  {
    what: 'an id in the words of Anthropic',
    reply: refused(529, { error: { message: 'Overloaded' } }, { 'request-id': 'req_7' }),
    message: 'openai answered 529: Overloaded (request req_7)',
    category: 'overloaded',
  },
  {
    what: 'an id that is none',
    reply: refused(500, { error: { message: 'broken' } }, { 'x-request-id': 'a b <c>' }),
    message: 'openai answered 500: broken',
    category: 'server_error',
  },
  {
    what: 'an id that holds the key',
    reply: refused(500, { error: { message: 'broken' } }, { 'x-request-id': `for-${KEY}` }),
    message: 'openai answered 500: broken (request for-[key])',
    category: 'server_error',
  },
];

describe('a refusal', () => {
  test.each(TEXTS)('tells $what', async ({ reply, message, category }) => {
    server.reply(reply);
    expect(await fault(ask({}))).toMatchObject({ message, category });
  });

  test('with nothing at the address names the address', async () => {
    server.reply(refused(404, '<html>'));
    const { message } = await fault(ask({}));
    expect(message).toBe(`openai answered 404: nothing is at ${server.url}/v1/chat/completions; check the base URL and the model`);
  });

  test('has the id of the request as a field', async () => {
    server.reply(refused(500, { error: { message: 'broken' } }, { 'x-request-id': 'req_1' }));
    expect(await fault(ask({}))).toMatchObject({ request_id: 'req_1' });
  });
});

test.each(['openai', 'anthropic'])('%s: JSON of something else is a wrong address, and no broken answer', async (provider) => {
  server.reply({ headers: JSON_TYPE, body: '{"hello":1}' });
  expect(await fault(ask({ provider }))).toMatchObject({
    kind: 'terminal',
    message: `${provider} answered with JSON that is no model's answer: check the base URL (${server.url})`,
  });
});

describe('x-should-retry', () => {
  const asked = async (reply: Reply): Promise<{ readonly facts: JsonObject; readonly requests: number }> => {
    const before = server.received.length;
    server.reply(reply, { body: openAiText('hello') });
    const facts = await fault(ask({ policy: { retries: 1 } }));
    const requests = server.received.length - before;
    // What was not fetched would answer the next test.
    if (requests === 1) await ask({});
    return { facts, requests };
  };

  test('false: what usually passes does not', async () => {
    const { facts, requests } = await asked(refused(429, { error: { message: 'quota' } }, { 'x-should-retry': 'false' }));
    expect({ ...facts, requests }).toMatchObject({ category: 'rate_limit', kind: 'terminal', requests: 1 });
  });

  test('true: what usually stays as it is passes', async () => {
    const { facts, requests } = await asked(refused(400, { error: { message: 'a moment' } }, { 'x-should-retry': 'true' }));
    expect({ facts, requests }).toEqual({ facts: { thrown: 'answered' }, requests: 2 });
  });

  test('anything else says nothing', async () => {
    const { requests } = await asked(refused(500, '', { 'x-should-retry': 'perhaps' }));
    expect(requests).toBe(2);
  });
});

test('a fault that stayed says how often it was tried', async () => {
  const busy = refused(529, { error: { message: 'Overloaded' } });
  server.reply(busy, busy, busy);
  expect(await fault(ask({ policy: { retries: 2 } }))).toMatchObject({ message: 'openai answered 529: Overloaded', attempts: 3 });
  server.reply(busy, refused(401, { error: { message: 'no' } }));
  expect(await fault(ask({ policy: { retries: 2 } }))).toMatchObject({ category: 'auth', attempts: 2 });
});

test.each([
  ['ENOTFOUND', ': the name of the host is not known (ENOTFOUND)'],
  ['CERT_HAS_EXPIRED', ': its certificate has expired (CERT_HAS_EXPIRED)'],
  ['EODD', ' (EODD)'],
  [undefined, ''],
])('a fault of the network in words: %s', (code, text) => {
  expect(inWords(code)).toBe(text);
});

const ADVICE: readonly (readonly [category: string, more: JsonObject, advice: string | undefined])[] = [
  ['auth', {}, 'harn doctor openai` '],
  ['not_found', {}, 'harn doctor openai --model m'],
  ['generic', { reason: 'context_overflow' }, 'auto_compact'],
  ['timeout', {}, '`timeout` gives it longer'],
  ['overloaded', {}, 'llm_retries'],
  ['transient_network', { network_code: 'SELF_SIGNED_CERT_IN_CHAIN' }, 'NODE_EXTRA_CA_CERTS'],
  ['transient_network', { network_code: 'ECONNREFUSED' }, 'OPENAI_BASE_URL changes the address'],
  ['overloaded', { attempts: 3 }, 'it was tried 3 times'],
  ['transient_network', { network_code: 'ECONNRESET' }, 'llm_retries'],
  ['budget_exceeded', {}, undefined],
  ['generic', {}, undefined],
];

test.each(ADVICE)('what to do about %s %j', (category, { reason, ...facts }, advice) => {
  const error = llmError({ category, message: 'x', provider: 'openai', model: 'm', facts, reason: reason as string | undefined });
  const given = llmErrorFacts(error);
  const text = given === undefined ? '' : adviceOnFault(given);
  if (advice === undefined) expect(text).toBeUndefined();
  else expect(text).toContain(advice);
});
