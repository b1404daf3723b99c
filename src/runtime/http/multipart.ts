/** One part of a `multipart/form-data` body. */
export interface MultipartField {
  readonly name: string;
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly content: Uint8Array;
}

/** Fields as a body (RFC 7578). The boundary must not occur in any content. */
export function writeMultipart(fields: readonly MultipartField[], boundary: string): Uint8Array {
  const parts = fields.flatMap((field) => [
    Buffer.from(`--${boundary}\r\n${partHeaders(field).join('\r\n')}\r\n\r\n`),
    field.content,
    Buffer.from('\r\n'),
  ]);
  return new Uint8Array(Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]));
}

function partHeaders(field: MultipartField): string[] {
  const filename = field.filename === undefined ? '' : `; filename="${quoted(field.filename)}"`;
  const type = field.contentType ?? (field.filename === undefined ? undefined : 'application/octet-stream');
  const more = Object.entries(field.headers).filter(([name]) => !/^content-(?:disposition|type)$/i.test(name));
  const headers: [string, string][] = [['Content-Disposition', `form-data; name="${quoted(field.name)}"${filename}`]];
  if (type !== undefined) headers.push(['Content-Type', type]);
  return [...headers, ...more].map(([name, value]) => `${name}: ${value.replaceAll(/[\r\n]+/g, ' ')}`);
}

/** As browsers escape names: a quote or a line end would leave the header. */
function quoted(text: string): string {
  return text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

export interface MultipartLimits {
  readonly maxFields: number;
  readonly maxFieldBytes: number;
  readonly maxTotalBytes: number;
}

/**
 * Takes a body apart.
 * @throws Error that says what is wrong with it
 */
export function parseMultipart(body: Uint8Array, boundary: string, limits: MultipartLimits): MultipartField[] {
  if (boundary === '') throw new Error('boundary is missing');
  if (body.length > limits.maxTotalBytes) throw new Error(`body exceeds ${limits.maxTotalBytes} bytes`);
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const delimiter = `--${boundary}`;
  const fields: MultipartField[] = [];
  let at = bytes.indexOf(delimiter);
  if (at < 0) throw new Error('boundary does not occur in the body');
  for (;;) {
    at += delimiter.length;
    if (bytes.subarray(at, at + 2).toString('latin1') === '--') return fields;
    const lineEnd = bytes.indexOf('\r\n', at);
    const headersEnd = bytes.indexOf('\r\n\r\n', lineEnd);
    const next = bytes.indexOf(`\r\n${delimiter}`, lineEnd);
    if (lineEnd < 0 || headersEnd < 0 || next < 0 || headersEnd > next) throw new Error('a part is not complete');
    if (fields.length >= limits.maxFields) throw new Error(`more than ${limits.maxFields} fields`);
    const content = bytes.subarray(headersEnd + 4, Math.max(headersEnd + 4, next));
    if (content.length > limits.maxFieldBytes) throw new Error(`a field exceeds ${limits.maxFieldBytes} bytes`);
    fields.push(fieldOf(bytes.subarray(lineEnd + 2, headersEnd).toString('utf8'), content));
    at = next + 2;
  }
}

function fieldOf(head: string, content: Uint8Array): MultipartField {
  const headers: Record<string, string> = {};
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim();
  }
  const disposition = headers['content-disposition'] ?? '';
  const name = parameter(disposition, 'name');
  if (name === undefined) throw new Error('a part has no name');
  return {
    name,
    filename: parameter(disposition, 'filename'),
    contentType: headers['content-type'],
    headers,
    content: new Uint8Array(content),
  };
}

/** A parameter of a header such as `form-data; name="a"`. */
export function parameter(header: string, name: string): string | undefined {
  const match = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]*))`, 'i').exec(header);
  if (match === null) return undefined;
  const value = match[1]?.replaceAll(/\\(.)/g, '$1') ?? match[2] ?? '';
  return value.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n');
}
