import { intArgument } from '../arguments.ts';
import { dictEntries, dictGet, dictOf } from '../dict.ts';
import { Dict, type Value } from '../value.ts';

/** A response of the in-process server: `{status, headers, body}`; header names in lower case. */
export function httpResponse(status: Value, body: Value, headers: Value, contentType?: string): Dict {
  const given = headers instanceof Dict ? dictEntries(headers).map(([name, value]): [string, Value] => [name.toLowerCase(), value]) : [];
  const named = contentType === undefined ? given : [['content-type', contentType] as [string, Value], ...given];
  return dictOf([
    ['status', intArgument(status, 200)],
    ['headers', dictOf(named)],
    ['body', body],
  ]);
}

/** A header of a dict of headers, or of a request or response, whatever its case. */
export function headerOf(source: Value, name: string): Value {
  if (!(source instanceof Dict)) return undefined;
  const inner = dictGet(source, 'headers');
  const headers = inner instanceof Dict ? inner : source;
  return dictEntries(headers).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
}
