export function bench(n) {
  let longest = 0;
  for (let start = 1; start <= n; start++) {
    let value = start;
    let steps = 0;
    while (value !== 1) {
      if (value % 2 === 0) value = value / 2;
      else value = 3 * value + 1;
      steps += 1;
    }
    if (steps > longest) longest = steps;
  }
  return longest;
}
