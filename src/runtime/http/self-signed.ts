import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { isIP } from 'node:net';

/**
 * A certificate for tests on this machine: ECDSA over P-256, signed by itself. Node makes keys but no certificates, so the few
 * structures of X.509 that are needed are written here as DER.
 */
export interface SelfSigned {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

const YEAR_MS = 365 * 86_400_000;

/** @param serial random bytes */
export function makeSelfSigned(hosts: readonly string[], now: number, serial: Uint8Array): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(oid('550403'), utf8(hosts[0] ?? 'localhost'))));
  const algorithm = sequence(oid('2a8648ce3d040302'));
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), serial])),
    algorithm,
    name,
    // An hour back, for clocks that are a little late.
    sequence(time(now - 3_600_000), time(now + YEAR_MS)),
    name,
    publicKey.export({ format: 'der', type: 'spki' }),
    explicit(3, sequence(alternativeNames(hosts), keyIdentifier(publicKey.export({ format: 'der', type: 'spki' })))),
  );
  const certificate = sequence(body, algorithm, bits(sign('sha256', body, privateKey)));
  return {
    certificatePem: pem('CERTIFICATE', certificate),
    privateKeyPem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

function alternativeNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) => (isIP(host) === 0 ? tagged(0x82, Buffer.from(host, 'latin1')) : tagged(0x87, addressBytes(host))));
  return sequence(oid('551d11'), octets(sequence(...names)));
}

function keyIdentifier(spki: Buffer): Buffer {
  return sequence(oid('551d0e'), octets(octets(createHash('sha1').update(spki).digest())));
}

function addressBytes(host: string): Buffer {
  if (isIP(host) === 4) return Buffer.from(host.split('.').map(Number));
  const [head = '', tail = ''] = host.split('::');
  const groups = (text: string): number[] => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [left, right] = [groups(head), host.includes('::') ? groups(tail) : []];
  const all = [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 255]));
}

// ---- DER ----

function tagged(tag: number, content: Uint8Array): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Uint8Array[]): Buffer => tagged(0x30, Buffer.concat(parts));
const set = (...parts: Uint8Array[]): Buffer => tagged(0x31, Buffer.concat(parts));
const integer = (bytes: Uint8Array): Buffer => tagged(0x02, bytes);
const octets = (bytes: Uint8Array): Buffer => tagged(0x04, bytes);
const bits = (bytes: Uint8Array): Buffer => tagged(0x03, Buffer.concat([Buffer.from([0]), bytes]));
const oid = (hex: string): Buffer => tagged(0x06, Buffer.from(hex, 'hex'));
const utf8 = (text: string): Buffer => tagged(0x0c, Buffer.from(text));
const explicit = (number: number, content: Uint8Array): Buffer => tagged(0xa0 + number, content);

/** `YYYYMMDDHHMMSSZ`; X.509 wants two-digit years until 2050. */
function time(instant: number): Buffer {
  const digits = `${new Date(instant).toISOString().slice(0, 19).replaceAll(/\D/g, '')}Z`;
  return Number(digits.slice(0, 4)) < 2050 ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits));
}

function pem(label: string, der: Buffer): string {
  return `-----BEGIN ${label}-----\n${(der.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END ${label}-----\n`;
}
