/**
 * Line alignment. Emitted pieces carry marks (`line(7)`) instead of newlines; `layOut` turns them into newlines so
 * that what was written on line 7 of the script stands on line 7 of the JavaScript. A mark behind the current line is
 * dropped: code never moves up. V8's stacks then name script lines without a source map.
 */
const OPEN = '\u0001';
const CLOSE = '\u0002';

export function line(number: number): string {
  return `${OPEN}${number}${CLOSE}`;
}

export function layOut(code: string): string {
  let current = 1;
  let result = '';
  let from = 0;
  for (;;) {
    const open = code.indexOf(OPEN, from);
    if (open === -1) return result + code.slice(from);
    const close = code.indexOf(CLOSE, open);
    const target = Number(code.slice(open + 1, close));
    result += code.slice(from, open);
    if (target > current) {
      result += '\n'.repeat(target - current);
      current = target;
    }
    from = close + 1;
  }
}
