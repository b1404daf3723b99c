export function bench(n) {
  const parts = [];
  for (let i = 0; i < n; i++) parts.push(`item ${i}: ${(i * 7) % 13}`);
  const text = parts.join('\n');
  let digits = 0;
  for (const line of text.split('\n')) {
    if (line.endsWith('0') || line.includes(': 7')) digits += 1;
  }
  return digits * 10 + (text.length % 10);
}
