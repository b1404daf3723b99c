import { structuredPatch } from 'diff';

export interface TextDifference {
  readonly added: number;
  readonly removed: number;
  /** Hunks in the usual notation, three lines of context, without file names. */
  readonly lines: readonly string[];
}

/** What changed between two texts, for people. */
export function textDifference(before: string, now: string): TextDifference {
  const { hunks } = structuredPatch('', '', before, now, '', '', { context: 3 });
  const lines = hunks.flatMap((hunk) => [
    `@@ line ${hunk.oldLines === 0 ? hunk.oldStart + 1 : hunk.oldStart} then, line ${hunk.newLines === 0 ? hunk.newStart + 1 : hunk.newStart} now @@`,
    ...hunk.lines.filter((line) => !line.startsWith('\\')),
  ]);
  const count = (mark: string): number => hunks.flatMap((hunk) => hunk.lines).filter((line) => line.startsWith(mark)).length;
  return { added: count('+'), removed: count('-'), lines };
}
