import { parse } from 'smol-toml';
import { capabilitiesOf, knownCapabilityProviders } from '../../agent/providers/capabilities.ts';
import { decodeCapabilityRules } from '../../agent/providers/capability-rules.ts';
import { type EndpointWorld, endpointOf, serviceOf } from '../../agent/providers/endpoint.ts';
import { checkHealth } from '../../agent/providers/healthcheck.ts';
import { llmErrorFacts } from '../../agent/providers/llm-errors.ts';
import { mergeRules, NO_SETTINGS } from '../../agent/providers/llm-settings.ts';
import { MODELS, type ModelFacts, modelFacts, modelTier } from '../../agent/providers/model-catalog.ts';
import { costUsd } from '../../agent/providers/pricing.ts';
import { type ServiceFacts, TIER_NAMES } from '../../agent/providers/provider-catalog.ts';
import { aliasOf, BUILT_IN_ALIASES, inferProvider, resolveModel } from '../../agent/providers/resolve-model.ts';
import { errorText } from '../../base/harn-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { agentServices } from '../agents/agent-services.ts';
import { agentValue, optionalText, optionsJson, withoutHarness } from '../agents/agent-values.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { display } from '../display.ts';
import { plainError } from '../errors.ts';
import { Dict, Float, type Value } from '../value.ts';

/** What is known of services and models, without asking any (spec/agents.md chapter 1). */
type Args = readonly Value[];

interface Known extends EndpointWorld {
  readonly context: Context;
}

/** The project is read before anything is answered. */
function asking(signature: string, doc: string, run: (known: Known, args: Args) => Json | Value | Promise<Json | Value>): Builtin {
  return {
    signature,
    doc,
    colour: 'async',
    call: async (context, _depth, ...args) => {
      const { models, env } = agentServices(context.run);
      await models.prepare?.();
      const known = { context, env, settings: models.settings ?? NO_SETTINGS };
      const answer = await run(known, withoutHarness(args));
      return isAnswerJson(answer) ? agentValue(answer) : answer;
    },
  };
}

function isAnswerJson(answer: Json | Value): answer is Json {
  return Array.isArray(answer) || (isJsonObject(answer) && !(answer instanceof Float));
}

function text(args: Args, index = 0): string {
  return display(args[index]);
}

function target({ env, settings }: Known, model: string | undefined) {
  return resolveModel({ model }, env, settings);
}

function serviceJson(provider: string, service: ServiceFacts): JsonObject {
  return {
    name: provider,
    protocol: service.protocol,
    base_url: service.baseUrl,
    auth_style: service.key !== 'required' ? 'none' : service.protocol === 'anthropic' ? 'header' : 'bearer',
    auth_env: [...service.keyVariables],
    default_model: service.defaultModel ?? null,
  };
}

/** A key is there, or none is needed. */
function isAvailable(known: Known, provider: string): boolean {
  const service = serviceOf(known, provider);
  if (service === undefined) return false;
  try {
    endpointOf(known, service.protocol === 'mock' ? { ...service, baseUrl: 'http://localhost' } : service, { provider, model: '' });
    return true;
  } catch (error) {
    if (llmErrorFacts(error) === undefined) throw error;
    return false;
  }
}

function priceJson({ prefix, input, output, cacheRead, cacheWrite, maxOutput }: ModelFacts): JsonObject {
  return {
    prefix,
    pricing: {
      input_per_mtok: input,
      output_per_mtok: output,
      cache_read_per_mtok: cacheRead,
      cache_write_per_mtok: cacheWrite ?? input,
    },
    max_output_tokens: maxOutput ?? null,
  };
}

function resolved(known: Known, selector: string): JsonObject {
  const { provider, model } = target(known, selector);
  const alias = aliasOf(selector, known.settings);
  return {
    id: model,
    provider,
    alias: alias === undefined ? null : selector,
    tool_format: capabilities(known, provider, model).native_tools === true ? 'native' : 'text',
    tier: modelTier(model),
  };
}

function capabilities({ settings }: Known, provider: string, model: string): JsonObject {
  const can = capabilitiesOf(provider, model, settings.capabilities);
  return {
    ...can,
    tool_search: [...can.tool_search],
    thinking_modes: [...can.thinking_modes],
    thinking: can.thinking_modes.length > 0,
    provider,
    model,
  };
}

