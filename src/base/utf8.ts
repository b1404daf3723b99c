/** Node's view of the same bytes, which searches and decodes them natively. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Text of bytes, without a byte order mark. The first use of `TextDecoder` costs milliseconds, this nothing. */
export function decodeUtf8(bytes: Uint8Array): string {
  const text = bufferOf(bytes).toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}
