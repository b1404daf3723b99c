import { createHash } from 'node:crypto';

/** SHA-256 of the pieces one after another, in hexadecimal; texts as UTF-8. */
export function sha256(...pieces: readonly (string | Uint8Array)[]): string {
  return pieces.reduce((hash, piece) => hash.update(piece), createHash('sha256')).digest('hex');
}
