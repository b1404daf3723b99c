import type { HttpProxy, HttpRoute, HttpTls } from '../../platform/platform.ts';
import { textArgument, textOption } from '../arguments.ts';
import type { Context } from '../context.ts';
import { dictGet } from '../dict.ts';
import { thrownText } from '../errors.ts';
import { orThrow } from '../file-errors.ts';
import { Dict, type Value } from '../value.ts';

/**
 * The options `proxy`, `proxy_auth` and `tls` of a request (spec/language.md 12.9); undefined when none of them has a say.
 * @throws a string for an address that is none, and for a file that cannot be read
 */
export function requestRoute(context: Context, url: URL, options: Dict): HttpRoute | undefined {
  const proxy = proxyFor(url, dictGet(options, 'proxy'), dictGet(options, 'proxy_auth'));
  const tls = dictGet(options, 'tls');
  if (proxy === undefined && !(tls instanceof Dict)) return undefined;
  return { proxy, tls: tls instanceof Dict ? tlsFrom(context, tls) : undefined };
}

/** @param given an address, or `{url, no_proxy}` */
function proxyFor(url: URL, given: Value, auth: Value): HttpProxy | undefined {
  if (given === undefined || given === false) return undefined;
  const address = given instanceof Dict ? textOption(given, 'url') : textArgument(given);
  if (address === undefined || address === '') return undefined;
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) throw thrownText(`http_request: invalid proxy: ${address}`);
  if (given instanceof Dict && isExempt(url, dictGet(given, 'no_proxy'))) return undefined;
  return { url: address, authorization: auth instanceof Dict ? basicAuthorization(auth) : undefined };
}

/** Hosts that are reached directly: a list, or a text with commas. `example.com` and `.example.com` mean its subdomains too. */
function isExempt(url: URL, given: Value): boolean {
  const hosts = Array.isArray(given) ? given.map((host: Value) => textArgument(host)) : textArgument(given).split(',');
  return hosts
    .map((host) =>
      host
        .trim()
        .toLowerCase()
        .replace(/^\*?\./, ''),
    )
    .some((host) => host === '*' || (host !== '' && (url.hostname === host || url.host === host || url.hostname.endsWith(`.${host}`))));
}

export function basicAuthorization(given: Dict): string {
  const user = textOption(given, 'user') ?? textOption(given, 'username') ?? '';
  const password = textOption(given, 'password') ?? textOption(given, 'pass') ?? '';
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

function tlsFrom(context: Context, options: Dict): HttpTls {
  const read = (name: string): string | undefined => {
    const path = textOption(options, name);
    return path === undefined ? undefined : orThrow(`Failed to read file ${path}`, () => context.run.platform.files.readText(path));
  };
  const identity = read('client_identity_path');
  return {
    ca: read('ca_bundle_path'),
    cert: read('client_cert_path') ?? identity,
    key: read('client_key_path') ?? identity,
    pinnedSha256: pins(dictGet(options, 'pinned_sha256')),
  };
}

function pins(given: Value): readonly string[] | undefined {
  if (given === undefined) return undefined;
  const texts = Array.isArray(given) ? given.map((pin: Value) => textArgument(pin)) : [textArgument(given)];
  return texts.map((pin) => {
    const hex = pin
      .replace(/^sha256[:/]/i, '')
      .replaceAll(':', '')
      .toLowerCase();
    if (!/^[0-9a-f]{64}$/.test(hex)) throw thrownText(`http_request: pinned_sha256 must be 64 hex digits, got ${pin}`);
    return hex;
  });
}
