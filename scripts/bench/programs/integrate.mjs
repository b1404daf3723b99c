export function bench(n) {
  let sum = 0;
  const width = 1 / n;
  for (let i = 0; i < n; i++) {
    const x = (i + 0.5) * width;
    sum += 4 / (1 + x * x);
  }
  return Math.round(sum * width * 1000000);
}
