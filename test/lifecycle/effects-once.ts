import { expect } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { Files } from '../../src/platform/platform.ts';
import { integrityFaults } from '../agent/integrity-faults.ts';
import { effectsOf } from './loop-world.ts';

const UNKNOWN = /its outcome is unknown/;
const NOT_RUN = /it did not run/;

/**
 * Asserts what a transcript may say of effects after any number of deaths: each call has one answer; what is said to
 * have happened happened, nothing happened twice, and nothing happened that is not settled or said to be unknown.
 */
export function expectEffectsOnce(files: Files, directory: string, messages: readonly JsonObject[], planned: readonly string[]): void {
  const effects = effectsOf(files, directory);
  expect(effects).toEqual([...new Set(effects)]);
  expect(integrityFaults(messages as never)).toEqual([]);
  const results = messages.filter((message) => message.role === 'tool').map((message) => String(message.content));
  const settled = results.filter((text) => text.startsWith('did ')).map((text) => text.slice('did '.length));
  expect(settled.filter((name) => !effects.includes(name))).toEqual([]);
  const unknown = results.filter((text) => UNKNOWN.test(text)).length;
  const skipped = results.filter((text) => NOT_RUN.test(text)).length;
  expect(settled.length + unknown + skipped).toBe(planned.length);
  expect(effects.length).toBeLessThanOrEqual(settled.length + unknown);
}
