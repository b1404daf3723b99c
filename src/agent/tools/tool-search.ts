import { HarnError } from '../../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { ModelRouter } from '../model-call/model-call.ts';
import type { ModelAnswer, ModelRequest, NativeToolSearch, ToolSpec } from '../providers/provider.ts';
import type { ModelTarget } from '../providers/resolve-model.ts';
import { eventsByKind, type NewEvent, plainEvent, type Transcript } from '../transcript/transcript.ts';
import { type Tool, type ToolReturn, toolFault, toolSpec } from './tool.ts';

/**
 * Tools that are declared with `defer_loading` and shown to the model only once it looked for them (`tool_search`).
 *
 * Natively the service searches: it gets all tools with a flag. Otherwise the loop adds a tool of its own that searches
 * names and descriptions; what it finds is shown from the next request on. What was found is read back from the events
 * of the transcript, so a parked loop goes on with the same tools.
 */
export interface ToolSearch {
  readonly variant: 'bm25' | 'regex';
  readonly mode: 'auto' | 'client' | 'native';
  /** Name of the searching tool. */
  readonly name: string;
  /** Estimated tokens of the schemas that may be shown at once; the oldest find goes first, the newest always stays. */
  readonly budgetTokens: number | undefined;
  readonly maxResults: number;
}

const DEFAULT_NAME = '__harn_tool_search';
const DEFAULT_RESULTS = 5;

/** `true`, a variant, or a dict. @throws HarnError `plain` */
export function decodeToolSearch(value: Json | undefined): ToolSearch | undefined {
  if (value === undefined || value === null || value === false) return undefined;
  const given: JsonObject = typeof value === 'string' ? { variant: value } : isJsonObject(value) ? value : {};
  const { variant = 'bm25', mode = 'auto', name, budget_tokens: budget, max_results: results } = given;
  if (variant !== 'bm25' && variant !== 'regex') throw new HarnError('plain', 'tool_search: variant must be bm25 or regex');
  if (mode !== 'auto' && mode !== 'client' && mode !== 'native')
    throw new HarnError('plain', 'tool_search: mode must be auto, client or native');
  return {
    variant,
    mode,
    name: typeof name === 'string' && name !== '' ? name : DEFAULT_NAME,
    budgetTokens: typeof budget === 'number' ? budget : undefined,
    maxResults: typeof results === 'number' ? results : DEFAULT_RESULTS,
  };
}

/**
 * How the service itself searches, when it is asked to.
 *
 * @throws HarnError `plain` for `mode: "native"` where nothing says that the service can
 */
export async function nativeSearch(
  models: ModelRouter,
  { provider, model }: ModelTarget,
  search: ToolSearch,
  options: JsonObject,
): Promise<NativeToolSearch | undefined> {
  if (search.mode !== 'native') return undefined;
  const variants = (await models.toolSearch?.(provider, model)) ?? [];
  const own = options[provider];
  const isForced = isJsonObject(own) && own.force_native_tool_search === true;
  if (variants.length === 0 && !isForced) {
    throw new HarnError('plain', `tool_search: ${provider}/${model} does not expose native tool search; use mode: "client"`);
  }
  return { style: variants.length === 0 || variants.includes('hosted') ? 'openai' : 'anthropic', variant: search.variant };
}

/** The tools of a loop that searches by itself: its own tool comes with those that are always there. */
export function searchableTools(tools: readonly Tool[], search: ToolSearch): readonly Tool[] {
  const deferred = tools.filter((tool) => tool.deferLoading === true);
  return deferred.length === 0 ? tools : [searchTool(search, deferred), ...tools];
}

/** What the next request shows. */
export function shownTools(tools: readonly Tool[], search: ToolSearch, transcript: Transcript): readonly Tool[] {
  const found = foundNames(transcript);
  const deferred = found.flatMap((name) => tools.filter((tool) => tool.name === name && tool.deferLoading === true));
  return [...tools.filter((tool) => tool.deferLoading !== true), ...withinBudget(deferred, search.budgetTokens)];
}

/** In the order in which they were found last. */
function foundNames(transcript: Transcript): string[] {
  const names: string[] = [];
  for (const { metadata } of eventsByKind(transcript, 'tool_search_result')) {
    for (const name of Array.isArray(metadata?.promoted) ? metadata.promoted : []) {
      if (typeof name !== 'string') continue;
      if (names.includes(name)) names.splice(names.indexOf(name), 1);
      names.push(name);
    }
  }
  return names;
}

function withinBudget(tools: readonly Tool[], budgetTokens: number | undefined): readonly Tool[] {
  if (budgetTokens === undefined) return tools;
  let spent = 0;
  return tools
    .toReversed()
    .filter((tool, index) => {
      spent += Math.ceil(JSON.stringify(toolSpec(tool)).length / 4);
      return index === 0 || spent <= budgetTokens;
    })
    .reverse();
}

function searchTool(search: ToolSearch, deferred: readonly Tool[]): Tool {
  const isRegex = search.variant === 'regex';
  return {
    name: search.name,
    description: isRegex
      ? 'Finds further tools by a regular expression over their names and descriptions. Tools that are found can be called from the next turn on.'
      : 'Finds further tools by words that describe what they do. Tools that are found can be called from the next turn on.',
    parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    annotations: { readOnlyHint: true },
    policy: {},
    idempotent: true,
    timeoutMs: undefined,
    executor: 'harn',
    handler: async ({ query }) => answer(search, deferred, String(query)),
  };
}

