import { type ClaimWorld, claimPathOf, readClaim, readLiveClaim } from '../store/claim-file.ts';
import { livenessOf } from '../store/process-identity.ts';
import type { SeenProcess } from './suspension-head.ts';

/**
 * The process that a claim names. One of another host cannot be asked, but as long as its lease holds its owner counts
 * as alive.
 */
export function claimOwner(world: Omit<ClaimWorld, 'random'>, snapshotPath: string): SeenProcess | undefined {
  const path = claimPathOf(snapshotPath);
  const claim = readClaim(world.files, path);
  if (claim === undefined) return undefined;
  const { pid, host, boot_id } = claim;
  const isLive = readLiveClaim(world, path) !== undefined;
  return { pid, host, boot_id, liveness: isLive ? 'alive' : livenessOf(world, claim) === 'unknown' ? 'unknown' : 'dead' };
}
