const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Base 32 of RFC 4648, padded. */
export function encodeBase32(bytes: Uint8Array): string {
  let text = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(buffer >>> (bits - 5)) & 31];
    buffer &= (1 << bits) - 1;
  }
  if (bits > 0) text += ALPHABET[(buffer << (5 - bits)) & 31];
  return text.padEnd(Math.ceil(text.length / 8) * 8, '=');
}

/** Undefined for text that is not base 32; case and padding are free. */
export function decodeBase32(text: string): Uint8Array | undefined {
  const digits = text.toUpperCase().replace(/=+$/, '');
  if (!/^[A-Z2-7]*$/.test(digits) || [1, 3, 6].includes(digits.length % 8)) return undefined;
  const bytes: number[] = [];
  let buffer = 0;
  let bits = 0;
  for (const digit of digits) {
    buffer = (buffer << 5) | ALPHABET.indexOf(digit);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push(buffer >>> bits);
    buffer &= (1 << bits) - 1;
  }
  return new Uint8Array(bytes);
}
