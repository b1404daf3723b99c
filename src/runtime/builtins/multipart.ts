import { bytesArgument, intArgument, optionsArgument, textArgument, textOption } from '../arguments.ts';
import type { BuiltinGroup } from '../builtin.ts';
import { dictEntries, dictGet, dictOf } from '../dict.ts';
import { thrownText } from '../errors.ts';
import { type MultipartField, parameter, parseMultipart, writeMultipart } from '../http/multipart.ts';
import { Dict, type Value } from '../value.ts';

function decodeText(content: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}

function fieldDict(field: MultipartField): Dict {
  return dictOf([
    ['name', field.name],
    ['filename', field.filename],
    ['content_type', field.contentType],
    ['headers', dictOf(Object.entries(field.headers))],
    ['bytes', field.content],
    ['text', decodeText(field.content)],
    ['size', field.content.length],
  ]);
}

function parse(body: Value, contentType: Value, options: Dict): Value {
  const bytes = bytesArgument(body);
  const boundary = parameter(textArgument(contentType), 'boundary') ?? '';
  try {
    const fields = parseMultipart(bytes, boundary, {
      maxFields: intArgument(dictGet(options, 'max_fields'), 1_000),
      maxFieldBytes: intArgument(dictGet(options, 'max_field_bytes'), 16 * 1024 * 1024),
      maxTotalBytes: intArgument(dictGet(options, 'max_total_bytes'), 64 * 1024 * 1024),
    });
    return dictOf([
      ['boundary', boundary],
      ['fields', fields.map(fieldDict)],
      ['field_count', fields.length],
      ['total_bytes', bytes.length],
    ]);
  } catch (error) {
    throw thrownText(`multipart_parse: ${(error as Error).message}`);
  }
}

function fieldFrom(value: Value): MultipartField {
  const field = optionsArgument(value);
  const headers = dictGet(field, 'headers');
  return {
    name: textOption(field, 'name') ?? '',
    filename: textOption(field, 'filename'),
    contentType: textOption(field, 'content_type'),
    headers: headers instanceof Dict ? Object.fromEntries(dictEntries(headers).map(([name, item]) => [name, textArgument(item)])) : {},
    content: bytesArgument(['content', 'value', 'bytes', 'text'].map((key) => dictGet(field, key)).find((item) => item !== undefined)),
  };
}

/** The same fields always give the same body, so that fixtures can be compared. */
const DEFAULT_BOUNDARY = 'harn-form-boundary';

/** Bodies of the kind `multipart/form-data` (spec/language.md 12.12). */
export const MULTIPART: BuiltinGroup = {
  name: 'multipart',
  title: 'Multipart forms',
  errors: [
    { text: 'multipart_parse: …', when: 'the body is malformed or above a limit' },
    { text: 'multipart_field_text: field is not valid UTF-8', when: '`multipart_field_text`' },
  ],
  builtins: {
    multipart_parse: {
      signature: '(body: any, content_type: any, options: any = nil) -> dict',
      doc: '`{boundary, fields, field_count, total_bytes}` of a body; throws when it is malformed or larger than the limits.',
      call: (_c, _d, body, contentType, options) => parse(body, contentType, optionsArgument(options)),
    },
    multipart_field_bytes: {
      signature: '(field: dict) -> bytes',
      doc: 'The content of a field.',
      call: (_c, _d, field) => bytesArgument(dictGet(optionsArgument(field), 'bytes')),
    },
    multipart_field_text: {
      signature: '(field: dict) -> string',
      doc: 'The content of a field as text; throws when it is not UTF-8.',
      call: (_c, _d, field) => {
        const text = decodeText(bytesArgument(dictGet(optionsArgument(field), 'bytes')));
        if (text === undefined) throw thrownText('multipart_field_text: field is not valid UTF-8');
        return text;
      },
    },
    multipart_form_data: {
      signature: '(fields: any, options: any = nil) -> dict',
      doc: 'A body of these fields (`name`, `content` or `value`, `filename`, `content_type`): `{content_type, boundary, body}`.',
      call: (_c, _d, fields, options) => {
        const boundary = textOption(optionsArgument(options), 'boundary') ?? DEFAULT_BOUNDARY;
        const items = Array.isArray(fields) ? fields.map(fieldFrom) : [];
        return dictOf([
          ['content_type', `multipart/form-data; boundary=${boundary}`],
          ['boundary', boundary],
          ['body', writeMultipart(items, boundary)],
        ]);
      },
    },
  },
};
