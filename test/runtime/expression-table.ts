import { beforeAll, describe, expect, it } from 'vitest';
import type { Platform } from '../../src/platform/platform.ts';
import { runText } from './run-text.ts';

/** An expression and what it displays; an error shows as `error: ` and its text. */
export type ExpressionRow = readonly [expression: string, shows: string];

const MARK = '\u241e';

/**
 * A table of expressions as tests. All rows run in one script, each caught on its own, so that a table of a hundred rows costs
 * one run.
 */
export function expressionTable(
  title: string,
  rows: readonly ExpressionRow[],
  options: { setup?: string; platform?: Platform } = {},
): void {
  describe(title, () => {
    let shown: readonly string[] = [];

    beforeAll(async () => {
      const body = rows.map(([expression]) => `try { print(${expression}) } catch (e) { print("error: \${e}") }\nprint("${MARK}")`);
      const { out, outcome } = await runText(`${options.setup ?? ''}\n${body.join('\n')}`, options.platform);
      if (outcome.kind === 'rejected')
        throw new Error(outcome.diagnostics.map(({ message, span }) => `${message} (line ${span?.line ?? '?'})`).join('\n'));
      if (outcome.kind === 'failed') throw new Error(outcome.failure.message);
      shown = out.split(MARK);
    });

    rows.forEach(([expression, shows], index) => {
      it(`${expression} shows ${shows}`, () => {
        expect(shown[index]).toBe(shows);
      });
    });
  });
}
