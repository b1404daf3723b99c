import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { parseInstant, renderInstant } from '../base/instant.ts';
import type { Clock, FileHandle, Files, Platform } from '../platform/platform.ts';
import { isErrno, PRIVATE_FILE_MODE, unlinkIfPresent } from './atomic-file.ts';
import { livenessOf, ownIdentity } from './process-identity.ts';

/**
 * Who owns a worker right now (spec/agents.md 5.5, 5.14). A claim file appears whole or not at all: it is written
 * under a private name and then linked to its own. The owner keeps its handle and appends a line for each heartbeat;
 * after a theft these lines land in the file that was moved away, so a paused owner that wakes up can never write
 * into the claim of its successor.
 */
const claimSchema = z.looseObject({
  token: z.string(),
  suspension_id: z.nullish(z.string()),
  pid: z.int(),
  host: z.string(),
  boot_id: z.nullish(z.string()),
  generation: z.int(),
  claimed_at: z.string(),
  heartbeat_at: z.string(),
});

/** A line that the owner appends. */
const beatSchema = z.looseObject({ heartbeat_at: z.string() });

export type ClaimRecord = z.infer<typeof claimSchema>;

export interface ClaimWorld extends Pick<Platform, 'files' | 'random' | 'processes' | 'system'> {
  /** The real clock, also while a script has frozen its own. */
  readonly realClock: Clock;
}

export interface ClaimFacts {
  /** Null for the first activation of a worker, which consumes no suspension. */
  readonly suspensionId: string | null;
  readonly generation: number;
}

export type ClaimAttempt =
  | { readonly kind: 'won'; readonly claim: Claim }
  | { readonly kind: 'held'; readonly by: ClaimRecord | undefined };

export const HEARTBEAT_INTERVAL_MS = 10_000;
export const LEASE_MS = 60_000;

export function claimPathOf(snapshotPath: string): string {
  return `${snapshotPath}.claim`;
}

/** An exclusive right to one worker, held until `release`. */
export class Claim {
  readonly path: string;
  readonly token: string;
  readonly #world: ClaimWorld;
  readonly #handle: FileHandle;
  readonly #stopHeartbeat: () => void;
  #isReleased = false;

  constructor(world: ClaimWorld, path: string, token: string, handle: FileHandle) {
    this.#world = world;
    this.path = path;
    this.token = token;
    this.#handle = handle;
    this.#stopHeartbeat = this.#beatRegularly();
  }

  /** Whether the file on disk is still this claim. */
  isHeld(): boolean {
    return !this.#isReleased && readClaim(this.#world.files, this.path)?.token === this.token;
  }

  /** Gives the right back; a claim that was stolen stays with its new owner. Idempotent. */
  release(): void {
    if (this.#isReleased) return;
    const isHeld = this.isHeld();
    this.#isReleased = true;
    this.#stopHeartbeat();
    this.#handle.close();
    if (isHeld && !unlinkIfPresent(this.#world.files, this.path)) this.#expire();
  }

  /** A claim that the disk will not remove must not keep everybody out until its lease has passed. */
  #expire(): void {
    try {
      this.#world.files.append(this.path, `${JSON.stringify({ heartbeat_at: renderInstant(0) })}\n`);
    } catch {
      // Then the lease decides after all.
    }
  }

  #beatRegularly(): () => void {
    let cancel = (): void => undefined;
    const arm = (): void => {
      cancel = this.#world.realClock.timer(
        HEARTBEAT_INTERVAL_MS,
        () => {
          this.#beat();
          arm();
        },
        'unref',
      );
    };
    arm();
    return () => cancel();
  }

  #beat(): void {
    try {
      this.#handle.write(`${JSON.stringify({ heartbeat_at: renderInstant(this.#world.realClock.now()) })}\n`);
    } catch {
      // A full disk must not end the run; the lease then lapses and fencing decides.
    }
  }
}

/**
 * Tries to become the owner. A claim whose owner is dead or has been silent for a whole lease is taken over.
 * @throws Node's errors when the directory cannot be written
 */
export function acquireClaim(world: ClaimWorld, path: string, facts: ClaimFacts): ClaimAttempt {
  const token = world.random.uuidV7();
  for (const isRetry of [false, true]) {
    const handle = createClaim(world, path, token, facts);
    if (handle !== undefined) return { kind: 'won', claim: new Claim(world, path, token, handle) };
    const holder = readClaim(world.files, path);
    // Given back meanwhile: what may lie there by now is the claim of somebody quicker, and not to be moved.
    if (holder === undefined && !world.files.exists(path)) continue;
    if (isRetry || !isAbandoned(world, path, holder)) return { kind: 'held', by: holder };
    if (!moveAway(world.files, path, holder?.token ?? token, holder?.token)) return { kind: 'held', by: readClaim(world.files, path) };
  }
  return { kind: 'held', by: undefined };
}

