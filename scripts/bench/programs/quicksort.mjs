export function bench(n) {
  const items = [];
  let state = 42;
  for (let i = 0; i < n; i++) {
    state = (state * 16807) % 2147483647;
    items.push(state % 100000);
  }
  const stack = [0, n - 1];
  while (stack.length > 0) {
    const high = stack.pop();
    const low = stack.pop();
    if (low < high) {
      const pivot = items[Math.trunc((low + high) / 2)];
      let i = low;
      let j = high;
      while (i <= j) {
        while (items[i] < pivot) i += 1;
        while (items[j] > pivot) j -= 1;
        if (i <= j) {
          const kept = items[i];
          items[i] = items[j];
          items[j] = kept;
          i += 1;
          j -= 1;
        }
      }
      stack.push(low, j, i, high);
    }
  }
  return items[0] + items[Math.trunc(n / 2)] * 3 + items[n - 1];
}
