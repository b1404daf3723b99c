import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { parseInstant, renderInstant } from '../base/instant.ts';
import { parseJson } from '../base/json.ts';
import type { Clock, FileHandle, Files, Platform } from '../platform/platform.ts';
import { isErrno, PRIVATE_FILE_MODE, unlinkIfPresent } from './atomic-file.ts';
import { livenessOf, ownIdentity } from './process-identity.ts';

/**
 * Who owns a worker right now (spec/agents.md 5.5, 5.14). A claim file appears whole or not at all: it is written
 * under a private name and then linked to its own. The owner keeps its handle and appends a line for each heartbeat;
 * after a theft these lines land in a file that has no name any more, so a paused owner that wakes up can never write
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
  #beatAt: number;
  #isReleased = false;

  constructor(world: ClaimWorld, path: string, token: string, handle: FileHandle) {
    this.#world = world;
    this.path = path;
    this.token = token;
    this.#handle = handle;
    this.#beatAt = world.realClock.now();
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
    if (!isHeld) return;
    const { realClock, files } = this.#world;
    // Within its lease nobody else removes the file of a process that lives; afterwards a thief may be about to.
    if (realClock.now() - this.#beatAt > LEASE_MS)
      removeUnderRight(this.#world, { root: this.path, path: this.path, depth: 0 }, this.token, 'own');
    else if (!unlinkIfPresent(files, this.path)) this.#expire();
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
    const now = this.#world.realClock.now();
    try {
      this.#handle.write(`${JSON.stringify({ heartbeat_at: renderInstant(now) })}\n`);
      this.#beatAt = now;
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
  const taken = takeFile(world, { root: path, path, depth: 0 }, facts);
  return taken.kind === 'held' ? taken : { kind: 'won', claim: new Claim(world, path, taken.token, taken.handle) };
}

/** A file to be held: the claim itself, or the right to remove what another contender has left. */
interface Place {
  /** The claim that it is all about. */
  readonly root: string;
  readonly path: string;
  /** How many contenders have died one upon the other. */
  readonly depth: number;
}

type Taken =
  | { readonly kind: 'won'; readonly token: string; readonly handle: FileHandle }
  | { readonly kind: 'held'; readonly by: ClaimRecord | undefined };

function takeFile(world: ClaimWorld, place: Place, facts: ClaimFacts): Taken {
  const { path } = place;
  const token = world.random.uuidV7();
  for (const isRetry of [false, true]) {
    const handle = createClaim(world, path, token, facts);
    if (handle !== undefined) return { kind: 'won', token, handle };
    const holder = lookAt(world.files, path);
    // Given back meanwhile: what may lie there by now is the claim of somebody quicker, and not to be removed.
    if (holder === 'absent') continue;
    if (isRetry || !isAbandoned(world, path, readable(holder))) return { kind: 'held', by: readable(holder) };
    if (!removeUnderRight(world, place, readable(holder)?.token, 'abandoned')) return { kind: 'held', by: readClaim(world.files, path) };
  }
  return { kind: 'held', by: undefined };
}

/** The claim on disk with its latest heartbeat; undefined when there is none or it cannot be understood. */
export function readClaim(files: Files, path: string): ClaimRecord | undefined {
  return readable(lookAt(files, path));
}

type Look = ClaimRecord | 'absent' | 'unreadable';

/** One read tells whether there is a claim and whose: between two, the file may have become another one. */
function lookAt(files: Files, path: string): Look {
  let lines: string[];
  try {
    lines = files.readText(path).trimEnd().split('\n');
  } catch (error) {
    return isErrno(error, 'ENOENT') ? 'absent' : 'unreadable';
  }
  const claim = claimSchema.safeParse(parseJson(lines[0] ?? ''));
  if (!claim.success) return wholeFile(lines) ?? 'unreadable';
  const beat = beatSchema.safeParse(lines.length > 1 ? parseJson(lines.at(-1) ?? '') : undefined);
  return beat.success ? { ...claim.data, heartbeat_at: beat.data.heartbeat_at } : claim.data;
}

function readable(look: Look): ClaimRecord | undefined {
  return typeof look === 'string' ? undefined : look;
}

/** The claim of an owner that is alive; undefined when nobody owns the worker. */
export function readLiveClaim(world: Omit<ClaimWorld, 'random'>, path: string): ClaimRecord | undefined {
  const claim = readClaim(world.files, path);
  return claim !== undefined && isAbandoned(world, path, claim) ? undefined : claim;
}

/**
 * Removes what contenders that died left beside a claim: drafts that were never linked, rights to remove a claim that is gone.
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

/** Contenders that died one upon the other; beyond that the files are not of our making. */
const MAX_DEPTH = 16;

/**
 * Removes the file with a token, and no other. Whoever wants to must hold `<claim>.stale.<token>`, itself such a file:
 * while one holds it and sees the token, nobody else takes the file away, so that it cannot have become the claim of
 * somebody quicker by the time it is unlinked. A contender that died in between is an abandoned holder like any other.
 *
 * @param expected undefined for a file that is no claim
 * @param when `abandoned` looks again whether the owner has come back meanwhile
 * @returns false when the file belongs to somebody, or somebody else is removing it
 */
function removeUnderRight(world: ClaimWorld, place: Place, expected: string | undefined, when: 'abandoned' | 'own'): boolean {
  const { root, path, depth } = place;
  const rightPath = `${root}.stale.${(expected ?? 'unreadable').replaceAll(/[^A-Za-z0-9-]/g, '_')}`;
  // Tokens are drawn anew for each file: one that bears its own name is a copy, and nobody's right.
  if (rightPath === path) return unlinkIfPresent(world.files, path);
  if (depth >= MAX_DEPTH) return false;
  const right = takeFile(world, { root, path: rightPath, depth: depth + 1 }, { suspensionId: null, generation: 0 });
  if (right.kind === 'held') return false;
  right.handle.close();
  try {
    const holder = lookAt(world.files, path);
    if (holder === 'absent') return true;
    if (readable(holder)?.token !== expected) return false;
    if (when === 'abandoned' && !isAbandoned(world, path, readable(holder))) return false;
    return unlinkIfPresent(world.files, path);
  } finally {
    unlinkIfPresent(world.files, rightPath);
  }
}

/** A claim that was written over several lines by hand or by another program. */
function wholeFile(lines: readonly string[]): ClaimRecord | undefined {
  const claim = claimSchema.safeParse(parseJson(lines.join('\n')));
  return claim.success ? claim.data : undefined;
}
