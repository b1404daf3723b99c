import { createHmac, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { isSameInConstantTime } from '../../base/constant-time.ts';
import { errorText } from '../../base/harn-error.ts';
import { bytesArgument, intArgument, optionsArgument, textArgument, textOption } from '../arguments.ts';
import { toDouble } from '../arithmetic.ts';
import type { BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { agreeX25519, publicKeyOf, signEd25519, verifyEd25519 } from '../curve-keys.ts';
import { dictEntries, dictGet, dictOf } from '../dict.ts';
import { thrownText } from '../errors.ts';
import { signUrl, verifyUrl } from '../http/signed-url.ts';
import { parseJson, stringify } from '../json.ts';
import { Dict, type Value } from '../value.ts';

/** What a library refuses becomes a thrown text. */
function guarded<T>(name: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw thrownText(`${name}: ${errorText(error)}`);
  }
}

// ---- JSON web tokens ----

interface Algorithm {
  readonly sign: (text: string, key: string) => Buffer;
  readonly fits: (text: string, key: string, signature: Buffer) => boolean;
}

/** OpenSSL names the place in its own source; what the script needs to know is that this is no key. */
function pemKey(read: (pem: string) => KeyObject, pem: string): KeyObject {
  try {
    return read(pem);
  } catch {
    throw new Error('the key is not PEM text that can be read');
  }
}

function keyPairAlgorithm(options: { readonly dsaEncoding?: 'ieee-p1363' }): Algorithm {
  return {
    sign: (text, pem) => sign('sha256', Buffer.from(text), { key: pemKey(createPrivateKey, pem), ...options }),
    fits: (text, pem, signature) => verify('sha256', Buffer.from(text), { key: pemKey(createPublicKey, pem), ...options }, signature),
  };
}

const hmacOf = (text: string, secret: string): Buffer => createHmac('sha256', secret).update(text).digest();

/** Signatures of ES256 are the two numbers side by side, not DER (RFC 7518, 3.4). */
const ALGORITHMS: Readonly<Record<string, Algorithm>> = {
  ES256: keyPairAlgorithm({ dsaEncoding: 'ieee-p1363' }),
  RS256: keyPairAlgorithm({}),
  HS256: {
    sign: hmacOf,
    fits: (text, secret, signature) => isSameInConstantTime(hmacOf(text, secret), signature),
  },
};

function algorithmOf(name: string, algorithm: Value): Algorithm & { readonly alg: string } {
  const alg = textArgument(algorithm);
  const known = Object.hasOwn(ALGORITHMS, alg) ? ALGORITHMS[alg] : undefined;
  if (known === undefined) throw thrownText(`${name}: unsupported algorithm \`${alg}\`; expected ES256, RS256 or HS256`);
  return { alg, ...known };
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

function signToken(algorithm: Value, claims: Value, key: Value): string {
  const known = algorithmOf('jwt_sign', algorithm);
  const signed = `${base64url(JSON.stringify({ alg: known.alg, typ: 'JWT' }))}.${base64url(stringify(claims))}`;
  const signature = guarded('jwt_sign', () => known.sign(signed, textArgument(key)));
  return `${signed}.${signature.toString('base64url')}`;
}

/** The algorithm is the one that the caller names, never the one that the token claims. */
function verifyToken(context: Context, algorithm: Value, token: Value, key: Value): Value {
  const known = algorithmOf('jwt_verify', algorithm);
  const [header, payload, signature, ...more] = textArgument(token).split('.');
  if (header === undefined || payload === undefined || signature === undefined || more.length > 0) return verdict('malformed');
  const claims = decodePart(payload);
  const head = decodePart(header);
  if (!(claims instanceof Dict) || !(head instanceof Dict)) return verdict('malformed');
  if (dictGet(head, 'alg') !== known.alg) return verdict('wrong_algorithm');
  const isValid = guarded('jwt_verify', () => known.fits(`${header}.${payload}`, textArgument(key), Buffer.from(signature, 'base64url')));
  if (!isValid) return verdict('invalid_signature');
  const now = context.run.platform.clock.now() / 1000;
  const [expires, notBefore] = [toDouble(dictGet(claims, 'exp')), toDouble(dictGet(claims, 'nbf'))];
  if (expires !== undefined && now >= expires) return verdict('expired', claims);
  if (notBefore !== undefined && now < notBefore) return verdict('not_yet_valid', claims);
  return dictOf([
    ['valid', true],
    ['claims', claims],
    ['header', head],
    ['error', undefined],
  ]);
}

function verdict(error: string, claims?: Dict): Value {
  return dictOf([
    ['valid', false],
    ['claims', claims],
    ['error', error],
  ]);
}

function decodePart(part: string): Value {
  try {
    return parseJson(Buffer.from(part, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

// ---- signed addresses ----

function verifyAddress(url: Value, secrets: Value, now: Value, options: Dict): Value {
  const secretOf = (keyId: string | undefined): string | undefined => {
    if (!(secrets instanceof Dict)) return textArgument(secrets);
    return keyId === undefined ? undefined : textOption(secrets, keyId);
  };
  const found = verifyUrl(textArgument(url), secretOf, intArgument(now, 0), intArgument(dictGet(options, 'skew_seconds'), 0));
  return dictOf([
    ['valid', found.reason === 'ok'],
    ['reason', found.reason],
    ['signature_valid', found.isSignatureValid],
    ['expired', found.isExpired],
    ['expires_at', found.expiresAt],
    ['kid', found.keyId],
    ['claims', dictOf(found.claims)],
  ]);
}

// ---- keys ----

/** @throws Error unless it is bytes or an even count of hex digits */
function hexKey(value: Value): Uint8Array {
  if (value instanceof Uint8Array) return value;
  const text = textArgument(value);
  if (!/^(?:[0-9a-fA-F]{2})*$/.test(text)) throw new Error('keys and signatures are hex');
  return new Uint8Array(Buffer.from(text, 'hex'));
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function keyPair(context: Context, curve: 'ed25519' | 'x25519'): Value {
  const secret = context.run.platform.random.bytes(32);
  return dictOf([
    ['private', hex(secret)],
    ['public', hex(publicKeyOf(curve, secret))],
  ]);
}

/** Tokens, signed addresses, key pairs (spec/language.md 12.12). */
export const SIGNING: BuiltinGroup = {
  name: 'signing',
  title: 'Signatures',
  errors: [
    { text: 'NAME: unsupported algorithm `A`; expected ES256, RS256 or HS256', when: '`jwt_sign`, `jwt_verify`' },
    { text: 'NAME: keys and signatures are hex', when: '`ed25519_…`, `x25519_…`' },
    { text: 'NAME: …', when: 'a key that cannot be read' },
  ],
  builtins: {
    jwt_sign: {
      signature: '(algorithm: string, claims: dict, key: string) -> string',
      doc: 'A JSON web token with these claims, signed by ES256 or RS256 with a private key (PEM), or by HS256 with a secret.',
      call: (_c, _d, algorithm, claims, key) => signToken(algorithm, claims, key),
    },
    jwt_verify: {
      signature: '(algorithm: string, token: string, key: string) -> dict',
      doc: '`{valid, claims, error}` of a token: its signature, `exp` and `nbf` are checked.',
      call: (c, _d, algorithm, token, key) => verifyToken(c, algorithm, token, key),
    },
    signed_url: {
      signature: '(base: any, claims: any, secret: any, expires_at: int | float, options: any = nil) -> string',
      doc: 'An absolute URL or path with claims and a signature that holds until an instant in Unix seconds.',
      call: (_c, _d, base, claims, secret, expiresAt, options) => {
        const pairs = dictEntries(optionsArgument(claims)).map(([name, value]) => [name, textArgument(value)] as const);
        const keyId = textOption(optionsArgument(options), 'kid');
        return guarded('signed_url', () => signUrl(textArgument(base), pairs, textArgument(secret), intArgument(expiresAt, 0), keyId));
      },
    },
    verify_signed_url: {
      signature: '(url: any, secrets: any, now: int | float, options: any = nil) -> dict',
      doc: '`{valid, reason, signature_valid, expired, expires_at, kid, claims}`. `secrets` is one secret, or a dict of them by key id.',
      call: (_c, _d, url, secrets, now, options) => verifyAddress(url, secrets, now, optionsArgument(options)),
    },
    ed25519_keypair: {
      signature: '() -> dict',
      doc: 'A new pair of keys for signatures: `{private, public}` in hex.',
      call: (c) => keyPair(c, 'ed25519'),
    },
    ed25519_sign: {
      signature: '(private_key: any, message: any) -> string',
      doc: 'The signature of a message, in hex.',
      call: (_c, _d, key, message) => guarded('ed25519_sign', () => hex(signEd25519(hexKey(key), bytesArgument(message)))),
    },
    ed25519_verify: {
      signature: '(public_key: any, message: any, signature: any) -> bool',
      doc: 'True when the signature fits the message and the key.',
      call: (_c, _d, key, message, signature) =>
        guarded('ed25519_verify', () => verifyEd25519(hexKey(key), bytesArgument(message), hexKey(signature))),
    },
    x25519_keypair: {
      signature: '() -> dict',
      doc: 'A new pair of keys for an exchange: `{private, public}` in hex.',
      call: (c) => keyPair(c, 'x25519'),
    },
    x25519_agree: {
      signature: '(private_key: any, public_key: any) -> string',
      doc: 'The secret that both sides of an exchange share, in hex.',
      call: (_c, _d, mine, theirs) => guarded('x25519_agree', () => hex(agreeX25519(hexKey(mine), hexKey(theirs)))),
    },
  },
};
