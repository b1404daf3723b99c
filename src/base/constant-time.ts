import { timingSafeEqual } from 'node:crypto';

/** Whether two texts or byte strings are the same, in a time that says nothing of what they hold; only their lengths show. */
export function isSameInConstantTime(left: string | Uint8Array, right: string | Uint8Array): boolean {
  const [one, other] = [Buffer.from(left), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}
