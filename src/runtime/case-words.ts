/**
 * Words of an identifier in any case: `HTTPServer`, `http_server` and `http-server` are `http`, `server`. Digits stay with
 * the word before them.
 */
export function wordsOf(identifier: string): string[] {
  return identifier
    .split(/[_\-\s]+/)
    .flatMap((part) => part.split(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u))
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}

export function uppercaseFirst(text: string): string {
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length);
}

export function lowercaseFirst(text: string): string {
  const [first = ''] = text;
  return first.toLowerCase() + text.slice(first.length);
}

export const CASES = {
  snake: (words: readonly string[]) => words.join('_'),
  kebab: (words: readonly string[]) => words.join('-'),
  pascal: (words: readonly string[]) => words.map(uppercaseFirst).join(''),
  camel: (words: readonly string[]) => lowercaseFirst(words.map(uppercaseFirst).join('')),
} as const;
