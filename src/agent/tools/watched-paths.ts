import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { FileStat, Files, FileWatcher } from '../../platform/platform.ts';

/**
 * The paths that a daemon watches (spec/agents.md 11.1). What changed is always found by comparing two states of the
 * files, so that nothing is missed while the daemon is at work, or down; a watcher only says when to look.
 */
export type WatchState = Readonly<Record<string, { readonly mtime_ms: number; readonly size: number }>>;

interface WatchWorld {
  readonly files: Pick<Files, 'stat' | 'list'>;
  readonly watcher?: FileWatcher | undefined;
}

/** More entries than this are not looked at: a daemon is no backup program. */
const MAX_ENTRIES = 10_000;

const SKIPPED = new Set(['node_modules', '.git', '.harn']);

export class WatchedPaths {
  readonly #world: WatchWorld;
  readonly #paths: readonly string[];
  #state: WatchState;
  /** Something may have changed since the last look. */
  #isStale = true;
  /** A watcher listens. */
  #isFollowed = false;

  /** @param before a state of an earlier process; what changed since then counts as changed */
  constructor(world: WatchWorld, paths: readonly string[], before?: WatchState) {
    this.#world = world;
    this.#paths = paths;
    this.#state = before ?? readState(world.files, paths);
  }

  get state(): WatchState {
    return this.#state;
  }

  /** Paths that came, went or changed since the last call that found something. */
  takeChanged(): string[] {
    if (this.#paths.length === 0 || (this.#isTold && !this.#isStale)) return [];
    this.#isStale = false;
    const now = readState(this.#world.files, this.#paths);
    const changed = [...new Set([...Object.keys(this.#state), ...Object.keys(now)])].filter(
      (path) => !isSame(this.#state[path], now[path]),
    );
    this.#state = now;
    return changed.sort();
  }

  /** Looking without a word of the watcher is needless. Of paths that do not exist it may never say a word. */
  get #isTold(): boolean {
    return this.#isFollowed && this.#paths.every((path) => this.#state[path] !== undefined);
  }

  /** Calls back when it is worth looking. @returns what ends that */
  follow(onChange: () => void): () => void {
    const { watcher } = this.#world;
    if (watcher === undefined || this.#paths.length === 0) return () => undefined;
    const stop = watcher.watch(this.#paths, {
      onReady: () => {
        // What changed before the watcher listened is found by one more look.
        this.#isFollowed = true;
        this.#isStale = true;
        onChange();
      },
      onChange: () => {
        this.#isStale = true;
        onChange();
      },
    });
    return () => {
      this.#isFollowed = false;
      this.#isStale = true;
      stop();
    };
  }
}

type PathState = WatchState[string];

function isSame(left: PathState | undefined, right: PathState | undefined): boolean {
  return left?.mtime_ms === right?.mtime_ms && left?.size === right?.size;
}

function readState(files: WatchWorld['files'], paths: readonly string[]): WatchState {
  const found: Record<string, PathState> = {};
  for (const path of paths) addState(files, path, found);
  return found;
}

/** A directory is all that it holds: its own time only changes with its entries. */
function addState(files: WatchWorld['files'], path: string, found: Record<string, PathState>): void {
  const stat = quietly(() => files.stat(path));
  if (stat === undefined || Object.keys(found).length >= MAX_ENTRIES) return;
  found[path] = { mtime_ms: stat.modifiedAt, size: stat.isDirectory ? 0 : stat.sizeBytes };
  if (!stat.isDirectory || stat.isSymbolicLink) return;
  for (const name of quietly(() => files.list(path)) ?? []) {
    if (!SKIPPED.has(name)) addState(files, join(path, name), found);
  }
}

/** A path that vanishes or cannot be read while it is looked at is one that is not there. */
function quietly<T extends FileStat | string[]>(look: () => T | undefined): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** A state that an earlier process saved. */
export function decodeWatchState(value: Json | undefined): WatchState | undefined {
  if (!isJsonObject(value)) return undefined;
  const entries = Object.entries(value).flatMap(([path, state]): [string, PathState][] => {
    const { mtime_ms: mtimeMs, size } = isJsonObject(state) ? state : ({} as JsonObject);
    return typeof mtimeMs === 'number' && typeof size === 'number' ? [[path, { mtime_ms: mtimeMs, size }]] : [];
  });
  return Object.fromEntries(entries);
}
