function distance(a, b) {
  const left = [...a];
  const right = [...b];
  let previous = Array.from({ length: right.length + 1 }, (_, i) => i);
  for (let i = 0; i < left.length; i++) {
    const current = [i + 1];
    for (let j = 0; j < right.length; j++) {
      const cost = left[i] === right[j] ? 0 : 1;
      let best = previous[j] + cost;
      if (previous[j + 1] + 1 < best) best = previous[j + 1] + 1;
      if (current[j] + 1 < best) best = current[j] + 1;
      current.push(best);
    }
    previous = current;
  }
  return previous.at(-1);
}

export function bench(n) {
  return distance('the quick brown fox '.repeat(n), 'a lazy dog jumps now'.repeat(n));
}
