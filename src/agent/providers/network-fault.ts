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
