function escapeTime(cr, ci, limit) {
  let x = 0;
  let y = 0;
  let count = 0;
  while (count < limit) {
    const xx = x * x;
    const yy = y * y;
    if (xx + yy > 4) return count;
    y = 2 * x * y + ci;
    x = xx - yy + cr;
    count += 1;
  }
  return limit;
}

export function bench(n) {
  let total = 0;
  for (let row = 0; row < n; row++) {
    const ci = (2 * row) / n - 1;
    for (let column = 0; column < n; column++) {
      const cr = (3 * column) / n - 2;
      total += escapeTime(cr, ci, 100);
    }
  }
  return total;
}
