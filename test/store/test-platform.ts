import { createNodePlatform } from '../../src/platform/node-platform.ts';
import type { Platform } from '../../src/platform/platform.ts';

/** The real machine with some parts replaced. */
export function testPlatform(replaced: Partial<Platform> = {}): Platform {
  return { ...createNodePlatform(), ...replaced };
}