/** The claim on disk with its latest heartbeat; undefined when there is none or it cannot be understood. */
export function readClaim(files: Files, path: string): ClaimRecord | undefined {
  let lines: string[];
  try {
    lines = files.readText(path).trimEnd().split('\n');
  } catch {
    return undefined;
  }
  const claim = claimSchema.safeParse(parseLine(lines[0]));
  if (!claim.success) return wholeFile(lines);
  const beat = beatSchema.safeParse(lines.length > 1 ? parseLine(lines.at(-1)) : undefined);
  return beat.success ? { ...claim.data, heartbeat_at: beat.data.heartbeat_at } : claim.data;
}

/** The claim of an owner that is alive; undefined when nobody owns the worker. */
export function readLiveClaim(world: Omit<ClaimWorld, 'random'>, path: string): ClaimRecord | undefined {
  const claim = readClaim(world.files, path);
  return claim !== undefined && isAbandoned(world, path, claim) ? undefined : claim;
}

/**
 * Removes what contenders that died left beside a claim: drafts that were never linked, claims that were moved away.
 * One of a contender that is alive stays, and so does one that nobody can read until a lease has passed.
 */
export function sweepAbandonedClaims(world: ClaimWorld, path: string): void {
  const directory = dirname(path);
  const prefix = `${basename(path)}.`;
  for (const name of world.files.list(directory)) {
    if (!name.startsWith(prefix)) continue;
    const leftover = join(directory, name);
    if (isAbandoned(world, leftover, readClaim(world.files, leftover))) unlinkIfPresent(world.files, leftover);
  }
}

function createClaim(world: ClaimWorld, path: string, token: string, facts: ClaimFacts): FileHandle | undefined {
  const now = renderInstant(world.realClock.now());
  const record: ClaimRecord = {
    token,
    suspension_id: facts.suspensionId,
    ...ownIdentity(world),
    generation: facts.generation,
    claimed_at: now,
    heartbeat_at: now,
  };
  const draft = `${path}.${token}`;
  const handle = world.files.open(draft, 'exclusive', PRIVATE_FILE_MODE);
  try {
    handle.write(`${JSON.stringify(record)}\n`);
    handle.sync();
    world.files.link(draft, path);
    return handle;
  } catch (error) {
    handle.close();
    if (isErrno(error, 'EEXIST')) return undefined;
    throw error;
  } finally {
    unlinkIfPresent(world.files, draft);
  }
}

function isAbandoned(world: Omit<ClaimWorld, 'random'>, path: string, claim: ClaimRecord | undefined): boolean {
  const now = world.realClock.now();
  if (claim === undefined) {
    // Gone meanwhile, or written by something else: only its age speaks.
    const stat = world.files.stat(path);
    return stat === undefined || now - stat.modifiedAt > LEASE_MS;
  }
  if (livenessOf(world, claim) === 'dead') return true;
  const heartbeatAt = parseInstant(claim.heartbeat_at);
  return heartbeatAt === undefined || now - heartbeatAt > LEASE_MS;
}

/**
 * Moves an abandoned claim out of the way and makes sure that it was this one: a faster thief may have put its own
 * claim there meanwhile, which is then given back.
 */
function moveAway(files: Files, path: string, label: string, expectedToken: string | undefined): boolean {
  const stale = `${path}.stale.${label.replaceAll(/[^A-Za-z0-9-]/g, '_')}`;
  try {
    files.rename(path, stale);
  } catch (error) {
    // Somebody else moved it first; the retry finds out who owns it now.
    return isErrno(error, 'ENOENT');
  }
  const isExpected = readClaim(files, stale)?.token === expectedToken;
  if (!isExpected) linkBack(files, stale, path);
  unlinkIfPresent(files, stale);
  return isExpected;
}

function linkBack(files: Files, stale: string, path: string): void {
  try {
    files.link(stale, path);
  } catch {
    // A third process has claimed meanwhile; generations fence the one that loses here.
  }
}

function parseLine(line: string | undefined): unknown {
  try {
    return JSON.parse(line ?? '');
  } catch {
    return undefined;
  }
}

/** A claim that was written over several lines by hand or by another program. */
function wholeFile(lines: readonly string[]): ClaimRecord | undefined {
  const claim = claimSchema.safeParse(parseLine(lines.join('\n')));
  return claim.success ? claim.data : undefined;
}
