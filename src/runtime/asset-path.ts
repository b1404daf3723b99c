import { posix as path } from 'node:path';
import { parse } from 'smol-toml';
import type { Run } from './context.ts';
import { thrownText } from './errors.ts';

/**
 * Absolute path of an asset (spec/language.md 9.5): `@/p` lies below the project root, `@alias/p` below a folder named in
 * `[asset_roots]` of harn.toml; any other relative path starts at the directory of the file that names it.
 *
 * @throws a string when the path leaves the project or the alias is not known
 */
export function assetPath(run: Run, given: string, directory: string): string {
  if (!given.startsWith('@')) return path.resolve(directory, given);
  const slash = given.indexOf('/');
  const alias = given.slice(1, slash < 0 ? undefined : slash);
  const rest = slash < 0 ? '' : given.slice(slash + 1);
  if (run.projectRoot === undefined) throw thrownText(`asset path ${given} needs a harn.toml above the script`);
  if (path.isAbsolute(rest) || rest.split('/').includes('..')) throw thrownText(`asset path ${given} leaves the project`);
  return path.join(run.projectRoot, alias === '' ? '.' : assetRoot(run, alias, given), rest);
}

function assetRoot(run: Run, alias: string, given: string): string {
  const { asset_roots: roots } = parse(run.platform.files.readText(path.join(run.projectRoot ?? '', 'harn.toml')));
  const root =
    typeof roots === 'object' && !Array.isArray(roots) && Object.hasOwn(roots, alias)
      ? (roots as Record<string, unknown>)[alias]
      : undefined;
  if (typeof root !== 'string') throw thrownText(`asset path ${given}: harn.toml has no [asset_roots] entry \`${alias}\``);
  if (path.isAbsolute(root) || root.split('/').includes('..')) throw thrownText(`asset path ${given} leaves the project`);
  return root;
}