/** The model for cheap checks and repairs: the small one of the service. */
function qcDefault(known: Known, provider: string): string | undefined {
  const service = serviceOf(known, provider);
  return service?.tiers?.small ?? service?.defaultModel;
}

function modelInfo(known: Known, selector: string): JsonObject {
  const found = resolved(known, selector);
  const { id, provider } = found as { readonly id: string; readonly provider: string };
  const facts = modelFacts(id);
  return {
    ...found,
    catalog: facts === undefined ? null : priceJson(facts),
    capabilities: capabilities(known, provider, id),
    auth_available: isAvailable(known, provider),
    qc_default: qcDefault(known, provider) ?? null,
  };
}

function catalog(known: Known): JsonObject {
  const services = Object.entries(known.settings.services);
  const aliases = { ...BUILT_IN_ALIASES, ...known.settings.aliases };
  return {
    providers: services.map(([name, service]) => ({ ...serviceJson(name, service), available: isAvailable(known, name) })),
    aliases: Object.entries(aliases).map(([name, { id, provider }]) => ({ name, id, provider })),
    models: MODELS.map(priceJson),
    qc_defaults: Object.fromEntries(services.flatMap(([name]) => [[name, qcDefault(known, name) ?? null] as const])),
    capability_providers: [...knownCapabilityProviders()],
  };
}

function pick(known: Known, args: Args): JsonObject {
  const wanted = text(args);
  const given = optionsJson(args[1]);
  const wish = typeof given.provider === 'string' ? given.provider : undefined;
  if (wish !== undefined && TIER_NAMES.some((tier) => tier === wanted)) {
    const { provider, model } = resolveModel({ provider: wish, modelTier: wanted }, known.env, known.settings);
    return { id: model, provider, tier: wanted };
  }
  const alias = aliasOf(wanted, known.settings);
  const { provider, model } = resolveModel({ provider: wish ?? alias?.provider, model: wanted }, known.env, known.settings);
  return { id: model, provider, tier: TIER_NAMES.some((tier) => tier === wanted) ? wanted : modelTier(model) };
}

function health(known: Known, args: Args): Promise<JsonObject> {
  const [first, second] = args;
  const named = first instanceof Dict ? optionsJson(first) : { provider: optionalText(first) ?? target(known, undefined).provider };
  const more = second instanceof Dict ? optionsJson(second) : { model: optionalText(second) };
  const { provider, api_key: apiKey, model, warm }: JsonObject = { ...named, ...more };
  const world = {
    env: known.env,
    settings: known.settings,
    http: known.context.run.platform.http,
    clock: known.context.run.platform.clock,
  };
  const wish = {
    provider: String(provider ?? ''),
    apiKey: typeof apiKey === 'string' ? apiKey : undefined,
    model: typeof model === 'string' ? model : undefined,
    warm: warm === true,
  };
  return checkHealth(world, wish, known.context.signal).then((answer) => ({ ...answer }));
}

function traceSummary(context: Context): JsonObject {
  const { trace } = agentServices(context.run);
  const sum = (key: string): number => trace.reduce((total, event) => total + (typeof event[key] === 'number' ? event[key] : 0), 0);
  const count = (type: string): number => trace.filter((event) => event.type === type).length;
  return {
    llm_calls: count('llm_call'),
    llm_retries: count('llm_retry'),
    schema_retries: count('schema_retry'),
    input_tokens: sum('input_tokens'),
    output_tokens: sum('output_tokens'),
    cost_usd: sum('cost_usd'),
    total_duration_ms: sum('duration_ms'),
  };
}

