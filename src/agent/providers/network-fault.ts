/** Codes of the system and of the HTTP client; those of Node's own checks (`ERR_…`) mean a defect of the caller. */
const NETWORK_CODE = /^(E[A-Z0-9]+|EAI_\w+|UND_ERR_\w+)$/;

/**
 * Whether this is what the network did. `fetch` tells it as a TypeError with a cause; anything else that comes out of a
 * request is a defect, which must not pass for a dead server.
 */
export function isNetworkFault(error: unknown): boolean {
  if (error instanceof TypeError && error.cause instanceof Error) return true;
  const { code } = typeof error === 'object' && error !== null ? (error as { code?: unknown }) : {};
  return typeof code === 'string' && NETWORK_CODE.test(code);
}

/** The first code along the causes. */
export function networkCode(error: unknown): string | undefined {
  for (let current = error; typeof current === 'object' && current !== null; current = (current as { cause?: unknown }).cause) {
    const { code } = current as { code?: unknown };
    if (typeof code === 'string') return code;
  }
  return undefined;
}

/** Codes of Node and of its fetch that mean waiting, not breaking. */
const TIMEOUT_CODES: ReadonlySet<string | undefined> = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

export function isTimeoutCode(code: string | undefined): boolean {
  return TIMEOUT_CODES.has(code);
}

const CLOSED = 'the connection was closed';
const UNTRUSTED = 'its certificate is not trusted here';

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the name of the host is not known',
  EAI_AGAIN: 'the name of the host could not be looked up',
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
  UND_ERR_SOCKET: CLOSED,
  ETIMEDOUT: 'there was no connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'there was no connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'it sent nothing in time',
  UND_ERR_BODY_TIMEOUT: 'it sent nothing more in time',
  EHOSTUNREACH: 'no way leads to the host',
  ENETUNREACH: 'no way leads to the network of the host',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS; perhaps its address begins with http://',
};

/** Whether a certificate that the user adds would help. */
export function isUntrusted(code: string | undefined): boolean {
  return code !== undefined && WORDS[code] === UNTRUSTED;
}

/** `: the connection was refused (ECONNREFUSED)`, to be put behind what could not be done. */
export function inWords(code: string | undefined): string {
  if (code === undefined) return '';
  const words = WORDS[code];
  return words === undefined ? ` (${code})` : `: ${words} (${code})`;
}
