/** One `name=value` of a Cookie header. */
export interface CookiePair {
  readonly name: string;
  readonly value: string;
}

export interface CookieHeader {
  readonly pairs: readonly CookiePair[];
  /** Segments that are no cookies. */
  readonly invalid: readonly string[];
}

/** RFC 6265: a token, and octets without blanks, quotes, commas, semicolons and backslashes. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;

/** Takes Cookie headers apart. */
export function parseCookies(headers: readonly string[]): CookieHeader {
  const pairs: CookiePair[] = [];
  const invalid: string[] = [];
  for (const segment of headers.flatMap((header) => header.split(';'))) {
    const text = segment.trim();
    if (text === '') continue;
    const equals = text.indexOf('=');
    const name = text.slice(0, Math.max(0, equals)).trim();
    if (equals < 0 || !NAME.test(name)) invalid.push(text);
    else pairs.push({ name, value: unquoted(text.slice(equals + 1).trim()) });
  }
  return { pairs, invalid };
}

function unquoted(value: string): string {
  return value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
}

export interface CookieAttributes {
  readonly path?: string | undefined;
  readonly domain?: string | undefined;
  readonly maxAge?: number | undefined;
  /** As it stands in the header: an HTTP date. */
  readonly expires?: string | undefined;
  readonly httpOnly?: boolean | undefined;
  readonly secure?: boolean | undefined;
  readonly sameSite?: string | undefined;
}

/** @throws Error that says which part cannot stand in a header */
export function writeCookie(name: string, value: string, attributes: CookieAttributes): string {
  if (!NAME.test(name)) throw new Error(`invalid cookie name \`${name}\``);
  if (!VALUE.test(value)) throw new Error(`invalid value of cookie \`${name}\``);
  const sameSite = sameSiteOf(attributes);
  const parts = [`${name}=${value}`];
  const push = (label: string, text: string | number | undefined): void => {
    if (text === undefined) return;
    if (/[;\r\n]/.test(String(text))) throw new Error(`invalid ${label} of cookie \`${name}\``);
    parts.push(`${label}=${text}`);
  };
  push('Domain', attributes.domain);
  push('Path', attributes.path);
  push('Max-Age', attributes.maxAge);
  push('Expires', attributes.expires);
  if (attributes.httpOnly === true) parts.push('HttpOnly');
  if (attributes.secure === true) parts.push('Secure');
  push('SameSite', sameSite);
  return parts.join('; ');
}

const SAME_SITE: Readonly<Record<string, string>> = { strict: 'Strict', lax: 'Lax', none: 'None' };

function sameSiteOf({ sameSite, secure }: CookieAttributes): string | undefined {
  if (sameSite === undefined) return undefined;
  const known = SAME_SITE[sameSite.toLowerCase()];
  if (known === undefined) throw new Error(`same_site must be Strict, Lax, or None, got \`${sameSite}\``);
  // Browsers drop such a cookie without a word.
  if (known === 'None' && secure !== true) throw new Error('same_site None needs secure');
  return known;
}

/** What a browser would send after these responses. */
export function applySetCookies(pairs: readonly CookiePair[], setCookies: readonly string[]): CookiePair[] {
  const jar = new Map(pairs.map(({ name, value }) => [name, value]));
  for (const header of setCookies) {
    const [first = '', ...attributes] = header.split(';');
    const [pair] = parseCookies([first]).pairs;
    if (pair === undefined) continue;
    const isDeleted = attributes.some((attribute) => /^\s*max-age\s*=\s*(?:0+|-\d+)\s*$/i.test(attribute));
    if (isDeleted) jar.delete(pair.name);
    else jar.set(pair.name, pair.value);
  }
  return [...jar].map(([name, value]) => ({ name, value }));
}
