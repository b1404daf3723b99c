import packageJson from '../../package.json' with { type: 'json' };

export const VERSION: string = packageJson.version;

/** Names this build; the build script puts a hash of the bundle in. Unbuilt sources have none and cache nothing. */
export const BUILD_ID: string | undefined = buildId('@HARN_BUILD_ID@');

function buildId(text: string): string | undefined {
  return text.startsWith('@') ? undefined : text;
}
