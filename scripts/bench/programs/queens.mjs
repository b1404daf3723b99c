function safe(columns, row, column) {
  for (let r = 0; r < row; r++) {
    const c = columns[r];
    if (c === column) return false;
    if (Math.abs(c - column) === row - r) return false;
  }
  return true;
}

function place(columns, row, n) {
  if (row === n) return 1;
  let found = 0;
  for (let column = 0; column < n; column++) {
    if (safe(columns, row, column)) found += place([...columns, column], row + 1, n);
  }
  return found;
}

export const bench = (n) => place([], 0, n);
