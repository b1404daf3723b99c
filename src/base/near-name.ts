import { editDistance } from './edit-distance.ts';

/**
 * The name that was probably meant (spec/language.md 5.2, 8.5): within a Levenshtein distance that grows with the length,
 * the smallest distance first, then the closest length, then the alphabet. Of three letters two have to be right; a single one is no hint.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length === 1) return undefined;
  const limit = name.length <= 3 ? 1 : name.length <= 5 ? 2 : 3;
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
