import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { decodeProblem, OWN_TEXTS_ONLY } from '../../src/base/decode-problem.ts';

const schema = z.object({
  count: z.nullish(z.int().check(z.nonnegative())),
  format: z.nullish(z.enum(['native', 'text'])),
  paths: z.nullish(z.union([z.string(), z.array(z.string())])),
  own: z.nullish(z.string('is no name')),
  inner: z.nullish(z.strictObject({ list: z.array(z.boolean()) })),
});

const ROWS: readonly (readonly [input: unknown, problem: string])[] = [
  [{ count: '3' }, 'must be a number, got a string'],
  [{ count: 1.5 }, 'must be an int, got 1.5'],
  [{ count: -1 }, 'must be at least 0, got -1'],
  [{ format: 'xml' }, 'must be "native" or "text", got "xml"'],
  [{ paths: 3 }, 'must be a string or a list, got 3'],
  [{ paths: [3] }, 'must be a string or a dict of another form, got a list'],
  [{ own: {} }, 'is no name'],
  [{ inner: {} }, 'is missing; it must be a list'],
  [{ inner: { list: [null] } }, 'must be a bool, got nil'],
  [{ inner: { list: [], other: 1 } }, 'must be without `other`, got a dict'],
  [[], 'must be a dict, got a list'],
  [{ format: 'x'.repeat(50) }, 'must be "native" or "text", got a string'],
];

// As the SDK of the Model Context Protocol does for the whole process.
beforeAll(() => void z.config({ localeError: () => 'Invalid input: in the words of zod' }));
afterAll(() => void z.config({ localeError: undefined }));

test.each(ROWS)('%j %s', (input, problem) => {
  const outcome = schema.safeParse(input, OWN_TEXTS_ONLY);
  expect(decodeProblem(outcome.error?.issues[0], input)).toBe(problem);
});

test('without an issue there is nothing to say', () => expect(decodeProblem(undefined, {})).toBe('cannot be read'));
