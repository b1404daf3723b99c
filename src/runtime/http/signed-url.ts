import { createHmac } from 'node:crypto';
import { isSameInConstantTime } from '../../base/constant-time.ts';

/** Parameters that carry the signature itself. */
const EXPIRES = 'exp';
const KEY_ID = 'kid';
const SIGNATURE = 'sig';

type Pair = readonly [string, string];

interface Target {
  /** Everything before the query: scheme, host and path, or the path alone. */
  readonly base: string;
  readonly pairs: readonly Pair[];
  readonly fragment: string;
}

/** @throws Error when the text is neither an absolute URL nor an absolute path */
function parseTarget(text: string): Target {
  const isPath = text.startsWith('/');
  const escaped = text.replaceAll(' ', '%20');
  if (!isPath && !URL.canParse(escaped)) throw new Error('expected an absolute URL or an absolute path');
  const url = new URL(escaped, 'http://path.invalid');
  const base = isPath ? url.pathname : `${url.protocol}//${url.host}${url.pathname}`;
  return { base, pairs: [...url.searchParams.entries()], fragment: url.hash };
}

/** RFC 3986: a blank is `%20`, only unreserved characters stay. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Sorted, so that the order of parameters does not matter to the signature. */
function queryOf(pairs: readonly Pair[]): string {
  return pairs
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
}

function signatureOf(base: string, query: string, secret: string): string {
  return createHmac('sha256', secret).update(`${base}?${query}`).digest('base64url');
}

/**
 * A URL or path that proves who made it, and until when it holds.
 * @throws Error when a claim would hide one of the parameters of the signature, or the base is not absolute
 */
export function signUrl(text: string, claims: readonly Pair[], secret: string, expiresAt: number, keyId: string | undefined): string {
  const { base, pairs, fragment } = parseTarget(text);
  const all = [...pairs, ...claims];
  const reserved = all.find(([name]) => name === EXPIRES || name === KEY_ID || name === SIGNATURE);
  if (reserved !== undefined) throw new Error(`the parameter \`${reserved[0]}\` is reserved`);
  all.push([EXPIRES, String(expiresAt)]);
  if (keyId !== undefined) all.push([KEY_ID, keyId]);
  const query = queryOf(all);
  return `${base}?${query}&${SIGNATURE}=${signatureOf(base, query, secret)}${fragment}`;
}

export interface UrlVerdict {
  readonly reason: 'ok' | 'malformed' | 'missing_signature' | 'missing_expiry' | 'unknown_key' | 'bad_signature' | 'expired';
  readonly isSignatureValid: boolean;
  readonly isExpired: boolean;
  readonly expiresAt: number | undefined;
  readonly keyId: string | undefined;
  readonly claims: readonly Pair[];
}

/**
 * Judges a signed URL; never throws for what is wrong with it.
 * @param secretOf the secret of a key id, undefined when there is none
 */
export function verifyUrl(
  text: string,
  secretOf: (keyId: string | undefined) => string | undefined,
  now: number,
  skew: number,
): UrlVerdict {
  let target: Target;
  try {
    target = parseTarget(text);
  } catch {
    return { reason: 'malformed', isSignatureValid: false, isExpired: false, expiresAt: undefined, keyId: undefined, claims: [] };
  }
  const parameterOf = (wanted: string): string | undefined => target.pairs.find(([name]) => name === wanted)?.[1];
  const [signature, keyId, expiry] = [parameterOf(SIGNATURE), parameterOf(KEY_ID), parameterOf(EXPIRES)];
  const expiresAt = expiry !== undefined && /^-?\d+$/.test(expiry) ? Number(expiry) : undefined;
  const claims = target.pairs.filter(([name]) => name !== SIGNATURE && name !== KEY_ID && name !== EXPIRES);
  const secret = secretOf(keyId);
  const expected =
    secret === undefined ? undefined : signatureOf(target.base, queryOf(target.pairs.filter(([name]) => name !== SIGNATURE)), secret);
  const isSignatureValid = signature !== undefined && expected !== undefined && isSameInConstantTime(signature, expected);
  const isExpired = expiresAt !== undefined && now > expiresAt + skew;
  const facts = { isSignatureValid, isExpired, expiresAt, keyId, claims };
  if (signature === undefined) return { reason: 'missing_signature', ...facts };
  if (expiresAt === undefined) return { reason: 'missing_expiry', ...facts };
  if (secret === undefined) return { reason: 'unknown_key', ...facts };
  if (!isSignatureValid) return { reason: 'bad_signature', ...facts };
  return { reason: isExpired ? 'expired' : 'ok', ...facts };
}
