import type { Run } from '../context.ts';

/** A response that a script has prepared. */
export interface MockResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** A request that a mock answered. */
export interface MockCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

interface Mock {
  readonly method: string;
  readonly pattern: string;
  readonly matcher: RegExp;
  readonly responses: readonly MockResponse[];
  used: number;
}

/** `/orders/3` answers for itself where `/orders/*` answers for all, whichever was prepared first. */
function isNarrower(a: Mock, b: Mock): boolean {
  const text = ({ pattern }: Mock): number => pattern.replaceAll('*', '').length;
  if (text(a) !== text(b)) return text(a) > text(b);
  return a.pattern.length === b.pattern.length ? a.method !== '*' && b.method === '*' : a.pattern.length < b.pattern.length;
}

const MOCKS = Symbol('http mocks');

/** Prepared answers to HTTP requests, and what was asked (spec/language.md 12.9). */
export class HttpMocks {
  #mocks: Mock[] = [];
  #calls: MockCall[] = [];

  static of(run: Run): HttpMocks {
    return run.service(MOCKS, () => new HttpMocks());
  }

  /** A mock for the same method and pattern is replaced. Responses are used one after another, the last for ever. */
  register(method: string, pattern: string, responses: readonly MockResponse[]): void {
    const mock = { method: method.toUpperCase(), pattern, matcher: wildcard(pattern), responses, used: 0 };
    const index = this.#mocks.findIndex((known) => known.method === mock.method && known.pattern === pattern);
    if (index < 0) this.#mocks.push(mock);
    else this.#mocks[index] = mock;
  }

  clear(): void {
    this.#mocks = [];
    this.#calls = [];
  }

  /** The prepared answer to a request, which is then on record; undefined when nothing was prepared for it. */
  answer(call: MockCall): MockResponse | undefined {
    const fitting = this.#mocks.filter(({ method, matcher }) => (method === '*' || method === call.method) && matcher.test(call.url));
    const [first, ...more] = fitting;
    if (first === undefined) return undefined;
    const mock = more.reduce((best, other) => (isNarrower(other, best) ? other : best), first);
    this.#calls.push(call);
    return mock.responses[Math.min(mock.used++, mock.responses.length - 1)];
  }

  /** What was asked. Secrets are blotted out unless they are wanted. */
  calls(withSecrets: boolean): readonly MockCall[] {
    return withSecrets ? this.#calls : this.#calls.map(redacted);
  }
}

/** A pattern in which `*` stands for anything. */
export function wildcard(pattern: string): RegExp {
  const source = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\/]/g, String.raw`\$&`));
  return new RegExp(`^${source.join('.*')}$`, 's');
}

const BLOT = '[redacted]';
const SECRET_HEADER = /^(?:(?:proxy-)?authorization|(?:set-)?cookie)$|api-?key|token|secret|password/;
const SECRET_QUERY = /api_?key|token|secret|password|^(?:key|auth|sig|signature|code)$/i;

function redacted(call: MockCall): MockCall {
  const headers = Object.fromEntries(Object.entries(call.headers).map(([name, value]) => [name, SECRET_HEADER.test(name) ? BLOT : value]));
  return { ...call, url: redactUrl(call.url), headers };
}

/** Only the values of secret parameters change; the rest of the URL stays as it was written. */
export function redactUrl(url: string): string {
  return url.replaceAll(/([?&])([^=&#]+)=([^&#]*)/g, (pair, mark: string, name: string) =>
    SECRET_QUERY.test(name) ? `${mark}${name}=${encodeURIComponent(BLOT)}` : pair,
  );
}
