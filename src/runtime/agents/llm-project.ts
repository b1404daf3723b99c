import { posix as path } from 'node:path';
import { parse } from 'smol-toml';
import { decodeLlmSettings } from '../../agent/providers/llm-manifest.ts';
import { type LlmSettings, NO_SETTINGS } from '../../agent/providers/llm-settings.ts';
import { errorText } from '../../base/harn-error.ts';
import type { Run } from '../context.ts';
import { plainError } from '../errors.ts';

/** What `harn.toml` of the project says of models. @throws plain error for a file that cannot be read as such */
export function readLlmSettings({ platform, projectRoot }: Pick<Run, 'platform' | 'projectRoot'>): LlmSettings {
  if (projectRoot === undefined) return NO_SETTINGS;
  const file = path.join(projectRoot, 'harn.toml');
  let manifest: unknown;
  try {
    manifest = parse(platform.files.readText(file));
  } catch (error) {
    throw plainError(`${file}: ${errorText(error)}`);
  }
  return decodeLlmSettings(manifest, file);
}
