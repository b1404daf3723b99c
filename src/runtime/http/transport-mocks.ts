import type { Run } from '../context.ts';
import { Dict, type Value } from '../value.ts';
import { wildcard } from './http-mocks.ts';

/** A use of a mocked stream or socket. */
export interface TransportCall {
  readonly kind: 'sse' | 'websocket';
  readonly action: 'connect' | 'send' | 'close';
  readonly url: string;
  readonly message?: Value;
}

interface TransportMock {
  readonly kind: TransportCall['kind'];
  readonly pattern: string;
  readonly matcher: RegExp;
  readonly messages: readonly Value[];
  readonly echoes: boolean;
}

const MOCKS = Symbol('transport mocks');

/** Prepared event streams and sockets, and what was done with them (spec/language.md 12.15). */
export class TransportMocks {
  #mocks: TransportMock[] = [];
  #calls: TransportCall[] = [];

  static of(run: Run): TransportMocks {
    return run.service(MOCKS, () => new TransportMocks());
  }

  /** A mock for the same kind and pattern is replaced. */
  register(kind: TransportMock['kind'], pattern: string, messages: readonly Value[], echoes: boolean): void {
    this.#mocks = this.#mocks.filter((known) => known.kind !== kind || known.pattern !== pattern);
    this.#mocks.push({ kind, pattern, matcher: wildcard(pattern), messages, echoes });
  }

  find(kind: TransportMock['kind'], url: string): TransportMock | undefined {
    return this.#mocks.find((mock) => mock.kind === kind && mock.matcher.test(url));
  }

  record(call: TransportCall): void {
    this.#calls.push(call);
  }

  calls(): readonly TransportCall[] {
    return this.#calls;
  }

  clear(): void {
    this.#mocks = [];
    this.#calls = [];
  }
}

/** Messages of a mock: a list, or `{NAME: [...]}` with further settings. */
export function mockMessages(config: Value, name: string): readonly Value[] {
  const messages = config instanceof Dict ? config[name] : config;
  return Array.isArray(messages) ? messages : [];
}
