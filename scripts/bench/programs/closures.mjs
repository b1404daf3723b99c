const compose = (f, g) => (x) => g(f(x));

export function bench(n) {
  const numbers = Array.from({ length: n }, (_, i) => i);
  const step = compose(
    (x) => x + 1,
    (x) => x * 3,
  );
  let total = 0;
  for (let round = 0; round < 10; round++) {
    total += numbers
      .map((x) => step(x))
      .filter((x) => x % 2 === 0)
      .reduce((sum, x) => (sum + x) % 1000003, 0);
  }
  return total;
}
