import { dictGet, dictHas, dictRemove, dictSet } from '../dict.ts';
import { thrownText } from '../errors.ts';
import { Dict, type Value } from '../value.ts';

/** JSON pointers (RFC 6901) over values. Nothing is changed in place. */
type Tokens = readonly string[];

/** @throws a string for a pointer that does not begin with a slash */
export function pointerTokens(name: string, pointer: string): Tokens {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) throw thrownText(`${name}: a pointer is empty or begins with \`/\`: ${pointer}`);
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export function pointerGet(value: Value, tokens: Tokens): Value {
  return tokens.reduce<Value>((current, token) => child(current, token), value);
}

function child(value: Value, token: string): Value {
  if (value instanceof Dict) return dictGet(value, token);
  return Array.isArray(value) ? (value as Value[])[indexOf(token) ?? -1] : undefined;
}

/** Digits without leading zeros. */
function indexOf(token: string): number | undefined {
  return /^(?:0|[1-9]\d{0,14})$/.test(token) ? Number(token) : undefined;
}

/**
 * A copy with another value at the pointer. In a list, `-` appends.
 * @throws a string when the parent does not exist
 */
export function pointerSet(value: Value, tokens: Tokens, replacement: Value, path = ''): Value {
  const [token, ...rest] = tokens;
  if (token === undefined) return replacement;
  const here = `${path}/${token}`;
  if (value instanceof Dict) {
    if (rest.length > 0 && !dictHas(value, token)) throw thrownText(`json_pointer_set: nothing at ${here}`);
    return dictSet(value, token, pointerSet(dictGet(value, token), rest, replacement, here));
  }
  if (!Array.isArray(value)) throw thrownText(`json_pointer_set: nothing at ${here}`);
  const items: readonly Value[] = value;
  const index = token === '-' ? items.length : indexOf(token);
  if (index === undefined || index > items.length || (index === items.length && rest.length > 0)) {
    throw thrownText(`json_pointer_set: no position ${here} in a list of ${items.length}`);
  }
  return items.toSpliced(index, 1, pointerSet(items[index], rest, replacement, here));
}

/** A copy without what is at the pointer; the value itself when nothing is there. */
export function pointerDelete(value: Value, tokens: Tokens): Value {
  const [token, ...rest] = tokens;
  if (token === undefined) return undefined;
  if (value instanceof Dict) {
    if (!dictHas(value, token)) return value;
    return rest.length === 0 ? dictRemove(value, token) : dictSet(value, token, pointerDelete(dictGet(value, token), rest));
  }
  if (!Array.isArray(value)) return value;
  const items: readonly Value[] = value;
  const index = indexOf(token);
  if (index === undefined || index >= items.length) return value;
  return rest.length === 0 ? items.toSpliced(index, 1) : items.with(index, pointerDelete(items[index], rest));
}
