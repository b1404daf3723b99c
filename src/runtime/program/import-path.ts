import { posix as path } from 'node:path';
import { parse } from 'smol-toml';
import { nearestName } from '../../base/near-name.ts';
import { STDLIB_SOURCES } from '../../stdlib/sources.ts';
import type { ProbedFiles } from './import-probes.ts';

/** Where an import leads (spec/language.md 9.1). */
export type ImportTarget =
  | { readonly kind: 'std'; readonly path: string; readonly text: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'missing'; readonly message: string; readonly help?: string };

/** Resolves what an import in a file of `directory` names. */
export function resolveImport(files: ProbedFiles, directory: string, written: string): ImportTarget {
  if (written === 'std' || written.startsWith('std/')) {
    const name = written.slice(4);
    const text = Object.hasOwn(STDLIB_SOURCES, name) ? STDLIB_SOURCES[name]?.() : undefined;
    return text === undefined ? unknownModule(written) : { kind: 'std', path: written, text };
  }
  const direct = firstFile(files, candidates(path.resolve(directory, written)));
  if (direct !== undefined) return { kind: 'file', path: direct };
  if (!written.startsWith('.') && !path.isAbsolute(written)) {
    const found = resolvePackage(files, directory, written);
    if (found !== undefined) return found;
  }
  const tried = path.resolve(directory, written);
  return {
    kind: 'missing',
    message: `Import error: cannot read '${withExtension(tried)}': No such file or directory (os error 2)`,
    help: 'a path begins at the folder of the importing file; a package lies in .harn/packages; modules of Harn begin with `std/`',
  };
}

function unknownModule(written: string): ImportTarget {
  const known = Object.keys(STDLIB_SOURCES).filter((name) => !name.startsWith('prelude/'));
  const near = nearestName(
    written,
    known.map((name) => `std/${name}`),
  );
  const help = near === undefined ? 'docs/language/standard-library.md lists the modules' : `did you mean \`${near}\`?`;
  return { kind: 'missing', message: `Unknown stdlib module: ${written}`, help };
}

/** The module under `std/` that exports a function of this name; looked up only when a call has no target. */
export function moduleExporting(name: string): string | undefined {
  if (!/^[a-z]\w*$/.test(name)) return undefined;
  const declaration = new RegExp(`^(pub )?(?:gen )?fn ${name}\\b`, 'm');
  for (const [path, source] of Object.entries(STDLIB_SOURCES)) {
    const text = source();
    const found = path.startsWith('prelude/') ? null : declaration.exec(text);
    // A module without any `pub` exports all of its functions.
    if (found !== null && (found[1] !== undefined || !/^pub /m.test(text))) return `std/${path}`;
  }
  return undefined;
}

/** As given when it exists, else with `.harn` when the name has no extension. */
function candidates(base: string): string[] {
  return path.extname(base) === '' ? [base, `${base}.harn`] : [base];
}

function withExtension(base: string): string {
  return path.extname(base) === '' ? `${base}.harn` : base;
}

function firstFile(files: ProbedFiles, paths: readonly string[]): string | undefined {
  return paths.find((candidate) => files.isFile(candidate));
}

/** Packages live in `.harn/packages` of an ancestor, up to a directory with `.git`. */
function resolvePackage(files: ProbedFiles, directory: string, written: string): ImportTarget | undefined {
  if (leaves(written)) return outside(written);
  for (let current = directory; ; current = path.dirname(current)) {
    const root = path.join(current, '.harn/packages');
    const base = path.join(root, written);
    const found = firstFile(files, [...candidates(base), path.join(base, 'lib.harn')]);
    if (found !== undefined) return { kind: 'file', path: found };
    const exported = resolveExport(files, root, written);
    if (exported !== undefined) return exported;
    if (files.exists(path.join(current, '.git')) || path.dirname(current) === current) return undefined;
  }
}

/** `name/sub` where the package's manifest says which file `sub` is; a bare `name` is its `lib`. */
function resolveExport(files: ProbedFiles, root: string, written: string): ImportTarget | undefined {
  const [name = '', ...rest] = written.split('/');
  const home = path.join(root, name);
  const manifest = path.join(home, 'harn.toml');
  if (!files.exists(manifest)) return undefined;
  const file = exportedFile(files.readText(manifest), rest.length === 0 ? 'lib' : rest.join('/'));
  if (file === undefined) return undefined;
  if (leaves(file)) return outside(written);
  const found = firstFile(files, candidates(path.join(home, file)));
  return found === undefined ? undefined : { kind: 'file', path: found };
}

/** A manifest that cannot be read exports nothing. */
function exportedFile(manifest: string, name: string): string | undefined {
  try {
    const { exports } = parse(manifest);
    const file = typeof exports === 'object' ? Object.entries(exports).find(([key]) => key === name)?.[1] : undefined;
    return typeof file === 'string' ? file : undefined;
  } catch {
    return undefined;
  }
}

function leaves(written: string): boolean {
  return path.isAbsolute(written) || written.split('/').includes('..');
}

function outside(written: string): ImportTarget {
  return { kind: 'missing', message: `Import error: '${written}' leaves its package` };
}
