import type { CapabilityRules } from './capabilities.ts';
import { SERVICES, type ServiceFacts } from './provider-catalog.ts';

/** What a project says of its models: `[llm]` and `[capabilities]` of `harn.toml`. */
export interface LlmSettings {
  /** Used when neither the call, nor the environment, nor the model's name decides. */
  readonly provider: string | undefined;
  /** Model of `provider`, when the call and the environment name none. */
  readonly model: string | undefined;
  readonly services: Readonly<Record<string, ServiceFacts>>;
  readonly aliases: Readonly<Record<string, ModelAlias>>;
  readonly capabilities: CapabilityRules;
}

export interface ModelAlias {
  readonly id: string;
  readonly provider: string;
}

export const NO_SETTINGS: LlmSettings = { provider: undefined, model: undefined, services: SERVICES, aliases: {}, capabilities: {} };

/** `my-proxy` has its settings in `MY_PROXY_…`. */
export function variablePrefix(provider: string): string {
  return provider.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
}

/** Rules of both; those of `first` are tried first. */
export function mergeRules(first: CapabilityRules, second: CapabilityRules): CapabilityRules {
  const names = new Set([...Object.keys(first), ...Object.keys(second)]);
  return Object.fromEntries([...names].map((name) => [name, [...(first[name] ?? []), ...(second[name] ?? [])]]));
}
