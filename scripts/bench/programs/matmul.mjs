function matrix(n, seed) {
  const rows = [];
  for (let i = 0; i < n; i++) {
    const row = [];
    for (let j = 0; j < n; j++) row.push((i * seed + j) % 17);
    rows.push(row);
  }
  return rows;
}

export function bench(n) {
  const a = matrix(n, 3);
  const b = matrix(n, 5);
  let sum = 0;
  for (let i = 0; i < n; i++) {
    const row = a[i];
    for (let j = 0; j < n; j++) {
      let cell = 0;
      for (let k = 0; k < n; k++) cell += row[k] * b[k][j];
      sum = (sum + cell) % 1000007;
    }
  }
  return sum;
}
