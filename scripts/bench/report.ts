import type { Row } from './measure.ts';

/** The rows as a table for people; a missed goal is marked. */
export function renderTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.group,
    row.name,
    renderFigure(row.value, row.unit),
    row.goal === undefined ? '' : `<= ${renderFigure(row.goal, row.unit)}`,
    mark(row),
    renderDetails(row),
  ]);
  const header = ['group', 'what', 'measured', 'goal', '', 'figures'];
  const widths = header.map((title, column) => Math.max(title.length, ...cells.map((line) => (line[column] ?? '').length)));
  const line = (parts: readonly string[]): string =>
    parts
      .map((part, column) => part.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(header), ...cells.map(line)].join('\n');
}

function mark(row: Row): string {
  if (row.goal === undefined) return '';
  return row.value <= row.goal ? 'ok' : 'MISSED';
}

function renderFigure(value: number, unit: Row['unit']): string {
  switch (unit) {
    case 'ratio':
      return `${value.toFixed(2)}x`;
    case 'ms':
      return `${value.toFixed(1)} ms`;
    case 'us':
      return `${value.toFixed(1)} us`;
    case 'bytes':
      return `${Math.round(value)} B`;
  }
}

function renderDetails(row: Row): string {
  return Object.entries(row.figures)
    .map(([name, value]) => `${name} ${Number.isInteger(value) ? value : value.toFixed(2)}`)
    .join(', ');
}
