import { lazily } from '../base/lazily.ts';

/** Classes of Unicode take V8 a while to read, and most output is ASCII. */
const zeroCells = lazily(() => /^[\p{Mn}\p{Me}\p{Cf}]$/u);
const twoCells = lazily(
  () =>
    /^(?:[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation})$/u,
);

const ASCII = /^[ -~]*$/;

/** Columns that a text takes in a terminal. */
export function cellsOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let cells = 0;
  for (const character of text) cells += twoCells().test(character) ? 2 : zeroCells().test(character) ? 0 : 1;
  return cells;
}
