import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Environment, Files } from '../platform/platform.ts';
import { journalPathOf, snapshotPathOf } from './journal-file.ts';
import { snapshotError } from './snapshot-error.ts';

/** Where state lives (spec/agents.md 4.7, 9.5). */
export interface StateLocations {
  /** Snapshots, journals and claims. */
  readonly workers: string;
  /** The file back end of the event log. */
  readonly events: string;
  /** Armed suspensions, so that re-arming needs no snapshot. */
  readonly waiters: string;
}

/** @param stateRoot the `.harn` folder of the run; absolute */
export function locateState(env: Environment, stateRoot: string): StateLocations {
  const root = env.get('HARN_STATE_DIR') ?? stateRoot;
  return {
    workers: resolve(env.get('HARN_WORKER_STATE_DIR') ?? join(root, 'workers')),
    events: resolve(env.get('HARN_EVENT_LOG_DIR') ?? join(root, 'events')),
    waiters: resolve(root, 'waiters.jsonl'),
  };
}

/** A path as scripts see it: relative to the current directory when inside it, otherwise absolute. */
export function displayPath(cwd: string, path: string): string {
  const fromHere = relative(cwd, path);
  return fromHere !== '' && !fromHere.startsWith('..') && !isAbsolute(fromHere) ? fromHere.split(sep).join('/') : path;
}

/** Whether an argument of resume_agent names a file rather than a worker. */
export function isSnapshotPath(text: string): boolean {
  return /[/\\]/.test(text) || /\.jsonl?$/.test(text);
}

export interface SearchPlaces {
  readonly files: Files;
  readonly cwd: string;
  /** Nearest ancestor of the current directory with `harn.toml`. */
  readonly projectRoot: string | undefined;
  /** Directory of the calling script, when one is known. */
  readonly scriptDirectory: string | undefined;
  readonly workersDirectory: string;
}

/** What a path or an id leads to; `snapshotPath` may not exist yet when only a journal does. */
export type SnapshotLocation =
  | { readonly kind: 'worker'; readonly snapshotPath: string }
  | { readonly kind: 'daemon'; readonly directory: string };

const SHORTEST_PREFIX = 12;

/**
 * Finds the snapshot that a path or an id means (spec/agents.md 12.3).
 * @throws HarnError `HARN-SUS-004`, reason `missing`, with every candidate in `data.detail.tried`
 */
export function locateSnapshot(places: SearchPlaces, target: string): SnapshotLocation {
  const candidates = isAbsolute(target) ? [target] : relativeCandidates(places, target);
  for (const candidate of candidates) {
    const found = locationAt(places.files, candidate);
    if (found !== undefined) return found;
  }
  // A bare name is an id, unless it is that of a daemon's directory.
  const beside = locationAt(places.files, resolve(places.cwd, target));
  if (beside?.kind === 'daemon') return beside;
  const byPrefix = isSnapshotPath(target) ? [] : idsByPrefix(places, target);
  const [only] = byPrefix;
  if (only !== undefined && byPrefix.length === 1) return { kind: 'worker', snapshotPath: join(places.workersDirectory, `${only}.json`) };
  const cause =
    byPrefix.length > 1
      ? `${byPrefix.length} workers begin like this, ${byPrefix.slice(0, 3).join(', ')}${byPrefix.length > 3 ? ', …' : ''}; give more of the id`
      : `no such file; tried ${candidates.join(', ')}${prefixHint(target)}${pathHint(target)}`;
  throw snapshotError('missing', cause, {
    target,
    path: isSnapshotPath(target) ? target : undefined,
    detail: { tried: candidates },
  });
}

function relativeCandidates(places: SearchPlaces, target: string): string[] {
  if (!isSnapshotPath(target)) return [join(places.workersDirectory, `${target}.json`)];
  const normal = target.replaceAll('\\', '/');
  const bases = [places.cwd, ...(places.projectRoot === undefined ? [] : [places.projectRoot]), ...ancestors(places)];
  if (places.scriptDirectory !== undefined) bases.push(places.scriptDirectory);
  return [...new Set(bases.map((base) => resolve(base, normal)))];
}

/** Ancestors of the current directory up to the project root. */
function ancestors({ cwd, projectRoot }: SearchPlaces): string[] {
  const found: string[] = [];
  for (let current = cwd; projectRoot !== undefined && current !== projectRoot; current = dirname(current)) {
    if (dirname(current) === current) return [];
    found.push(dirname(current));
  }
  return found;
}

function locationAt(files: Files, candidate: string): SnapshotLocation | undefined {
  if (candidate.endsWith('.journal.jsonl')) {
    return files.exists(candidate) ? { kind: 'worker', snapshotPath: snapshotPathOf(candidate) } : undefined;
  }
  const stat = files.stat(candidate);
  if (stat?.isDirectory && files.exists(join(candidate, 'daemon.json'))) return { kind: 'daemon', directory: candidate };
  if (stat !== undefined) return { kind: 'worker', snapshotPath: candidate };
  const isWorker = candidate.endsWith('.json') && files.exists(journalPathOf(candidate));
  return isWorker ? { kind: 'worker', snapshotPath: candidate } : undefined;
}

function idsByPrefix(places: SearchPlaces, prefix: string): string[] {
  if (prefix.length < SHORTEST_PREFIX || !places.files.exists(places.workersDirectory)) return [];
  const ids = new Set(
    places.files
      .list(places.workersDirectory)
      .filter((name) => name.startsWith(prefix) && /\.jsonl?$/.test(name))
      .map((name) => name.replace(/(\.journal\.jsonl|\.json)$/, '')),
  );
  return [...ids].sort();
}

function prefixHint(target: string): string {
  const isShort = !isSnapshotPath(target) && target.length < SHORTEST_PREFIX;
  return isShort ? ` (the beginning of an id needs at least ${SHORTEST_PREFIX} characters)` : '';
}

/** Some shells for Windows rewrite arguments that look like paths of another system. */
function pathHint(target: string): string {
  return /^[A-Za-z]:\/.*\/Git\//.test(target) ? ' (the shell seems to have rewritten the path; write it with a leading ./)' : '';
}
