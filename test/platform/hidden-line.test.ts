import { expect, test } from 'vitest';
import { HiddenLine } from '../../src/platform/node-stdio.ts';

const ROWS: readonly (readonly [rule: string, keys: readonly string[], text: string | undefined, rest: string | undefined])[] = [
  ['return ends the line', ['geheim\r'], 'geheim', ''],
  ['keys may come in pieces, and what follows is kept', ['ge', 'heim\nnext'], 'geheim', 'next'],
  ['a line goes on until it ends', ['geh'], 'geh', undefined],
  ['an empty line is empty text', ['\n'], '', ''],
  ['backspace takes back one code point', ['ab😀\u007f\u007f\r'], 'a', ''],
  ['backspace at the start does nothing', ['\u007fa\r'], 'a', ''],
  ['Ctrl-U takes back all', ['wrong\u0015right\r'], 'right', ''],
  ['Ctrl-D on an empty line ends the input', ['\u0004'], undefined, ''],
  ['Ctrl-D within a line is no key', ['a\u0004b\r'], 'ab', ''],
  ['other control keys are no text', ['a\u001b\tb\r'], 'ab', ''],
];

test.each(ROWS)('%s', (_rule, keys, text, rest) => {
  const line = new HiddenLine();
  let left: string | undefined;
  for (const piece of keys) left = line.take(piece);
  expect({ text: line.text, left, isInterrupted: line.isInterrupted }).toEqual({ text, left: rest, isInterrupted: false });
});

test('Ctrl-C interrupts and gives nothing', () => {
  const line = new HiddenLine();
  expect(line.take('abc\u0003')).toBe('');
  expect([line.text, line.isInterrupted]).toEqual([undefined, true]);
});
