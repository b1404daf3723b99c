/**
 * The name that was probably meant (spec/language.md 5.2): within a Levenshtein distance that grows with the length,
 * the smallest distance first, then the closest length, then the alphabet.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  const limit = name.length <= 2 ? 1 : name.length <= 5 ? 2 : 3;
  let best: { readonly name: string; readonly distance: number; readonly gap: number } | undefined;
  for (const candidate of candidates) {
    if (candidate === name || candidate.startsWith('__')) continue;
    const gap = Math.abs(candidate.length - name.length);
    if (gap > limit) continue;
    const distance = editDistance(name, candidate, limit);
    if (distance > limit) continue;
    const isBetter =
      best === undefined ||
      distance < best.distance ||
      (distance === best.distance && (gap < best.gap || (gap === best.gap && candidate < best.name)));
    if (isBetter) best = { name: candidate, distance, gap };
  }
  return best?.name;
}

/** Levenshtein distance; anything above `limit` is answered as `limit + 1`. */
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
