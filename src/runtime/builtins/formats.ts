import { errorText } from '../../base/harn-error.ts';
import { optionsArgument, textArgument, textOption } from '../arguments.ts';
import type { BuiltinGroup } from '../builtin.ts';
import { compareText, dictEntries, dictGet, dictKeys, dictOf } from '../dict.ts';
import { isTruthy } from '../equality.ts';
import { thrownText } from '../errors.ts';
import { parseCsv, writeCsv } from '../formats/csv.ts';
import { Dict, typeOf, type Value } from '../value.ts';

// ---- CSV ----

function delimiterOf(name: string, options: Dict): string {
  const delimiter = textOption(options, 'delimiter') ?? ',';
  if (delimiter === '' || /["\r\n]/.test(delimiter)) throw thrownText(`${name}: invalid delimiter`);
  return delimiter;
}

function readCsv(text: Value, options: Dict): Value {
  const delimiter = delimiterOf('csv_parse', options);
  let rows: string[][];
  try {
    rows = parseCsv(textArgument(text), delimiter);
  } catch (error) {
    throw thrownText(`CSV parse error: ${errorText(error)}`);
  }
  const [header, ...rest] = rows;
  if (!isTruthy(dictGet(options, 'headers')) || header === undefined) return rows;
  return rest.map((row) => dictOf(header.map((name, index) => [name, row[index]])));
}

/** Columns of dict rows: those asked for, else every key that occurs. */
function columnsOf(rows: readonly Value[], headers: Value): string[] {
  if (Array.isArray(headers)) return headers.map((name: Value) => textArgument(name));
  const names = new Set(rows.flatMap((row) => (row instanceof Dict ? dictKeys(row) : [])));
  return [...names].sort(compareText);
}

function makeCsv(value: Value, options: Dict): string {
  const rows: readonly Value[] = Array.isArray(value) ? value : [];
  const headers = dictGet(options, 'headers');
  const columns = columnsOf(rows, headers);
  const lines = rows.map((row) => {
    if (row instanceof Dict) return columns.map((name) => textArgument(dictGet(row, name)));
    return (Array.isArray(row) ? row : [row]).map((item: Value) => textArgument(item));
  });
  const hasHeader = isTruthy(headers) && columns.length > 0;
  return writeCsv(hasHeader ? [columns, ...lines] : lines, delimiterOf('csv_stringify', options));
}

// ---- URLs ----

/** Only unreserved characters of RFC 3986 stay. */
function encodeUrl(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** A `+` is a blank; a `%` that begins no byte stays. */
function decodeUrl(text: string): string {
  return text
    .replaceAll('+', ' ')
    .replaceAll(/(?:%[0-9a-fA-F]{2})+/g, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
}

const present = (text: string): string | undefined => (text === '' ? undefined : text);

function parseUrl(value: Value): Value {
  const text = textArgument(value);
  if (!URL.canParse(text)) throw thrownText(`url_parse: invalid URL: ${text}`);
  const url = new URL(text);
  return dictOf([
    ['scheme', url.protocol.slice(0, -1)],
    ['host', present(url.hostname)],
    ['port', url.port === '' ? undefined : Number(url.port)],
    ['path', url.pathname],
    ['query', present(url.search.slice(1))],
    ['fragment', present(url.hash.slice(1))],
    ['username', present(decodeURIComponent(url.username))],
    ['password', present(decodeURIComponent(url.password))],
  ]);
}

function buildUrl(parts: Dict): string {
  const part = (name: string): string | undefined => textOption(parts, name);
  const [scheme, port, fragment] = ['scheme', 'port', 'fragment'].map(part);
  const query = queryText(dictGet(parts, 'query'));
  const name = part('host');
  const host = name?.includes(':') === true && !name.startsWith('[') ? `[${name}]` : name;
  const path = part('path') ?? '';
  const user = part('username');
  const password = part('password');
  let url = scheme === undefined ? '' : `${scheme}:`;
  if (host !== undefined) {
    const credentials = user === undefined ? '' : `${encodeUrl(user)}${password === undefined ? '' : `:${encodeUrl(password)}`}@`;
    url += `//${credentials}${host}${port === undefined ? '' : `:${port}`}`;
  }
  url += host !== undefined && path !== '' && !path.startsWith('/') ? `/${path}` : path;
  if (query !== undefined && query !== '') url += `?${query.replace(/^\?/, '')}`;
  return fragment === undefined || fragment === '' ? url : `${url}#${fragment.replace(/^#/, '')}`;
}

/** A query as text, or as parameters that are still to be written. */
function queryText(query: Value): string | undefined {
  if (query instanceof Dict || Array.isArray(query)) return queryOf(query);
  return query === undefined ? undefined : textArgument(query);
}

function queryOf(parameters: Value): string {
  return new URLSearchParams(pairsOf(parameters)).toString();
}

/** A list as the value of a key repeats the key. */
function pairsOf(value: Value): [string, string][] {
  if (value instanceof Dict) {
    return dictEntries(value).flatMap(([key, items]) =>
      (Array.isArray(items) ? items : [items]).map((item: Value): [string, string] => [key, textArgument(item)]),
    );
  }
  if (!Array.isArray(value)) return [];
  return value.map((item: Value) => {
    if (!(item instanceof Dict)) throw thrownText(`query_stringify: expected dicts of key and value, got ${typeOf(item)}`);
    return [textOption(item, 'key') ?? '', textOption(item, 'value') ?? ''];
  });
}

/** CSV, URLs and query strings (spec/language.md 12.11). */
export const FORMATS: BuiltinGroup = {
  name: 'formats',
  title: 'CSV and URLs',
  errors: [
    { text: 'CSV parse error: …', when: 'quotes that do not fit' },
    { text: 'NAME: invalid delimiter', when: 'a delimiter that is empty or a quote' },
    { text: 'query_stringify: expected dicts of key and value, got T', when: 'a list of something else; also a `query` of `url_build`' },
    { text: 'url_parse: invalid URL: S', when: '`url_parse`' },
  ],
  builtins: {
    csv_parse: {
      signature: '(text: any, options: any = nil) -> list',
      doc: 'Rows as lists, or as dicts with `headers: true`. `delimiter` is a comma by default.',
      call: (_c, _d, text, options) => readCsv(text, optionsArgument(options)),
    },
    csv_stringify: {
      signature: '(rows: list | any, options: any = nil) -> string',
      doc: 'Rows as CSV. `headers: true` writes the keys of dict rows first; a list of names chooses columns.',
      call: (_c, _d, rows, options) => makeCsv(rows, optionsArgument(options)),
    },
    url_encode: {
      signature: '(text: any) -> string',
      doc: 'Percent encoding; a blank is `%20`.',
      call: (_c, _d, text) => encodeUrl(textArgument(text)),
    },
    url_decode: {
      signature: '(text: any) -> string',
      doc: 'Undoes percent encoding; `+` is a blank.',
      call: (_c, _d, text) => decodeUrl(textArgument(text)),
    },
    url_parse: {
      signature: '(url: any) -> dict',
      doc: '`{scheme, host, port, path, query, fragment, username, password}`; absent parts are nil.',
      call: (_c, _d, url) => parseUrl(url),
    },
    url_build: {
      signature: '(parts: any) -> string',
      doc: 'The URL of the parts that url_parse gives; `query` may also be what query_stringify takes.',
      call: (_c, _d, parts) => buildUrl(optionsArgument(parts)),
    },
    query_parse: {
      signature: '(query: any) -> list<dict>',
      doc: '`{key, value}` of each parameter, in order and with repeats.',
      call: (_c, _d, query) =>
        [...new URLSearchParams(textArgument(query))].map(([key, value]) =>
          dictOf([
            ['key', key],
            ['value', value],
          ]),
        ),
    },
    query_stringify: {
      signature: '(parameters: any) -> string',
      doc: 'A query string of `{key, value}` dicts, or of one dict, in which a list repeats its key.',
      call: (_c, _d, parameters) => queryOf(parameters),
    },
  },
};
