import { llmError } from './llm-errors.ts';
import { type LlmSettings, variablePrefix } from './llm-settings.ts';
import type { ServiceFacts } from './provider-catalog.ts';

/** Where a service is and what opens it: environment first, then `harn.toml`, then what is known of it. */
export interface Endpoint {
  readonly baseUrl: string;
  /** Undefined where the service wants none, or none is set and it can do without. */
  readonly key: string | undefined;
}

export interface EndpointWorld {
  readonly env: (name: string) => string | undefined;
  readonly settings: LlmSettings;
}

interface Asked {
  readonly provider: string;
  readonly model: string;
}

/**
 * What is known of a provider by its name. A name of which only `<NAME>_BASE_URL` is known is a server that speaks
 * OpenAI's protocol; its key, if it wants one, is in `<NAME>_API_KEY`.
 */
export function serviceOf({ env, settings }: EndpointWorld, provider: string): ServiceFacts | undefined {
  const known = Object.hasOwn(settings.services, provider) ? settings.services[provider] : undefined;
  if (known !== undefined) return known;
  const baseUrl = env(`${variablePrefix(provider)}_BASE_URL`);
  if (baseUrl === undefined || baseUrl === '') return undefined;
  return { protocol: 'openai', baseUrl, keyVariables: [`${variablePrefix(provider)}_API_KEY`], key: 'optional' };
}

/** @throws HarnError `llm`: not_found for an unknown name, auth for a key that is missing or cannot be one, generic for a bad address */
export function endpointOf(world: EndpointWorld, service: ServiceFacts, asked: Asked): Endpoint {
  return { baseUrl: baseUrlOf(world, service, asked), key: keyOf(world, service, asked) };
}

export function unknownProvider({ provider, model }: Asked): Error {
  const variable = `${variablePrefix(provider)}_BASE_URL`;
  const message = `unknown provider: ${provider}; set ${variable} for a server of your own`;
  return llmError({ category: 'not_found', message, provider, model });
}

function baseUrlOf({ env }: EndpointWorld, service: ServiceFacts, asked: Asked): string {
  const variables = service.urlVariables ?? [`${variablePrefix(asked.provider)}_BASE_URL`];
  const variable = variables.find((name) => (env(name) ?? '') !== '');
  const given = variable === undefined ? service.baseUrl : (env(variable) as string);
  const text = service.protocol === 'ollama' ? ollamaAddress(given) : given.trim();
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const fault =
    url === undefined || !/^https?:$/.test(url.protocol)
      ? 'is no http or https address'
      : url.username !== '' || url.password !== ''
        ? 'holds a user name or password; a key belongs in a variable of its own'
        : undefined;
  if (fault !== undefined) {
    const message = `${asked.provider}: ${variable ?? 'base_url'} ${fault}`;
    throw llmError({ category: 'generic', reason: 'invalid_request', message, ...asked });
  }
  const base = text.replace(/\/+$/, '');
  // The variable of a local server has no `/v1`; people write it all the same.
  return asked.provider === 'local' && !base.endsWith('/v1') ? `${base}/v1` : base;
}

const OLLAMA_PORT = '11434';

/** `OLLAMA_HOST` as Ollama reads it: scheme and port may be missing, and the address to listen on is no address to call. */
function ollamaAddress(host: string): string {
  const text = host.trim();
  const full = text.includes('://') ? text : `http://${text.startsWith(':') ? `localhost${text}` : text}`;
  if (!URL.canParse(full)) return full;
  const url = new URL(full);
  const hasPort = /:\d+$/.test(full.replace(/^\w+:\/\//, '').replace(/\/.*$/, ''));
  if (!hasPort && !text.includes('://')) url.port = OLLAMA_PORT;
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  return url.href;
}

/** Spaces and line ends that came with pasting are no part of a key. */
export function keyOf({ env }: EndpointWorld, service: ServiceFacts, asked: Asked): string | undefined {
  if (service.key === 'none') return undefined;
  const variable = service.keyVariables.find((name) => (env(name) ?? '').trim() !== '');
  if (variable === undefined) {
    if (service.key === 'optional') return undefined;
    const [first, ...others] = service.keyVariables;
    const also = others.length === 0 ? '' : ` (or ${others.join(', ')})`;
    throw llmError({ category: 'auth', message: `${asked.provider} needs an API key in ${first}${also}`, ...asked });
  }
  const key = (env(variable) as string).trim();
  // A header cannot carry it, and the error of fetch would show it.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    const message = `${asked.provider}: ${variable} holds characters that no API key has (a space, a line break, a letter outside ASCII)`;
    throw llmError({ category: 'auth', message, ...asked });
  }
  return key;
}
