import type { Platform } from '../platform/platform.ts';
import { CompileCache } from '../runtime/program/compile-cache.ts';
import { CachedPrograms } from '../runtime/program/program-source.ts';
import { BUILD_ID } from './version.ts';

/** The user's cache of compiled programs; undefined when harn runs from its sources, which change under it. */
export function cachedPrograms(platform: Platform): CachedPrograms | undefined {
  return BUILD_ID === undefined ? undefined : new CachedPrograms(platform, new CompileCache(platform, BUILD_ID));
}
