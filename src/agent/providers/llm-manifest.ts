import * as z from 'zod/mini';
import { decodeProblem, OWN_TEXTS_ONLY } from '../../base/decode-problem.ts';
import { HarnError } from '../../base/harn-error.ts';
import type { Json } from '../../base/json.ts';
import { lazily } from '../../base/lazily.ts';
import { decodeCapabilityRules } from './capability-rules.ts';
import { type LlmSettings, type ModelAlias, variablePrefix } from './llm-settings.ts';
import { SERVICES, type ServiceFacts } from './provider-catalog.ts';

/** Decoding `[llm]` and `[capabilities]` of `harn.toml`. */
const serviceSchema = lazily(() =>
  z.strictObject({
    base_url: z.string(),
    protocol: z.optional(z.enum(['openai', 'anthropic', 'ollama'])),
    auth_env: z.optional(z.union([z.string(), z.array(z.string())])),
    auth_style: z.optional(z.enum(['bearer', 'header', 'none'])),
    model: z.optional(z.string()),
    tiers: z.optional(z.record(z.string(), z.string())),
  }),
);

const settingsSchema = lazily(() =>
  z.looseObject({
    llm: z.optional(
      z.strictObject({
        provider: z.optional(z.string()),
        model: z.optional(z.string()),
        providers: z.optional(z.record(z.string(), serviceSchema())),
        aliases: z.optional(z.record(z.string(), z.union([z.string(), z.strictObject({ id: z.string(), provider: z.string() })]))),
      }),
    ),
    capabilities: z.optional(z.strictObject({ provider: z.optional(z.record(z.string(), z.array(z.unknown()))) })),
  }),
);

/**
 * Decodes the tables of a project file.
 *
 * @param path as messages show it
 * @throws HarnError `plain`: the key and what is wrong with it
 */
export function decodeLlmSettings(manifest: unknown, path: string): LlmSettings {
  const decoded = settingsSchema().safeParse(manifest, OWN_TEXTS_ONLY);
  if (!decoded.success) {
    const issue = decoded.error.issues[0];
    throw new HarnError('plain', `${path}: ${issue?.path.join('.') ?? ''}: ${decodeProblem(issue, manifest)}`);
  }
  const { llm = {}, capabilities } = decoded.data;
  const own = Object.entries(llm.providers ?? {}).map(([name, service]) => [name, serviceFacts(name, service)] as const);
  const aliases = Object.entries(llm.aliases ?? {}).map(([name, alias]) => [name, aliasOf(alias)] as const);
  return {
    provider: llm.provider,
    model: llm.model,
    services: { ...SERVICES, ...Object.fromEntries(own) },
    aliases: Object.fromEntries(aliases),
    capabilities: decodeCapabilityRules((capabilities?.provider ?? {}) as Json, path), // TOML gives nothing that is no JSON here
  };
}

function serviceFacts(name: string, service: z.infer<ReturnType<typeof serviceSchema>>): ServiceFacts {
  const given = service.auth_env ?? `${variablePrefix(name)}_API_KEY`;
  const needsKey = service.auth_style !== 'none' && service.auth_env !== undefined;
  return {
    protocol: service.protocol ?? 'openai',
    baseUrl: service.base_url,
    keyVariables: service.auth_style === 'none' ? [] : typeof given === 'string' ? [given] : given,
    key: service.auth_style === 'none' ? 'none' : needsKey ? 'required' : 'optional',
    defaultModel: service.model,
    tiers: service.tiers,
  };
}

/** `"provider:model"`, or a table with both. */
function aliasOf(alias: string | { readonly id: string; readonly provider: string }): ModelAlias {
  if (typeof alias !== 'string') return alias;
  const at = alias.indexOf(':');
  return at < 0 ? { provider: '', id: alias } : { provider: alias.slice(0, at), id: alias.slice(at + 1) };
}
