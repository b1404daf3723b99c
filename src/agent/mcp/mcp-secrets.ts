import { isJsonObject, type Json } from '../../base/json.ts';

/**
 * What a server was given to be reached, or to reach others, and may repeat in anything that it says. It is taken out once,
 * before anybody has it, as credentials are out of results of tools (docs/decisions/005, 019).
 */
const SECRET_NAME = /key|token|secret|passw|auth|credential/i;

/** Shorter values are no secrets, and stand in too many other words. */
const SHORTEST = 6;

/** Parts of a path that are hardly words. */
const SHORTEST_OF_PATH = 12;

function isLong(value: string): boolean {
  return value.length >= SHORTEST;
}

/** Variables whose names say that they hold one. */
export function secretsOfEnvironment(variables: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(variables).flatMap(([name, value]) => (SECRET_NAME.test(name) && isLong(value) ? [value] : []));
}

/** A header as a whole, and without `Bearer` before it. */
export function secretsOfHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.values(headers).flatMap((value) => [value, value.replace(/^\w+ +/, '')].filter(isLong));
}

/** Of an address that is a secret itself: all of it, and whatever in it may be the part that is. */
export function secretsOfAddress({ href, username, password, pathname, searchParams }: URL): readonly string[] {
  const path = pathname.split('/').filter((part) => part.length >= SHORTEST_OF_PATH);
  return [href, ...[username, password, ...searchParams.values()].filter(isLong), ...path];
}

const QUERY_NAME = /(^|[_-])(api[_-]?key|key|token|secret|password|passwd|auth|credentials?)($|[_-])/i;

/** Names the secret that an address holds in the open; undefined where it holds none. */
export function secretIn(address: URL): string | undefined {
  if (address.username !== '' || address.password !== '') return 'a user name or password';
  const name = [...address.searchParams.keys()].find((key) => QUERY_NAME.test(key.replaceAll(/([a-z])([A-Z])/g, '$1_$2')));
  return name === undefined ? undefined : `a secret (${name})`;
}

/** A text, or every text of a value, with `[secret]` in the place of each secret. */
export function withoutSecrets<T extends Json>(value: T, secrets: readonly string[]): T {
  return secrets.length === 0 ? value : (masked(value, secrets) as T); // the same shape with other texts
}

function masked(value: Json, secrets: readonly string[]): Json {
  if (typeof value === 'string') return secrets.reduce((text, secret) => text.replaceAll(secret, '[secret]'), value);
  if (Array.isArray(value)) return value.map((one: Json) => masked(one, secrets));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, one === undefined ? null : masked(one, secrets)]));
}