export const LLM_MODELS: BuiltinGroup = {
  name: 'llm-models',
  title: 'Models and services',
  builtins: {
    llm_info: asking('() -> dict', 'What a call without options would ask: provider, model, and whether its key is set.', (known) => {
      const { provider, model } = target(known, undefined);
      return { provider, model, api_key_set: isAvailable(known, provider) };
    }),
    llm_providers: asking('() -> list<string>', 'Names of the services that are known, those of harn.toml included.', ({ settings }) =>
      Object.keys(settings.services).sort(),
    ),
    llm_available_providers: asking('() -> list<string>', 'Services that can be asked now: their key is set, or they need none.', (known) =>
      Object.keys(known.settings.services)
        .filter((name) => isAvailable(known, name))
        .sort(),
    ),
    llm_config: asking(
      '(provider: string = nil) -> dict',
      'Address, protocol and key variables of a service; of all services without an argument. Never the key itself. nil for an unknown one.',
      (known, args) => {
        if (args[0] === undefined) {
          return Object.fromEntries(Object.entries(known.settings.services).map(([name, service]) => [name, serviceJson(name, service)]));
        }
        const service = serviceOf(known, text(args));
        return service === undefined ? undefined : serviceJson(text(args), service);
      },
    ),
    llm_infer_provider: asking(
      '(model: string) -> string',
      'The service that a model name belongs to.',
      (known, args) => inferProvider(text(args)) ?? target(known, text(args)).provider,
    ),
    llm_model_tier: asking('(model: string) -> string', 'How much of a model a name promises: small, mid or frontier.', (_known, args) =>
      modelTier(text(args)),
    ),
    llm_resolve_model: asking(
      '(selector: string) -> dict',
      'What a model name or alias stands for: `{id, provider, alias, tool_format, tier}`.',
      (known, args) => resolved(known, text(args)),
    ),
    llm_model_info: asking(
      '(selector: string) -> dict',
      "As llm_resolve_model, with prices, capabilities, whether its service can be asked, and the service's small model.",
      (known, args) => modelInfo(known, text(args)),
    ),
    llm_pick_model: asking(
      '(target: string, options: dict = nil) -> dict',
      'A model for an alias or a tier, of `options.provider` where that is given: `{id, provider, tier}`.',
      pick,
    ),
    llm_known_models: asking('() -> list<string>', 'Names of the aliases, those of harn.toml included.', ({ settings }) =>
      Object.keys({ ...BUILT_IN_ALIASES, ...settings.aliases }).sort(),
    ),
    llm_qc_default_model: asking('(provider: string) -> string', 'The small model of a service; nil where none is known.', (known, args) =>
      qcDefault(known, text(args)),
    ),
    llm_provider_catalog: asking('() -> dict', 'Everything that is known: providers, aliases, models with prices, small models.', catalog),
    llm_cost: asking(
      '(model: string, input_tokens: int, output_tokens: int) -> float',
      'What a call would cost in US dollars; 0.0 for a model whose price is not known.',
      (_known, args) => {
        const count = (index: number): number => (typeof args[index] === 'number' ? args[index] : 0);
        const usage = { input_tokens: count(1), output_tokens: count(2), cache_read_tokens: 0, cache_write_tokens: 0 };
        return new Float(costUsd(text(args), usage));
      },
    ),
    llm_healthcheck: asking(
      '(provider: string | dict = nil, options: string | dict = nil) -> dict',
      'Whether a service can be reached, takes the key and serves the model: `{provider, valid, status, message, metadata}`. Options: api_key, model, warm.',
      health,
    ),
    provider_capabilities: asking(
      '(provider: string, model: string) -> dict',
      'What a model can do on a service; everything false for one that nothing is known of.',
      (known, args) => capabilities(known, text(args), text(args, 1)),
    ),
    provider_capabilities_install: asking(
      '(toml: string) -> nil',
      'Adds rules of capabilities for this run, as [[provider.NAME]] tables; they come before all others.',
      ({ context }, args) => {
        const services = agentServices(context.run);
        let provider: unknown;
        try {
          ({ provider } = parse(text(args)));
        } catch (error) {
          throw plainError(`provider_capabilities_install: ${errorText(error)}`);
        }
        const rules = decodeCapabilityRules((provider ?? {}) as Json, 'provider_capabilities_install'); // checked by the decoder
        services.capabilityRules = mergeRules(rules, services.capabilityRules);
        return undefined;
      },
    ),
    provider_capabilities_clear: asking('() -> nil', 'Forgets the rules that this run added.', ({ context }) => {
      agentServices(context.run).capabilityRules = {};
      return undefined;
    }),
    agent_trace: asking('() -> list<dict>', 'Model calls, retries and corrections of this run, oldest first.', ({ context }) => [
      ...agentServices(context.run).trace,
    ]),
    agent_trace_summary: asking('() -> dict', 'Counts and sums over agent_trace.', ({ context }) => traceSummary(context)),
  },
};
