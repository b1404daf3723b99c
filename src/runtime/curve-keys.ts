import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject, sign, verify } from 'node:crypto';

/**
 * Ed25519 and X25519 with raw 32-byte keys. OpenSSL wants them inside DER, whose bytes before a key of fixed length
 * never change.
 */
type Curve = 'ed25519' | 'x25519';

const PRIVATE_PREFIX: Readonly<Record<Curve, string>> = {
  ed25519: '302e020100300506032b657004220420',
  x25519: '302e020100300506032b656e04220420',
};
const PUBLIC_PREFIX: Readonly<Record<Curve, string>> = {
  ed25519: '302a300506032b6570032100',
  x25519: '302a300506032b656e032100',
};
const KEY_BYTES = 32;

/** @throws Error unless the key has 32 bytes */
function der(prefix: string, key: Uint8Array): Buffer {
  if (key.length !== KEY_BYTES) throw new Error(`key must have ${KEY_BYTES} bytes, got ${key.length}`);
  return Buffer.concat([Buffer.from(prefix, 'hex'), key]);
}

function privateKey(curve: Curve, key: Uint8Array): KeyObject {
  return createPrivateKey({ key: der(PRIVATE_PREFIX[curve], key), format: 'der', type: 'pkcs8' });
}

function publicKey(curve: Curve, key: Uint8Array): KeyObject {
  return createPublicKey({ key: der(PUBLIC_PREFIX[curve], key), format: 'der', type: 'spki' });
}

/** The public key of 32 random bytes. */
export function publicKeyOf(curve: Curve, secret: Uint8Array): Uint8Array {
  const encoded = createPublicKey(privateKey(curve, secret)).export({ format: 'der', type: 'spki' });
  return new Uint8Array(encoded.subarray(-KEY_BYTES));
}

export function signEd25519(secret: Uint8Array, message: Uint8Array): Uint8Array {
  return new Uint8Array(sign(null, message, privateKey('ed25519', secret)));
}

export function verifyEd25519(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  return verify(null, message, publicKey('ed25519', key), signature);
}

/** The secret that both sides of an exchange arrive at. */
export function agreeX25519(secret: Uint8Array, theirs: Uint8Array): Uint8Array {
  return new Uint8Array(diffieHellman({ privateKey: privateKey('x25519', secret), publicKey: publicKey('x25519', theirs) }));
}
