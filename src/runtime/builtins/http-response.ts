import { bytesArgument, optionsArgument, textArgument, textOption } from '../arguments.ts';
import type { BuiltinGroup } from '../builtin.ts';
import { dictGet } from '../dict.ts';
import { headerOf, httpResponse } from '../http/http-response.ts';
import { stringify } from '../json.ts';
import type { Dict, Value } from '../value.ts';

function withOptions(body: Value, options: Value, contentType: string): Dict {
  const given = optionsArgument(options);
  return httpResponse(dictGet(given, 'status'), body, dictGet(given, 'headers'), textOption(given, 'content_type') ?? contentType);
}

/** Responses of the in-process server (spec/language.md 12.15). */
export const HTTP_RESPONSE: BuiltinGroup = {
  name: 'http-response',
  title: 'HTTP responses',
  builtins: {
    http_response: {
      signature: '(status: any, body: any = nil, headers: any = nil) -> dict',
      doc: 'A response: `{status, headers, body}`.',
      call: (_c, _d, status, body, headers) => httpResponse(status, body, headers),
    },
    http_response_text: {
      signature: '(text: any, options: any = nil) -> dict',
      doc: 'A response of plain text; options are `status` and `headers`.',
      call: (_c, _d, text, options) => withOptions(textArgument(text), options, 'text/plain; charset=utf-8'),
    },
    http_response_json: {
      signature: '(value: any, options: any = nil) -> dict',
      doc: 'A response of JSON; options are `status` and `headers`.',
      call: (_c, _d, value, options) => withOptions(stringify(value), options, 'application/json'),
    },
    http_response_bytes: {
      signature: '(bytes: any, options: any = nil) -> dict',
      doc: 'A response of bytes; options are `status` and `headers`.',
      call: (_c, _d, bytes, options) => withOptions(bytesArgument(bytes), options, 'application/octet-stream'),
    },
    http_header: {
      signature: '(source: any, name: any) -> any',
      doc: 'A header of a request, a response or a dict of headers, whatever its case; nil when it is missing.',
      call: (_c, _d, source, name) => headerOf(source, textArgument(name)),
    },
  },
};
