import { createHmac } from 'node:crypto';
import { isSameInConstantTime } from '../../base/constant-time.ts';
import { errorText } from '../../base/harn-error.ts';
import { optionsArgument, textArgument, textOption } from '../arguments.ts';
import type { BuiltinGroup } from '../builtin.ts';
import { dictGet, dictHas, dictKeys, dictOf } from '../dict.ts';
import { thrownText } from '../errors.ts';
import { applySetCookies, type CookieAttributes, type CookiePair, parseCookies, writeCookie } from '../http/cookie.ts';
import { parseJson, stringify } from '../json.ts';
import { Dict, type Value } from '../value.ts';

/** Header texts: one, several, or those of a headers dict. */
function headerTexts(value: Value, name: string): string[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((item: Value) => headerTexts(item, name));
  if (!(value instanceof Dict)) return [textArgument(value)];
  const key = dictKeys(value).find((candidate) => candidate.toLowerCase() === name);
  return key === undefined ? [] : headerTexts(dictGet(value, key), name);
}

function parse(headers: Value): { readonly cookies: Dict; readonly facts: Dict } {
  const { pairs, invalid } = parseCookies(headerTexts(headers, 'cookie'));
  const byName = groupByName(pairs);
  const values = [...byName].map(([name, group]) => [name, group.map(({ value }) => value)] as const);
  const cookies = dictOf(values.map(([name, [first]]) => [name, first]));
  const facts = dictOf([
    ['cookies', cookies],
    [
      'pairs',
      pairs.map(({ name, value }) =>
        dictOf([
          ['name', name],
          ['value', value],
        ]),
      ),
    ],
    ['duplicates', dictOf(values.filter(([, all]) => all.length > 1))],
    ['invalid', invalid],
  ]);
  return { cookies, facts };
}

function attributesOf(options: Dict, defaults: CookieAttributes = {}): CookieAttributes {
  const flag = (name: string, fallback: boolean | undefined): boolean | undefined =>
    dictHas(options, name) ? dictGet(options, name) === true : fallback;
  const maxAge = dictGet(options, 'max_age');
  return {
    path: textOption(options, 'path') ?? defaults.path,
    domain: textOption(options, 'domain'),
    maxAge: typeof maxAge === 'number' ? maxAge : defaults.maxAge,
    expires: textOption(options, 'expires') ?? defaults.expires,
    httpOnly: flag('http_only', defaults.httpOnly),
    secure: flag('secure', defaults.secure),
    sameSite: textOption(options, 'same_site') ?? defaults.sameSite,
  };
}

function write(builtin: string, name: Value, value: string, attributes: CookieAttributes): string {
  try {
    return writeCookie(textArgument(name), value, attributes);
  } catch (error) {
    throw thrownText(`${builtin}: ${errorText(error)}`);
  }
}

/** A cookie that carries a session is for the server alone. */
const SESSION: CookieAttributes = { path: '/', httpOnly: true, secure: true, sameSite: 'Lax' };
const DELETED: CookieAttributes = { ...SESSION, maxAge: 0, expires: 'Thu, 01 Jan 1970 00:00:00 GMT' };

// ---- signed values ----

function signed(value: string, secret: Value): string {
  return `${value}.${createHmac('sha256', textArgument(secret)).update(value).digest('base64url')}`;
}

/** The value in front of its signature; undefined when they do not fit. */
function unsigned(text: string, secret: Value): string | undefined {
  const dot = text.lastIndexOf('.');
  const value = text.slice(0, Math.max(0, dot));
  return dot >= 0 && isSameInConstantTime(text, signed(value, secret)) ? value : undefined;
}

function verdict(name: 'value' | 'payload', content: Value, error?: string): Dict {
  return dictOf([
    ['ok', error === undefined],
    [name, content],
    ['error', error],
  ]);
}

/** Marks the format, so that another one can follow. */
const VERSION = 'v1.';

function signSession(payload: Value, secret: Value): string {
  return signed(`${VERSION}${Buffer.from(stringify(payload)).toString('base64url')}`, secret);
}

function verifySession(token: string, secret: Value): Dict {
  const value = unsigned(token, secret);
  if (value === undefined) return verdict('payload', undefined, 'invalid_signature');
  if (!value.startsWith(VERSION)) return verdict('payload', undefined, 'unsupported_version');
  try {
    return verdict('payload', parseJson(Buffer.from(value.slice(VERSION.length), 'base64url').toString('utf8')));
  } catch {
    return verdict('payload', undefined, 'malformed_payload');
  }
}

