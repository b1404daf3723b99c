import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Context } from './context.ts';
import { copyDict, dictGet, dictKeys, dictOf, dictSet, mergeDicts } from './dict.ts';
import { readJsonFile, writeJsonFile } from './json-file.ts';
import { Dict, type Value } from './value.ts';

/**
 * Facts that scripts keep about directories of a project, by namespace: a dict for each directory, which those below it
 * inherit key by key. A namespace is one file, `metadata/<namespace>/entries.json` in the state folder.
 */
export class DirectoryFacts {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Sorted. */
  namespaces(): string[] {
    const { files } = this.#context.run.platform;
    if (!files.exists(this.#root)) return [];
    return files
      .list(this.#root)
      .map((name) => decodeURIComponent(name))
      .filter((namespace) => dictKeys(this.#entries(namespace)).length > 0)
      .sort();
  }

  /** Directories that say something of their own, sorted. */
  directories(namespace?: string): string[] {
    const namespaces = namespace === undefined ? this.namespaces() : [namespace];
    return [...new Set(namespaces.flatMap((name) => dictKeys(this.#entries(name))))].sort();
  }

  /** What stands with the directory itself. */
  local(directory: string, namespace: string): Dict | undefined {
    const entry = dictGet(this.#entries(namespace), directory);
    return entry instanceof Dict ? entry : undefined;
  }

  /** With what the directories above say; undefined when nobody says anything. */
  resolved(directory: string, namespace: string): Dict | undefined {
    const found = lineage(directory)
      .map((one) => this.local(one, namespace))
      .filter((entry) => entry !== undefined);
    return found.length === 0 ? undefined : found.reduce((all, entry) => mergeDicts(all, entry));
  }

  /** Adds to what is known of a directory. */
  set(directory: string, namespace: string, facts: Dict): void {
    const entries = this.#entries(namespace);
    const before = dictGet(entries, directory);
    this.#write(namespace, dictSet(entries, directory, before instanceof Dict ? mergeDicts(before, facts) : facts));
  }

  /** Forgets what a namespace says of a directory and all below it. */
  forget(directory: string, namespace: string): void {
    const entries = this.#entries(namespace);
    const kept = dictKeys(entries).filter((one) => !lineage(one).includes(directory));
    if (kept.length < dictKeys(entries).length) this.#write(namespace, dictOf(kept.map((one) => [one, dictGet(entries, one)] as const)));
  }

  #entries(namespace: string): Dict {
    return readJsonFile(this.#context, this.#file(namespace));
  }

  #write(namespace: string, entries: Dict): void {
    writeJsonFile(this.#context, this.#file(namespace), entries);
  }

  #file(namespace: string): string {
    return path.join(this.#root, encodeURIComponent(namespace), 'entries.json');
  }

  get #root(): string {
    return path.join(this.#context.run.stateRoot, 'metadata');
  }
}

/** A directory as a key: relative to the execution directory when inside it, `.` for that itself. */
export function directoryKey(context: Context, given: string): string {
  const root = context.run.executionRoot;
  const key = path.posix.relative(root, path.posix.resolve(root, given === '' ? '.' : given.replaceAll('\\', '/')));
  if (key === '') return '.';
  return key.startsWith('..') ? path.posix.resolve(root, given) : key;
}

/** The directory and those above it, the uppermost first. */
function lineage(directory: string): string[] {
  if (directory === '.') return ['.'];
  const parts = directory.split('/').filter((part) => part !== '');
  const paths = parts.map((_part, index) => (directory.startsWith('/') ? '/' : '') + parts.slice(0, index + 1).join('/'));
  return directory.startsWith('/') ? paths : ['.', ...paths];
}

/** What there is directly in a directory, without hidden names: SHA-256 of names and kinds, and of the bytes of the files. */
export interface DirectoryHashes {
  readonly structure: string;
  readonly content: string;
}

/** @returns undefined when there is no such directory */
export function hashDirectory(context: Context, directory: string): DirectoryHashes | undefined {
  const { files } = context.run.platform;
  const base = path.resolve(context.run.executionRoot, directory);
  if (files.stat(base)?.isDirectory !== true) return undefined;
  const [structure, content] = [createHash('sha256'), createHash('sha256')];
  for (const name of files
    .list(base)
    .filter((one) => !one.startsWith('.'))
    .sort()) {
    const isFile = files.stat(path.join(base, name))?.isFile === true;
    structure.update(`${isFile ? 'f' : 'd'} ${name}\n`);
    if (isFile) content.update(`${name}\n`).update(files.readBytes(path.join(base, name)));
  }
  return { structure: structure.digest('hex'), content: content.digest('hex') };
}

/** Directories whose hashes are not those that are kept: `tier1` by structure, `tier2` by content alone. */
export function staleDirectories(
  context: Context,
  facts: DirectoryFacts,
  namespace?: string,
): { readonly tier1: string[]; readonly tier2: string[] } {
  const tier1 = new Set<string>();
  const tier2 = new Set<string>();
  for (const name of namespace === undefined ? facts.namespaces() : [namespace]) {
    for (const directory of facts.directories(name)) {
      const kept = facts.local(directory, name) ?? new Dict();
      const now = hashDirectory(context, directory);
      if (differs(kept, ['structureHash', 'structure_hash'], now?.structure)) tier1.add(directory);
      else if (differs(kept, ['contentHash', 'content_hash'], now?.content)) tier2.add(directory);
    }
  }
  return { tier1: [...tier1].sort(), tier2: [...tier2].sort() };
}

/** What was never hashed is not stale. */
function differs(kept: Dict, keys: readonly string[], now: string | undefined): boolean {
  const before = keys.map((key) => dictGet(kept, key)).find((value: Value) => value !== undefined);
  return before !== undefined && before !== now;
}

/** The facts of a directory with its hashes of now. */
export function withHashes(facts: Dict, hashes: DirectoryHashes): Dict {
  return dictSet(dictSet(copyDict(facts), 'structureHash', hashes.structure), 'contentHash', hashes.content);
}
