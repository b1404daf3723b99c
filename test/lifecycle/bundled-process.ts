import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { sharedDirectory } from '../support/scratch.ts';

/** Parts of the platform that load when they are needed, which in these processes they never are. */
const NEVER_LOADED = ['undici', 'execa', 'chokidar'];

/**
 * A program that tests start many times over, as one small file: the start is most of what such a process costs.
 *
 * @returns the path for `node`; it is gone after the tests of the file
 */
export async function bundledProcess(source: URL): Promise<string> {
  const path = fileURLToPath(source);
  const outfile = join(sharedDirectory(), `${basename(path, '.ts')}.cjs`);
  const size = { minifyWhitespace: true, minifySyntax: true, external: NEVER_LOADED };
  await build({ entryPoints: [path], outfile, bundle: true, platform: 'node', format: 'cjs', logLevel: 'silent', ...size });
  return outfile;
}
