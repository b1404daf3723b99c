import { generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { makeSelfSigned } from '../../../src/runtime/http/self-signed.ts';
import { expressionTable } from '../expression-table.ts';

function pems(pair: { readonly privateKey: KeyObject; readonly publicKey: KeyObject }): string[] {
  return [pair.privateKey.export({ format: 'pem', type: 'pkcs8' }), pair.publicKey.export({ format: 'pem', type: 'spki' })].map((pem) =>
    JSON.stringify(pem.toString()),
  );
}

const [esPrivate, esPublic] = pems(generateKeyPairSync('ec', { namedCurve: 'P-256' }));
const [rsPrivate, rsPublic] = pems(generateKeyPairSync('rsa', { modulusLength: 2048 }));

expressionTable(
  'tokens, signed addresses, keys',
  [
    ['[jwt_verify("ES256", es, es_public).valid, jwt_verify("RS256", rs, rs_public).claims.sub]', '[true, a]'],
    ['jwt_verify("ES256", es + "x", es_public).error', 'invalid_signature'],
    ['jwt_verify("ES256", rs, es_public).error', 'wrong_algorithm'],
    ['starts_with(caught({ -> jwt_verify("ES256", es, "no key") }), "jwt_verify: ")', 'true'],
    ['jwt_verify("ES256", "a.b", es_public).error', 'malformed'],
    ['jwt_verify("ES256", jwt_sign("ES256", {exp: 10}, es_private), es_public).error', 'expired'],
    ['jwt_verify("ES256", jwt_sign("ES256", {exp: 10.5}, es_private), es_public).error', 'expired'],
    ['jwt_verify("ES256", jwt_sign("ES256", {nbf: timestamp() + 60.5}, es_private), es_public).error', 'not_yet_valid'],
    ['verify_signed_url(signed_url("/p", {}, "s", 300.7), "s", 299.5).expires_at', '300'],
    ['jwt_verify("ES256", jwt_sign("ES256", {nbf: 5000}, es_private), es_public).error', 'not_yet_valid'],
    ['jwt_sign("none", {}, "")', 'error: jwt_sign: unsupported algorithm `none`; expected ES256, RS256 or HS256'],
    ['jwt_sign("RS256", {}, "no key")', 'error: jwt_sign: the key is not PEM text that can be read'],
    ['jwt_verify("HS256", jwt_sign("HS256", {sub: "a"}, "secret"), "secret").claims', '{sub: a}'],
    ['jwt_verify("HS256", jwt_sign("HS256", {sub: "a"}, "secret"), "other").error', 'invalid_signature'],
    ['jwt_verify("HS256", es, es_public).error', 'wrong_algorithm'],
    ['ed25519_sign("zz", "m")', 'error: ed25519_sign: keys and signatures are hex'],
    ['ed25519_sign("00", "m")', 'error: ed25519_sign: key must have 32 bytes, got 1'],
    ['starts_with(caught({ -> jwt_sign("ES256", {}, "no key") }), "jwt_sign: ")', 'true'],
    [
      'verify_signed_url(link, "s", 90)',
      '{claims: {a: 1, b: x y}, expired: false, expires_at: 100, kid: nil, reason: ok, signature_valid: true, valid: true}',
    ],
    ['verify_signed_url(replace(link, "a=1", "a=2"), "s", 90).reason', 'bad_signature'],
    ['[verify_signed_url(link, "s", 101).reason, verify_signed_url(link, "s", 101, {skew_seconds: 5}).reason]', '[expired, ok]'],
    ['verify_signed_url(link, {k: "s"}, 90).reason', 'unknown_key'],
    ['verify_signed_url(signed_url("/p", {}, "s", 9, {kid: "k"}), {k: "s"}, 1).valid', 'true'],
    ['[verify_signed_url("/p?exp=1", "s", 0).reason, verify_signed_url("p", "s", 0).reason]', '[missing_signature, malformed]'],
    ['signed_url("/p", {exp: 1}, "s", 9)', 'error: signed_url: the parameter `exp` is reserved'],
    ['signed_url("p", {}, "s", 9)', 'error: signed_url: expected an absolute URL or an absolute path'],
    ['ed25519_verify(pair.public, "m", ed25519_sign(pair.private, "m"))', 'true'],
    ['ed25519_verify(pair.public, "n", ed25519_sign(pair.private, "m"))', 'false'],
    ['ed25519_sign("ab", "m")', 'error: ed25519_sign: key must have 32 bytes, got 1'],
    ['agreed()', '[true, 64]'],
  ],
  {
    setup: `mock_time(100000)
let es_private = ${esPrivate}
let es_public = ${esPublic}
let rs_public = ${rsPublic}
let es = jwt_sign("ES256", {sub: "a", exp: 1000}, es_private)
let rs = jwt_sign("RS256", {sub: "a"}, ${rsPrivate})
let link = signed_url("https://a.test/p?b=x+y", {a: 1}, "s", 100)
let pair = ed25519_keypair()
fn caught(f) { try { f() } catch (e) { return e } }
fn agreed() {
  let a = x25519_keypair()
  let b = x25519_keypair()
  let secret = x25519_agree(a.private, b.public)
  return [secret == x25519_agree(b.private, a.public), len(secret)]
}`,
  },
);

expressionTable('cookies and sessions', [
  ['cookie_parse("a=1; b=\\"x\\"; a=2; bad").cookies', '{a: 1, b: x}'],
  ['cookie_parse(["a=1", "b=2"]).cookies', '{a: 1, b: 2}'],
  ['cookie_parse({Cookie: "a=1"}).cookies', '{a: 1}'],
  ['cookie_parse("a=1; a=2; =x; y").duplicates', '{a: [1, 2]}'],
  ['cookie_parse("a=1; =x; y").invalid', '[=x, y]'],
  [
    'cookie_serialize("t", "v", {path: "/", max_age: 60, http_only: true, secure: true, same_site: "none"})',
    't=v; Path=/; Max-Age=60; HttpOnly; Secure; SameSite=None',
  ],
  ['cookie_serialize("a b", "v")', 'error: cookie_serialize: invalid cookie name `a b`'],
  ['cookie_serialize("a", "x;y")', 'error: cookie_serialize: invalid value of cookie `a`'],
  ['cookie_serialize("a", "v", {same_site: "None"})', 'error: cookie_serialize: same_site None needs secure'],
  ['cookie_serialize("a", "v", {path: "/; Domain=x"})', 'error: cookie_serialize: invalid Path of cookie `a`'],
  ['cookie_delete("a")', 'a=; Path=/; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; Secure; SameSite=Lax'],
  ['cookie_verify(cookie_sign("v.w", "s"), "s")', '{error: nil, ok: true, value: v.w}'],
  ['cookie_verify(cookie_sign("v", "s"), "other").error', 'invalid_signature'],
  ['cookie_verify("", "s").ok', 'false'],
  ['session_verify(session_sign({user: "a"}, "s"), "s").payload', '{user: a}'],
  ['session_verify(cookie_sign("v9.x", "s"), "s").error', 'unsupported_version'],
  ['session_from_cookies(cookie_round_trip(session_cookie("sid", {n: 1}, "s")).cookie_header, "sid", "s").payload', '{n: 1}'],
  ['session_from_cookies("", "sid", "s").error', 'missing_cookie'],
  ['cookie_round_trip("a=1; b=2", [cookie_delete("a"), "c=3; Path=/"]).cookie_header', 'b=2; c=3'],
]);

describe('certificates for tests', () => {
  test('name their hosts, are signed by themselves, and fit their key', () => {
    const { certificatePem, privateKeyPem } = makeSelfSigned(
      ['a.test', '127.0.0.1', '::1'],
      Date.UTC(2026, 0, 1),
      new Uint8Array([1, 2, 3]),
    );
    const certificate = new X509Certificate(certificatePem);
    expect(certificate.subjectAltName).toBe('DNS:a.test, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1');
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.subject).toBe('CN=a.test');
    expect(certificate.validTo).toContain('2027');
    expect(privateKeyPem).toContain('BEGIN PRIVATE KEY');
  });
});
