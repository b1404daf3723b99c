export function bench(n) {
  let total = 0;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < 100; j++) {
      total = (total + i * j) % 1000003;
    }
  }
  return total;
}
