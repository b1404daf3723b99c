/**
 * Comma-separated values (RFC 4180): quotes around a field allow the delimiter, line ends and doubled quotes in it. Empty
 * lines are skipped.
 *
 * @throws Error for a quote that is never closed
 */
export function parseCsv(text: string, delimiter: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  let line = 1;
  while (at < text.length) {
    let field = '';
    const isQuoted = text[at] === '"';
    if (isQuoted) {
      const begin = line;
      for (at++; ; at++) {
        const character = text[at];
        if (character === undefined) throw new Error(`quote is not closed (line ${begin})`);
        if (character === '"' && text[++at] !== '"') break;
        if (character === '\n') line++;
        field += character;
      }
    }
    const end = fieldEnd(text, at, delimiter);
    field += text.slice(at, end);
    at = end;
    row.push(field);
    if (text.startsWith(delimiter, at)) {
      at += delimiter.length;
      // A delimiter at the very end leaves one more, empty field.
      if (at < text.length) continue;
      row.push('');
    }
    if (row.length > 1 || isQuoted || field !== '') rows.push(row);
    row = [];
    line++;
    at += text.startsWith('\r\n', at) ? 2 : 1;
  }
  return rows;
}

function fieldEnd(text: string, from: number, delimiter: string): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\n' || text.startsWith('\r\n', at) || text.startsWith(delimiter, at)) return at;
  }
  return text.length;
}

/** Rows as text, each ended by a newline; a field is quoted only when it has to be. */
export function writeCsv(rows: readonly (readonly string[])[], delimiter: string): string {
  return rows.map((row) => `${row.map((field) => writeField(field, delimiter, row.length)).join(delimiter)}\n`).join('');
}

function writeField(field: string, delimiter: string, width: number): string {
  // An empty line would be skipped by readers.
  const isAlone = field === '' && width === 1;
  return isAlone || field.includes(delimiter) || /["\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
