/**
 * Bundles the command line into a few files ("packs"), each of which is one scope that V8 reads at once.
 *
 * esbuild alone offers two shapes. One file for everything: a small script then reads, and V8 deserialises, ten times
 * the code that it runs. Or a chunk for every dynamic import and every set of modules that some of them share: more than
 * a hundred files, whose bindings to each other are getters also on the hottest paths. So it runs twice: first with
 * splitting, to learn what belongs together, then once for each pack over the chunks that packs.ts puts into it.
 */
import { createHash } from 'node:crypto';
import { basename, relative, resolve } from 'node:path';
import { type BuildOptions, build, type Metafile, type OnResolveArgs, type OnResolveResult, type Plugin } from 'esbuild';
import { ALONE, BASE_OF, HELPERS, LATER, PACKS } from './packs.ts';

export interface Bundle {
  /** Names this build: changes with any of its code. */
  readonly id: string;
  /** Text of each file by its name; `main.cjs` is the one to begin with. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * @param root the directory of the project
 * @param warmUp what else the build is made of: a change of it gives the build another name
 */
export async function bundle(root: string, warmUp: readonly string[]): Promise<Bundle> {
  const chunks = await readChunks(root);
  const packs = assignPacks(chunks);
  const packOf = new Map([...packs].flatMap(([pack, members]) => members.map((chunk) => [chunk, pack] as const)));
  const texts: [file: string, text: string][] = [];
  const wanted = namesWantedElsewhere(chunks, packOf);
  for (const [pack, members] of packs) texts.push([`${pack}.cjs`, await bundlePack({ chunks, packOf, wanted }, pack, members)]);
  const id = createHash('sha256')
    .update(JSON.stringify([texts, warmUp]))
    .digest('hex')
    .slice(0, 16);
  return { id, files: new Map(texts.map(([file, text]) => [file, text.replace('@HARN_BUILD_ID@', id)])) };
}

interface Chunks {
  /** Text of each chunk by its file name. */
  readonly texts: ReadonlyMap<string, string>;
  /** Chunks that a chunk imports at once. */
  readonly imports: ReadonlyMap<string, readonly string[]>;
  /** The chunk that holds this module, or `HELPERS`. */
  readonly homeOf: ReadonlyMap<string, string>;
  /** The chunk that begins with this module: the one of the program, of an `import()`, or of a bundle of its own. */
  readonly entryChunk: ReadonlyMap<string, string>;
  /** Names that a chunk exports. */
  readonly exports: ReadonlyMap<string, readonly string[]>;
}

interface Plan {
  readonly chunks: Chunks;
  readonly packOf: ReadonlyMap<string, string>;
  /** Names by the chunk that has them for other packs. */
  readonly wanted: ReadonlyMap<string, ReadonlySet<string>>;
}

const SHARED: BuildOptions = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  // ASCII lets V8 keep the text with one byte a character.
  charset: 'ascii',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
};

async function readChunks(root: string): Promise<Chunks> {
  const options = {
    ...SHARED,
    absWorkingDir: root,
    outdir: 'chunks',
    format: 'esm',
    write: false,
    metafile: true,
    define: { 'import.meta.dirname': '__dirname', 'import.meta.url': 'undefined' },
    logOverride: { 'empty-import-meta': 'silent' },
  } satisfies BuildOptions;
  const { outputFiles, metafile } = await build({
    ...options,
    entryPoints: [{ in: 'src/cli/main.ts', out: 'main' }, ...LATER.flatMap(([, modules]) => modules).map(asEntry)],
    splitting: true,
    plugins: [{ name: 'apart', setup: ({ onResolve }) => onResolve({ filter: /\.ts$/ }, (module) => apart(root, module)) }],
  });
  const alone = await build({ ...options, entryPoints: ALONE.map(asEntry) });
  const outputs = Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output] as const);
  const withAlone = [...outputs, ...Object.entries(alone.metafile.outputs).map(([path, output]) => [basename(path), output] as const)];
  return {
    texts: new Map([...outputFiles, ...alone.outputFiles].map(({ path, text }) => [basename(path), text])),
    imports: new Map(outputs.map(([chunk, output]) => [chunk, staticImports(output)])),
    homeOf: new Map(
      outputs.flatMap(([chunk, { inputs }]) => {
        const modules = Object.keys(inputs);
        return (modules.length > 0 ? modules : [HELPERS]).map((module) => [module, chunk] as const);
      }),
    ),
    entryChunk: new Map(withAlone.flatMap(([chunk, { entryPoint }]) => (entryPoint === undefined ? [] : [[entryPoint, chunk] as const]))),
    exports: new Map(withAlone.map(([chunk, output]) => [chunk, output.exports])),
  };
}

/** Modules that begin a chunk of their own, however they are imported. */
const APART: ReadonlySet<string> = new Set([...ALONE, ...LATER.flatMap(([, modules]) => modules)]);

function asEntry(module: string): { readonly in: string; readonly out: string } {
  const name = module.replace(/\.ts$/, '');
  // A bundle of its own becomes a file of this name; other modules have the same name as modules of other folders.
  return { in: module, out: ALONE.includes(module) ? basename(name) : name.replaceAll('/', '-') };
}

/** For who imports it, such a module is the file that it becomes. */
function apart(root: string, { path, resolveDir, kind }: OnResolveArgs): OnResolveResult | undefined {
  const module = relative(root, resolve(resolveDir, path));
  return kind !== 'entry-point' && APART.has(module) ? { path: `./${asEntry(module).out}.js`, external: true } : undefined;
}

