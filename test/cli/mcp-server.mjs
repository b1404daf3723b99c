// A server of the Model Context Protocol for tests: JSON-RPC by hand, a line a message, or over HTTP with `--http`.
// MCP_LOG names a file that learns of every start, call and end; MCP_TOOLS adds a tool of that name.
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const log = (line) => process.env.MCP_LOG && appendFileSync(process.env.MCP_LOG, `${line}\n`);
const text = (value, more = {}) => ({ content: [{ type: 'text', text: value }], ...more });
const schema = (properties) => ({ type: 'object', properties, required: Object.keys(properties) });

/** With `--modern` the server speaks the revision of 2026 alone, in which a tool may ask before it goes on. */
const MODERN = process.argv.includes('--modern');

function transfer({ amount }, { inputResponses, requestState }) {
  if (inputResponses === undefined) {
    const ask = { message: `Send ${amount}?`, requestedSchema: schema({ sure: { type: 'boolean' } }), mode: 'form' };
    return {
      resultType: 'input_required',
      inputRequests: { q1: { method: 'elicitation/create', params: ask } },
      requestState: `state of ${amount}`,
    };
  }
  if (requestState !== `state of ${amount}`) return text('tampered', { isError: true });
  const { action, content } = inputResponses.q1;
  return text(action === 'accept' && content.sure ? `sent ${amount}` : `${action}: kept ${amount}`);
}

/** Asks twice before it does anything; what it has heard so far travels in its state. */
function wizard(_args, { inputResponses, requestState }) {
  const heard = requestState === undefined ? [] : [...JSON.parse(requestState), inputResponses.q.content.value];
  if (heard.length === 2) return text(`made ${heard.join(' and ')}`);
  const ask = {
    message: heard.length === 0 ? 'Which colour?' : 'Which size?',
    requestedSchema: schema({ value: { type: 'string' } }),
    mode: 'form',
  };
  return {
    resultType: 'input_required',
    inputRequests: { q: { method: 'elicitation/create', params: ask } },
    requestState: JSON.stringify(heard),
  };
}

const tools = {
  echo: [schema({ message: { type: 'string' } }), ({ message }) => text(`${message} ${process.env.MCP_SECRET ?? ''}`.trim())],
  structured: [schema({}), () => text('{"n":1}', { structuredContent: { n: 1 } })],
  fail: [schema({}), () => text('it broke', { isError: true })],
  hang: [schema({}), () => undefined],
  die: [schema({}), () => process.exit(3)],
  ...(MODERN ? { transfer: [schema({ amount: { type: 'number' } }), transfer], wizard: [schema({}), wizard] } : {}),
  ...(process.env.MCP_TOOLS === undefined ? {} : { [process.env.MCP_TOOLS]: [schema({}), () => text('new')] }),
};

function answer({ method, params = {} }) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {}, resources: {}, prompts: {} },
        serverInfo: { name: 'test-server', version: '1.2.3' },
      };
    case 'server/discover':
      return MODERN ? { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } } : undefined;
    case 'tools/list':
      return { tools: Object.entries(tools).map(([name, [inputSchema]]) => ({ name, description: `The tool ${name}`, inputSchema })) };
    case 'tools/call':
      log(`call ${params.name}`);
      return tools[params.name]?.[1](params.arguments ?? {}, params);
    case 'resources/list':
      return { resources: [{ uri: 'memo://a', name: 'a' }] };
    case 'resources/read':
      return { contents: [{ uri: params.uri, text: `text of ${params.uri}` }] };
    case 'prompts/list':
      return { prompts: [{ name: 'greet', arguments: [{ name: 'who' }] }] };
    case 'prompts/get':
      return { messages: [{ role: 'user', content: { type: 'text', text: `hello ${params.arguments.who}` } }] };
    default:
      return {};
  }
}

function respond(message) {
  if (message.id === undefined) return undefined;
  const result = answer(message);
  const modern = MODERN ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {};
  return result === undefined ? undefined : { jsonrpc: '2.0', id: message.id, result: { ...modern, ...result } };
}

log(`start ${process.pid}`);
process.on('SIGTERM', () => process.exit(0));
process.on('exit', () => log(`end ${process.pid}`));

if (process.argv.includes('--http')) {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.method !== 'POST') return response.writeHead(405).end();
    if (request.headers.authorization !== 'Bearer mcp-canary-77') return response.writeHead(401).end();
    const reply = respond(JSON.parse(body));
    if (reply === undefined) return response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
  });
  server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
} else {
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const reply = respond(JSON.parse(line));
    if (reply !== undefined) process.stdout.write(`${JSON.stringify(reply)}\n`);
  });
  lines.on('close', () => process.exit(0));
}