function answer(search: ToolSearch, deferred: readonly Tool[], query: string): ToolReturn {
  const found = findTools(search.variant, query, deferred).slice(0, search.maxResults);
  const facts = { mode: 'client', strategy: search.variant, tool: search.name };
  const promoted = found.map((tool) => tool.name);
  return {
    kind: 'value',
    value: promoted,
    text:
      found.length === 0
        ? `No tool matches ${JSON.stringify(query)}.`
        : found.map((tool) => `${tool.name}: ${tool.description}`).join('\n'),
    events: [
      plainEvent('tool_search_query', query, { ...facts, query: { query } }),
      plainEvent('tool_search_result', promoted.join(', '), { ...facts, promoted }),
    ],
  };
}

/** What a service that searches by itself has done, as a search of the loop is told. Services that do not show it have none. */
export function nativeSearchEvents({ carried = [] }: Pick<ModelAnswer, 'carried'>): NewEvent[] {
  const blocks = carried.flatMap((part) => (part.type === 'service' ? [part.block] : []));
  return blocks.flatMap(({ type, id, name, input }): NewEvent[] => {
    const strategy = type === 'server_tool_use' ? /^tool_search_tool_(bm25|regex)$/.exec(String(name))?.[1] : undefined;
    if (strategy === undefined) return [];
    const facts = { mode: 'native', strategy, tool: name ?? null };
    const query = isJsonObject(input) ? input : {};
    const asked = plainEvent('tool_search_query', String(query.query ?? query.pattern ?? ''), { ...facts, query });
    const found = blocks.find((block) => block.type === 'tool_search_tool_result' && block.tool_use_id === id);
    if (found === undefined) return [asked];
    const promoted = referencedNames(found.content);
    return [asked, plainEvent('tool_search_result', promoted.join(', '), { ...facts, promoted })];
  });
}

function referencedNames(content: Json | undefined): string[] {
  const references = isJsonObject(content) && Array.isArray(content.tool_references) ? content.tool_references : [];
  return references.flatMap((reference) => (isJsonObject(reference) ? [String(reference.tool_name)] : []));
}

/** @throws tool fault for an expression that is none */
export function findTools<T extends Pick<ToolSpec, 'name' | 'description'>>(
  variant: ToolSearch['variant'],
  query: string,
  tools: readonly T[],
): readonly T[] {
  return variant === 'regex' ? findByRegex(query, tools) : findByWords(query, tools);
}

const LONGEST_REGEX = 200;

function findByRegex<T extends Pick<ToolSpec, 'name' | 'description'>>(query: string, tools: readonly T[]): readonly T[] {
  if (query.length > LONGEST_REGEX) throw toolFault(`the expression is longer than ${LONGEST_REGEX} characters`);
  let expression: RegExp;
  try {
    expression = new RegExp(query, 'i');
  } catch {
    throw toolFault(`${JSON.stringify(query)} is no regular expression`);
  }
  return tools.filter((tool) => expression.test(tool.name) || expression.test(tool.description));
}

// BM25 with the usual constants; a name counts three times as much as a description.
const K1 = 1.2;
const B = 0.75;
const NAME_WEIGHT = 3;

function findByWords<T extends Pick<ToolSpec, 'name' | 'description'>>(query: string, tools: readonly T[]): readonly T[] {
  const documents = tools.map((tool) => [...Array<string[]>(NAME_WEIGHT).fill(words(tool.name)).flat(), ...words(tool.description)]);
  const averageLength = documents.reduce((sum, document) => sum + document.length, 0) / Math.max(1, documents.length);
  const score = (document: readonly string[]): number =>
    words(query).reduce((sum, word) => {
      const count = document.filter((one) => one === word).length;
      if (count === 0) return sum;
      const holders = documents.filter((one) => one.includes(word)).length;
      const rarity = Math.log(1 + (documents.length - holders + 0.5) / (holders + 0.5));
      return sum + (rarity * count * (K1 + 1)) / (count + K1 * (1 - B + (B * document.length) / averageLength));
    }, 0);
  return tools
    .map((tool, index) => ({ tool, score: score(documents[index] ?? []) }))
    .filter((ranked) => ranked.score > 0)
    .sort((left, right) => right.score - left.score)
    .map((ranked) => ranked.tool);
}

/** `deploy_service` and `deployService` are two words each. */
function words(text: string): string[] {
  return text
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Tools in OpenAI's shape, with the entry that makes the service search. Also what the mock model's log shows. */
export function openAiTools({ tools, toolSearch }: Pick<ModelRequest, 'tools' | 'toolSearch'>): JsonObject[] {
  const wire = tools.map(({ name, description, parameters, deferLoading, namespace }) => ({
    type: 'function',
    function: { name, description, parameters },
    ...(toolSearch !== undefined && deferLoading === true ? { defer_loading: true } : {}),
    ...(toolSearch !== undefined && namespace !== undefined ? { namespace } : {}),
  }));
  if (toolSearch === undefined) return wire;
  const namespaces = [...new Set(tools.flatMap((tool) => tool.namespace ?? []))].sort();
  return [{ type: 'tool_search', mode: 'hosted', ...(namespaces.length === 0 ? {} : { namespaces }) }, ...wire];
}
