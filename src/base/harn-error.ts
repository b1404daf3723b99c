import type { Json, JsonObject } from './json.ts';

export interface HarnErrorOptions {
  /** Structured facts for programs; never transcript text, resume input or secrets. */
  readonly data?: JsonObject;
  readonly cause?: unknown;
}

/**
 * A failure of an operation, recognised by `code` and never by its class or text.
 * `code` is `HARN-…` for the registered diagnostics of spec/agents.md, or a plain word such as `plain`.
 */
export class HarnError extends Error {
  override readonly name = 'HarnError';
  readonly code: string;
  readonly data: JsonObject;

  constructor(code: string, message: string, options: HarnErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data ?? {};
  }
}

/** True for any error that carries this code, also one that crossed a snapshot or a protocol. */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && (error as { code?: Json }).code === code;
}

/** The text of anything that was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
