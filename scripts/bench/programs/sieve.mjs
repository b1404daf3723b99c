export function bench(n) {
  const composite = [];
  for (let i = 0; i <= n; i++) composite.push(false);
  let count = 0;
  for (let i = 2; i <= n; i++) {
    if (composite[i]) continue;
    count += 1;
    for (let j = i * i; j <= n; j += i) composite[j] = true;
  }
  return count;
}
