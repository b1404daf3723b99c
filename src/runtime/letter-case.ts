/** Names in the usual styles (spec/language.md 12.11): split into words, joined in another style. */
export type LetterCase = 'snake' | 'kebab' | 'camel' | 'pascal';

export function convertCase(name: string, style: LetterCase): string {
  const words = wordsOf(name);
  switch (style) {
    case 'snake':
      return words.join('_');
    case 'kebab':
      return words.join('-');
    case 'camel':
      return words.map((word, index) => (index === 0 ? word : upperFirst(word))).join('');
    case 'pascal':
      return words.map(upperFirst).join('');
  }
}

/** Lower-case words. A run of capitals is one word up to the last, which begins the next: `HTTPServer` is `http`, `server`. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .split(/[\s_-]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}

export function upperFirst(text: string): string {
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length);
}

export function lowerFirst(text: string): string {
  const [first = ''] = text;
  return first.toLowerCase() + text.slice(first.length);
}

/** Every word with a capital; white space stays as it is. */
export function titleCase(text: string): string {
  return text.replaceAll(/\S+/g, (word) => upperFirst(word.toLowerCase()));
}
