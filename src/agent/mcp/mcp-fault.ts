import { SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { errorText, hasCode } from '../../base/harn-error.ts';
import { firstCodePoints } from '../json-text.ts';
import { inWords, isNetworkFault, networkCode } from '../providers/network-fault.ts';
import type { McpCall } from './mcp-client.ts';
import type { McpSpec } from './mcp-spec.ts';

/** What went wrong with a server, in words to be put behind its name. What it says itself is not trusted to be short, or a text. */
export function mcpFault(error: unknown, { timeoutMs }: McpCall): string {
  if (hasCode(error, SdkErrorCode.RequestTimeout)) return `the call timed out after ${timeoutMs} ms (timeout_ms)`;
  if (hasCode(error, SdkErrorCode.ConnectionClosed)) return 'the connection was closed';
  if (hasCode(error, SdkErrorCode.InvalidResult)) return `its answer does not fit the protocol${methodIn(errorText(error))}`;
  if (hasCode(error, SdkErrorCode.ClientHttpUnexpectedContent)) return 'its answer is no message of the protocol: check the url';
  if (error instanceof SdkHttpError) return httpFault(error);
  if (isNetworkFault(error)) return `it cannot be reached${inWords(networkCode(error))}`;
  // The text of the fault quotes what could not be read.
  if (error instanceof SyntaxError) return 'its answer is no JSON: check the url';
  return oneLine(errorText(error));
}

/** A fault of the start, which may be one of the system. */
export function startFault({ command }: McpSpec, error: unknown, call: McpCall): string {
  return isSpawnFault(error) ? `failed to spawn ${command} (${String((error as { code?: unknown }).code)})` : mcpFault(error, call);
}

export function isSpawnFault(error: unknown): boolean {
  return String((error as { syscall?: unknown }).syscall).startsWith('spawn');
}

const MEANINGS: Readonly<Record<number, string>> = {
  401: 'it does not accept the credentials (headers, headers_env)',
  403: 'it refuses access',
  404: 'nothing is there: check the url',
};

function httpFault(error: SdkHttpError): string {
  const { status, text } = error.data as { readonly status?: number; readonly text?: string | null };
  if (status === undefined) return oneLine(error.message);
  if (status >= 300 && status < 400)
    return `it answered ${status}, a redirect${targetIn(error.message)}: give that address if it is the right one`;
  const said = text === undefined || text === null || text.trimStart().startsWith('<') ? '' : oneLine(text);
  const parts = [MEANINGS[status], said].filter((part) => part !== undefined && part !== '');
  return parts.length === 0 ? `it answered ${status}` : `it answered ${status}: ${parts.join('; ')}`;
}

/** The SDK lists each value that does not fit; which request it was says enough. */
function methodIn(text: string): string {
  const method = /^Invalid result for (\S+):/.exec(text)?.[1];
  return method === undefined ? '' : ` (${method})`;
}

function targetIn(text: string): string {
  const target = /Redirect to (\S+) not followed/.exec(text)?.[1];
  return target === undefined ? '' : ` to ${target}`;
}

const LONGEST = 300;

function oneLine(text: string): string {
  return firstCodePoints(text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim(), LONGEST);
}
