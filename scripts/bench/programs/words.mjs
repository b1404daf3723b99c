export function bench(n) {
  const counts = new Map();
  let state = 7;
  for (let i = 0; i < n; i++) {
    state = (state * 1103 + 12345) % 65536;
    const key = `w${state % 500}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  let best = 0;
  for (const value of counts.values()) if (value > best) best = value;
  return best * 1000 + counts.size;
}