function roundTrip(request: Value, setCookie: Value): Dict {
  const before = parseCookies(headerTexts(request, 'cookie')).pairs;
  const pairs = applySetCookies(before, headerTexts(setCookie, 'set-cookie'));
  return dictOf([
    ['cookie_header', pairs.map(({ name, value }) => `${name}=${value}`).join('; ')],
    ['cookies', dictOf(pairs.map(({ name, value }) => [name, value]))],
  ]);
}

/** Cookies and stateless sessions (spec/language.md 12.12). */
export const COOKIES: BuiltinGroup = {
  name: 'cookies',
  title: 'Cookies and sessions',
  errors: [{ text: 'cookie_serialize: invalid cookie name `N`', when: 'a name or a value that cannot stand in a header' }],
  builtins: {
    cookie_parse: {
      signature: '(headers: any) -> dict',
      doc: '`{cookies, pairs, duplicates, invalid}` of Cookie headers; `cookies` has the first value of each name.',
      call: (_c, _d, headers) => parse(headers).facts,
    },
    cookie_serialize: {
      signature: '(name: any, value: any, options: any = nil) -> string',
      doc: 'A Set-Cookie header; throws for names and values that cannot stand in one.',
      call: (_c, _d, name, value, options) => write('cookie_serialize', name, textArgument(value), attributesOf(optionsArgument(options))),
    },
    cookie_delete: {
      signature: '(name: any, options: any = nil) -> string',
      doc: 'A Set-Cookie header that removes a cookie.',
      call: (_c, _d, name, options) => write('cookie_delete', name, '', attributesOf(optionsArgument(options), DELETED)),
    },
    cookie_sign: {
      signature: '(value: any, secret: any) -> string',
      doc: 'The value with a signature behind it.',
      call: (_c, _d, value, secret) => signed(textArgument(value), secret),
    },
    cookie_verify: {
      signature: '(signed_value: any, secret: any) -> dict',
      doc: '`{ok, value, error}` of a signed value.',
      call: (_c, _d, text, secret) => {
        const value = unsigned(textArgument(text), secret);
        return verdict('value', value, value === undefined ? 'invalid_signature' : undefined);
      },
    },
    session_sign: {
      signature: '(payload: any, secret: any) -> string',
      doc: 'A token that carries a JSON payload and its signature.',
      call: (_c, _d, payload, secret) => signSession(payload, secret),
    },
    session_verify: {
      signature: '(token: any, secret: any) -> dict',
      doc: '`{ok, payload, error}` of a session token.',
      call: (_c, _d, token, secret) => verifySession(textArgument(token), secret),
    },
    session_cookie: {
      signature: '(name: any, payload: any, secret: any, options: any = nil) -> string',
      doc: 'A Set-Cookie header with a session token: for the whole site, hidden from scripts, sent over HTTPS only.',
      call: (_c, _d, name, payload, secret, options) =>
        write('session_cookie', name, signSession(payload, secret), attributesOf(optionsArgument(options), SESSION)),
    },
    session_from_cookies: {
      signature: '(headers: any, name: any, secret: any) -> dict',
      doc: '`{ok, payload, error}` of the session token in Cookie headers.',
      call: (_c, _d, headers, name, secret) => {
        const token = dictGet(parse(headers).cookies, textArgument(name));
        return token === undefined ? verdict('payload', undefined, 'missing_cookie') : verifySession(textArgument(token), secret);
      },
    },
    cookie_round_trip: {
      signature: '(request_cookie: any, set_cookie: any = nil) -> dict',
      doc: '`{cookie_header, cookies}` of the request that would follow these responses. One argument alone is the Set-Cookie headers.',
      call: (_c, _d, ...args) => (args.length < 2 ? roundTrip(undefined, args[0]) : roundTrip(args[0], args[1])),
    },
  },
};

function groupByName(pairs: readonly CookiePair[]): Map<string, CookiePair[]> {
  const groups = new Map<string, CookiePair[]>();
  for (const pair of pairs) groups.set(pair.name, [...(groups.get(pair.name) ?? []), pair]);
  return groups;
}
