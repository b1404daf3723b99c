/** Levenshtein distance in code points; anything above `limit` is answered as `limit + 1`. */
export function editDistance(a: string, b: string, limit: number): number {
  const left = [...a];
  const right = [...b];
  let previous = Array.from({ length: right.length + 1 }, (_, i) => i);
  for (let i = 1; i <= left.length; i++) {
    const row = [i];
    let lowest = i;
    for (let j = 1; j <= right.length; j++) {
      const cost = left[i - 1] === right[j - 1] ? 0 : 1;
      const value = Math.min((previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + cost);
      row.push(value);
      lowest = Math.min(lowest, value);
    }
    if (lowest > limit) return limit + 1;
    previous = row;
  }
  return previous[right.length] ?? limit + 1;
}
