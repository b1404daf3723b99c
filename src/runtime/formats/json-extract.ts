import { firstCodePoints } from '../../agent/json-text.ts';
import { thrownText } from '../errors.ts';
import { parseJsonAt } from '../json.ts';
import type { Value } from '../value.ts';

/** A text with more unfinished brackets than this is no JSON with text around it, and trying them all takes quadratic time. */
const MAX_ATTEMPTS = 200;

/**
 * The first JSON value in an answer of a model: the whole text, else what a code fence holds, else the first object or
 * list that parses.
 *
 * @throws the string `json_extract: failed to parse JSON: …`
 */
export function extractJson(text: string): Value {
  const fence = /```[a-zA-Z0-9]*[ \t]*\r?\n([\s\S]*?)```/.exec(text)?.[1];
  for (const candidate of fence === undefined ? [text] : [fence, text]) {
    const found = whole(candidate) ?? firstBracketed(candidate);
    if (found !== undefined) return found.value;
  }
  throw thrownText(`json_extract: failed to parse JSON: no JSON value in \`${excerpt(text)}\``);
}

function whole(text: string): { readonly value: Value } | undefined {
  const found = parseJsonAt(text, 0);
  return found !== undefined && text.slice(found.end).trim() === '' ? found : undefined;
}

function firstBracketed(text: string): { readonly value: Value } | undefined {
  let attempts = 0;
  for (let at = text.search(/[[{]/); at >= 0 && attempts < MAX_ATTEMPTS; attempts++) {
    const found = parseJsonAt(text, at);
    if (found !== undefined) return found;
    const next = text.slice(at + 1).search(/[[{]/);
    at = next < 0 ? -1 : at + 1 + next;
  }
  return undefined;
}

function excerpt(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length > 60 ? `${firstCodePoints(line, 60)}…` : line;
}
