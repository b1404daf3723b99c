import { McpServer, ProtocolError, ProtocolErrorCode, UriTemplate } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { McpOffer } from '../runtime/agents/mcp-offer.ts';

/** How a server calls itself. */
export interface ServerName {
  readonly name: string;
  readonly version: string;
}

/** What a script offers, as a server of the SDK: one for each connection, session or request. */
export function createServer(offer: McpOffer, { name, version }: ServerName): McpServer {
  const hasResources = offer.resources.length + offer.templates.length > 0;
  const server = new McpServer(
    { name, version },
    {
      capabilities: {
        ...(offer.tools.length > 0 ? { tools: {} } : {}),
        ...(hasResources ? { resources: {} } : {}),
        ...(offer.prompts.length > 0 ? { prompts: {} } : {}),
      },
    },
  );
  // Below the conveniences of the SDK: those want schemas of its own kind, and scripts have JSON Schema.
  const { server: protocol } = server;
  if (offer.tools.length > 0) {
    protocol.setRequestHandler('tools/list', () => ({ tools: offer.tools.map(listedTool) as never[] }));
    protocol.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => callTool(offer, params, mcpReq.signal));
  }
  if (hasResources) {
    protocol.setRequestHandler('resources/list', () => ({
      resources: offer.resources.map(({ uri, facts }) => ({ uri, ...facts })) as never[],
    }));
    protocol.setRequestHandler('resources/templates/list', () => ({
      resourceTemplates: offer.templates.map(({ uriTemplate, facts }) => ({ uriTemplate, ...facts })) as never[],
    }));
    protocol.setRequestHandler('resources/read', async ({ params: { uri } }, { mcpReq }) => readResource(offer, uri, mcpReq.signal));
  }
  if (offer.prompts.length > 0) {
    protocol.setRequestHandler('prompts/list', () => ({
      prompts: offer.prompts.map(({ name: prompt, description, arguments: args }) => ({
        name: prompt,
        description,
        arguments: args,
      })) as never[],
    }));
    protocol.setRequestHandler('prompts/get', async ({ params }, { mcpReq }) => getPrompt(offer, params, mcpReq.signal));
  }
  return server;
}

function listedTool({ name, description, inputSchema, outputSchema, annotations }: McpOffer['tools'][number]): JsonObject {
  return {
    name,
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
}

interface Named {
  readonly name: string;
  readonly arguments?: unknown;
}

async function callTool(offer: McpOffer, { name, arguments: given }: Named, signal: AbortSignal) {
  const tool = offer.tools.find((one) => one.name === name);
  if (tool === undefined) throw unknown(`no tool ${name}`);
  const { text, structured, isError } = await tool.call(argumentsOf(given), signal);
  const content = [{ type: 'text' as const, text }];
  return tool.outputSchema === undefined || structured === undefined || isError
    ? { content, isError }
    : { content, isError, structuredContent: structured };
}

async function readResource(offer: McpOffer, uri: string, signal: AbortSignal) {
  const contents = (text: string, { mimeType }: JsonObject) => ({
    contents: [{ uri, text, ...(typeof mimeType === 'string' ? { mimeType } : {}) }],
  });
  const resource = offer.resources.find((one) => one.uri === uri);
  if (resource !== undefined) return contents(resource.text, resource.facts);
  for (const { uriTemplate, facts, read } of offer.templates) {
    const variables = new UriTemplate(uriTemplate).match(uri);
    if (variables !== null) return contents(await read(variables as JsonObject, signal), facts);
  }
  throw unknown(`no resource ${uri}`);
}

async function getPrompt(offer: McpOffer, { name, arguments: given }: Named, signal: AbortSignal) {
  const prompt = offer.prompts.find((one) => one.name === name);
  if (prompt === undefined) throw unknown(`no prompt ${name}`);
  const args = argumentsOf(given);
  const missing = prompt.arguments.find((one) => one.required === true && args[String(one.name)] === undefined);
  if (missing !== undefined) throw unknown(`prompt ${name} needs the argument ${String(missing.name)}`);
  const messages = await prompt.get(args, signal);
  return {
    description: prompt.description,
    messages: messages.map(({ role, text }) => ({
      role: role === 'assistant' ? ('assistant' as const) : ('user' as const),
      content: { type: 'text' as const, text },
    })),
  };
}

function argumentsOf(given: unknown): JsonObject {
  return isJsonObject(given as JsonObject | undefined) ? (given as JsonObject) : {}; // the SDK has decoded the request
}

function unknown(message: string): Error {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