function staticImports({ imports }: Metafile['outputs'][string]): string[] {
  return imports.filter(({ kind, external }) => kind === 'import-statement' && external !== true).map(({ path }) => basename(path));
}

/** Every chunk is in exactly one pack. A pack needs at once only itself and earlier ones. */
function assignPacks(chunks: Chunks): ReadonlyMap<string, readonly string[]> {
  const needed = new Map([...PACKS, ...LATER].map(([name, entries]) => [name, neededBy(chunks, entries)]));
  const [one, other] = BASE_OF.map((name) => needed.get(name) ?? new Set<string>());
  const base = [...(one ?? [])].filter((chunk) => other?.has(chunk));
  const taken = new Set<string>();
  const packs = new Map<string, string[]>();
  for (const [name, members] of [['base', [...base, ...neededBy(chunks, [HELPERS])]] as const, ...needed]) {
    packs.set(
      name,
      [...new Set(members)].filter((chunk) => !taken.has(chunk)),
    );
    for (const chunk of members) taken.add(chunk);
  }
  for (const chunk of chunks.texts.keys()) if (!taken.has(chunk)) packs.set(chunk.replace(/\.js$/, ''), [chunk]);
  return packs;
}

function neededBy(chunks: Chunks, entries: readonly string[]): Set<string> {
  const found = new Set<string>();
  for (const entry of entries) {
    const chunk = chunks.entryChunk.get(entry) ?? chunks.homeOf.get(entry);
    if (chunk === undefined) throw new Error(`scripts/packs.ts names ${entry}, which is in no chunk`);
    addWithImports(chunks, chunk, found);
  }
  return found;
}

function addWithImports(chunks: Chunks, chunk: string, found: Set<string>): void {
  if (found.has(chunk)) return;
  found.add(chunk);
  for (const imported of chunks.imports.get(chunk) ?? []) addWithImports(chunks, imported, found);
}

/**
 * One function `(pack, require, __filename, __dirname)` that puts a namespace for each of its chunks into `pack`. Other packs are required as
 * `./PACK.cjs#CHUNK`, those that can wait as `./PACK.cjs#CHUNK?NAME,NAME`. So is what the pack imports of itself by `import()`, which would
 * otherwise be kept from being one scope.
 */
async function bundlePack({ chunks, packOf, wanted }: Plan, pack: string, members: readonly string[]): Promise<string> {
  const plugin: Plugin = {
    name: 'packs',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.\// }, ({ path, kind }) => {
        const chunk = basename(path);
        const home = packOf.get(chunk);
        const isImport = kind === 'import-statement';
        if (home === pack && isImport) return { path: chunk, namespace: 'chunk' };
        const later = isImport && LATER.some(([name]) => name === home) ? `?${[...(wanted.get(chunk) ?? [])].join()}` : '';
        return { path: `./${home}.cjs#${nameOf(chunk)}${later}`, external: true };
      });
      onLoad({ filter: /./, namespace: 'chunk' }, ({ path }) => ({ contents: withRequires(chunks.texts.get(path) ?? ''), loader: 'js' }));
    },
  };
  const { outputFiles } = await build({
    ...SHARED,
    stdin: { contents: members.map((chunk) => renderNamespace(chunk, wanted.get(chunk) ?? new Set())).join(''), resolveDir: '/' },
    format: 'cjs',
    write: false,
    plugins: [plugin],
    // What is left of them is for modules of Node: V8 scripts have no import() of their own.
    supported: { 'dynamic-import': false },
  });
  return `(function (pack, require, __filename, __dirname) {${outputFiles?.[0]?.text}\n})`;
}

/** esbuild would make a copy of each namespace that is imported later, with a getter for each name. */
function withRequires(text: string): string {
  return text.replace(/\bimport\(("\.\/[\w-]+\.js")\)/g, 'Promise.resolve().then(()=>require($1))');
}

/** Names of each chunk that chunks of other packs import, or that may be imported later. */
function namesWantedElsewhere(chunks: Chunks, packOf: ReadonlyMap<string, string>): ReadonlyMap<string, ReadonlySet<string>> {
  const entries = new Set(chunks.entryChunk.values());
  const wanted = new Map([...packOf.keys()].map((chunk) => [chunk, new Set(entries.has(chunk) ? chunks.exports.get(chunk) : [])]));
  for (const [user, text] of chunks.texts) {
    for (const [, names, chunk] of text.matchAll(/\bimport\s*\{([^}]*)\}\s*from\s*"\.\/([\w-]+\.js)"/g)) {
      if (packOf.get(user) === packOf.get(chunk as string)) continue;
      for (const name of (names as string).split(',')) wanted.get(chunk as string)?.add(name.trim().replace(/\s+as\s.*/, ''));
    }
  }
  return wanted;
}

function renderNamespace(chunk: string, names: ReadonlySet<string>): string {
  const all = nameOf(chunk);
  const getters = [...names].map((name) => `get ${name}(){return ${all}.${name}}`);
  return `import * as ${all} from './${chunk}';\npack.${all} = {${getters.join(',')}};\n`;
}

function nameOf(chunk: string): string {
  return `$${chunk.replace(/\.js$/, '').replace(/\W/g, '_')}`;
}

/** The namespace of the module that the program begins with, inside `main.cjs`. */
export const MAIN_NAMESPACE = nameOf('main.js');
