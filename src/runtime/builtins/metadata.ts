import { optionsArgument, textArgument } from '../arguments.ts';
import type { BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { dictGet, dictHas, dictOf } from '../dict.ts';
import { DirectoryFacts, directoryKey, hashDirectory, staleDirectories, withHashes } from '../directory-facts.ts';
import { isTruthy } from '../equality.ts';
import { thrownText, typeError } from '../errors.ts';
import { scanDirectory } from '../scan-directory.ts';
import { Dict, typeOf, type Value } from '../value.ts';

/** Facts about the directories of a project; `std/project` builds on them. */
export const METADATA: BuiltinGroup = {
  name: 'metadata',
  title: 'Facts about directories',
  errors: [
    { text: 'Type error: metadata_set: data must be a dict, got T', when: '`metadata_set`' },
    { text: 'compute_content_hash: D is no directory', when: '`compute_content_hash`' },
  ],
  builtins: {
    metadata_get: {
      signature: '(dir: any, namespace: any = nil) -> dict | nil',
      doc: 'What is known of a directory, with what those above it say; of all namespaces in one dict when none is named. Nil when nothing is.',
      call: (c, _d, directory, namespace) => get(c, directory, namespace),
    },
    metadata_resolve: {
      signature: '(dir: any, namespace: any = nil) -> dict | nil',
      doc: 'As metadata_get, but without a namespace as a dict of namespaces.',
      call: (c, _d, directory, namespace) => (namespace === undefined ? resolveAll(c, directory) : get(c, directory, namespace)),
    },
    metadata_entries: {
      signature: '(namespace: any = nil) -> list<dict>',
      doc: 'The directories that say something of their own: `{dir, local, resolved}`, sorted.',
      call: (c, _d, namespace) => entries(c, namespace),
    },
    metadata_set: {
      signature: '(dir: any, namespace: any, data: dict) -> nil',
      doc: 'Adds facts about a directory to a namespace. They are saved at once.',
      call: (c, _d, directory, namespace, data) => {
        if (!(data instanceof Dict)) throw typeError(`metadata_set: data must be a dict, got ${typeOf(data)}`);
        new DirectoryFacts(c).set(directoryKey(c, textArgument(directory)), textArgument(namespace), data);
      },
    },
    metadata_save: {
      signature: '() -> nil',
      doc: 'Does nothing: metadata_set has saved already.',
      call: () => undefined,
    },
    metadata_stale: {
      signature: '(project: any = nil) -> dict',
      doc: 'Directories that are no longer as their kept hashes say: `{any_stale, tier1, tier2}`; tier1 differs in names, tier2 in contents.',
      call: (c) => stale(c, undefined),
    },
    metadata_status: {
      signature: '(namespace: any = nil) -> dict',
      doc: '`{directory_count, namespace_count, namespaces, missing_structure_hash, missing_content_hash, stale}`.',
      call: (c, _d, namespace) => status(c, namespace === undefined ? undefined : textArgument(namespace)),
    },
    metadata_refresh_hashes: {
      signature: '() -> nil',
      doc: 'Keeps the hashes of now with every directory that is known and still there.',
      call: (c) => refresh(c),
    },
    compute_content_hash: {
      signature: '(dir: any = ".") -> string',
      doc: 'SHA-256 of the files directly in a directory, in hex; hidden ones do not count.',
      call: (c, _d, directory) => {
        const hashes = hashDirectory(c, textArgument(directory, '.'));
        if (hashes === undefined) throw thrownText(`compute_content_hash: ${textArgument(directory, '.')} is no directory`);
        return hashes.content;
      },
    },
    invalidate_facts: {
      signature: '(dir: any = ".") -> nil',
      doc: 'Forgets the namespace `facts` of a directory and all below it.',
      call: (c, _d, directory) => new DirectoryFacts(c).forget(directoryKey(c, textArgument(directory, '.')), 'facts'),
    },
    scan_directory: {
      signature: '(path: any = ".", pattern_or_options: any = nil, options: any = nil) -> list<dict>',
      doc: '`{path, name, is_dir, is_file, depth}` of what is below a directory, sorted by path. Options: `pattern` (part of a name, or with `*` a whole one), `max_depth` (0 stays in the directory), `include_hidden`, `include_dirs`, `include_files`.',
      call: (c, _d, path, given, more) => {
        const options = typeof given === 'string' ? optionsArgument(more) : optionsArgument(given);
        const pattern = typeof given === 'string' ? given : dictGet(options, 'pattern');
        const depth = dictGet(options, 'max_depth');
        return scanDirectory(c, textArgument(path, '.'), {
          pattern: pattern === undefined ? undefined : textArgument(pattern),
          maxDepth: typeof depth === 'number' ? depth : Number.POSITIVE_INFINITY,
          includeHidden: isTruthy(dictGet(options, 'include_hidden')),
          includeDirectories: !dictHas(options, 'include_dirs') || isTruthy(dictGet(options, 'include_dirs')),
          includeFiles: !dictHas(options, 'include_files') || isTruthy(dictGet(options, 'include_files')),
        });
      },
    },
  },
};

function get(context: Context, directory: Value, namespace: Value): Value {
  const facts = new DirectoryFacts(context);
  const key = directoryKey(context, textArgument(directory));
  if (namespace !== undefined) return facts.resolved(key, textArgument(namespace));
  const found = facts.namespaces().flatMap((name) => facts.resolved(key, name) ?? []);
  return found.length === 0 ? undefined : Object.assign(new Dict(), ...found);
}

function resolveAll(context: Context, directory: Value): Value {
  const facts = new DirectoryFacts(context);
  const key = directoryKey(context, textArgument(directory));
  const found = facts.namespaces().flatMap((name) => {
    const resolved = facts.resolved(key, name);
    return resolved === undefined ? [] : [[name, resolved] as const];
  });
  return found.length === 0 ? undefined : dictOf(found);
}

function entries(context: Context, namespace: Value): Value {
  const facts = new DirectoryFacts(context);
  const name = namespace === undefined ? undefined : textArgument(namespace);
  const names = name === undefined ? facts.namespaces() : [name];
  const byNamespace = (of: (one: string) => Dict | undefined): Value =>
    name === undefined ? dictOf(names.flatMap((one) => (of(one) === undefined ? [] : [[one, of(one)] as const]))) : of(name);
  return facts.directories(name).map((directory) =>
    dictOf([
      ['dir', directory],
      ['local', byNamespace((one) => facts.local(directory, one))],
      ['resolved', byNamespace((one) => facts.resolved(directory, one))],
    ]),
  );
}

function stale(context: Context, namespace: string | undefined): Dict {
  const { tier1, tier2 } = staleDirectories(context, new DirectoryFacts(context), namespace);
  return dictOf([
    ['any_stale', tier1.length + tier2.length > 0],
    ['tier1', tier1],
    ['tier2', tier2],
  ]);
}

function status(context: Context, namespace: string | undefined): Dict {
  const facts = new DirectoryFacts(context);
  const directories = facts.directories(namespace);
  const namespaces = facts.namespaces();
  const missing = (keys: readonly string[]): string[] =>
    directories.filter((directory) =>
      (namespace === undefined ? namespaces : [namespace]).every((name) => {
        const local = facts.local(directory, name);
        return local === undefined || !keys.some((key) => dictHas(local, key));
      }),
    );
  return dictOf([
    ['directory_count', directories.length],
    ['namespace_count', namespaces.length],
    ['namespaces', namespaces],
    ['missing_structure_hash', missing(['structureHash', 'structure_hash'])],
    ['missing_content_hash', missing(['contentHash', 'content_hash'])],
    ['stale', stale(context, namespace)],
  ]);
}

function refresh(context: Context): void {
  const facts = new DirectoryFacts(context);
  for (const namespace of facts.namespaces()) {
    for (const directory of facts.directories(namespace)) {
      const hashes = hashDirectory(context, directory);
      const local = facts.local(directory, namespace);
      if (hashes !== undefined && local !== undefined) facts.set(directory, namespace, withHashes(local, hashes));
    }
  }
}
