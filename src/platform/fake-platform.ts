import type { Instant } from '../base/instant.ts';
import { FakeClock } from './fake-clock.ts';
import { FakeFiles } from './fake-files.ts';
import type {
  Environment,
  HttpClient,
  HttpRequest,
  HttpResponse,
  Platform,
  Processes,
  ProcessRequest,
  ProcessResult,
  Random,
  Stdio,
  StopSignal,
  SystemFacts,
} from './platform.ts';

/** A world that a test controls: nothing in it moves, answers or fails unless the test says so. */
export interface FakePlatform extends Platform {
  readonly clock: FakeClock;
  readonly files: FakeFiles;
  readonly stdio: FakeStdio;
  readonly processes: FakeProcesses;
  readonly http: FakeHttpClient;
}

export interface FakePlatformOptions {
  /** Where the wall clock stands; 2026-01-01 by default. */
  readonly now?: Instant;
  /** Other seeds give other ids and random numbers. */
  readonly seed?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Files to begin with: path to text. */
  readonly files?: Readonly<Record<string, string>>;
  /** What standard input holds. */
  readonly stdin?: string;
  readonly tty?: readonly ('stdin' | 'stdout' | 'stderr')[];
  readonly columns?: number;
  /** Answers a child process, or throws as when it cannot be started. Without it no program exists. */
  readonly process?: (request: ProcessRequest) => Partial<ProcessResult> | Promise<Partial<ProcessResult>>;
  /** Answers a request, or throws as when the host cannot be reached. Without it there is no network. */
  readonly respond?: (request: HttpRequest) => FakeResponse | Promise<FakeResponse>;
  readonly system?: Partial<SystemFacts>;
}

export interface FakeResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A list arrives in these pieces when the body is streamed. */
  readonly body?: string | readonly string[];
}

export function createFakePlatform(options: FakePlatformOptions = {}): FakePlatform {
  const clock = new FakeClock(options.now);
  const files = new FakeFiles({ now: () => clock.now(), ...(options.cwd === undefined ? {} : { cwd: options.cwd }) });
  for (const [name, text] of Object.entries(options.files ?? {})) {
    files.mkdir(`${name}/..`);
    files.write(name, text);
  }
  return {
    clock,
    files,
    random: new SeededRandom(options.seed ?? 1, () => clock.now()),
    processes: new FakeProcesses(options.process),
    env: fakeEnvironment(options.env ?? {}),
    http: new FakeHttpClient(options.respond),
    stdio: new FakeStdio(options),
    system: { hostname: 'host', username: 'user', homeDirectory: '/home/user', platform: 'linux', arch: 'x64', ...options.system },
  };
}

function fakeEnvironment(entries: Readonly<Record<string, string>>): Environment {
  return { get: (name) => entries[name], entries: () => entries };
}

/** The same seed gives the same numbers. Ids begin with the time of the clock and a counter, so they sort as they were made. */
export class SeededRandom implements Random {
  #state: number;
  #lastMs = 0;
  #count = 0;
  readonly #now: () => Instant;

  constructor(seed: number, now: () => Instant) {
    this.#state = seed | 0;
    this.#now = now;
  }

  id(prefix: string): string {
    return prefix === '' ? this.uuidV7() : `${prefix}_${this.uuidV7()}`;
  }

  uuidV4(): string {
    const hex = this.#hex(31);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-8${hex.slice(15, 18)}-${hex.slice(18, 30)}`;
  }

  uuidV7(): string {
    const nowMs = this.#now();
    if (nowMs > this.#lastMs) this.#count = 0;
    else if (++this.#count > 0xfff) this.#count = 0;
    // A full counter borrows the next millisecond, as generators of version 7 do.
    this.#lastMs = Math.max(nowMs, this.#lastMs + (nowMs <= this.#lastMs && this.#count === 0 ? 1 : 0));
    const time = this.#lastMs.toString(16).padStart(12, '0');
    const count = this.#count.toString(16).padStart(3, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-8${this.#hex(3)}-${this.#hex(12)}`;
  }

  /** Mulberry32. */
  float(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => Math.floor(this.float() * 256));
  }

  #hex(digits: number): string {
    return Array.from({ length: digits }, () => Math.floor(this.float() * 16).toString(16)).join('');
  }
}

/** Keeps what was printed, and feeds what was typed. */
export class FakeStdio implements Stdio {
  stdout = '';
  stderr = '';
  #input: string;
  readonly #options: FakePlatformOptions;
  readonly #onOutputLost: ((code: string) => void)[] = [];
  #isOutputLost = false;

  constructor(options: FakePlatformOptions) {
    this.#options = options;
    this.#input = options.stdin ?? '';
  }

  out(text: string): void {
    if (!this.#isOutputLost) this.stdout += text;
  }

  err(text: string): void {
    this.stderr += text;
  }

  async drain(): Promise<void> {}

  onOutputLost(callback: (code: string) => void): void {
    this.#onOutputLost.push(callback);
  }

  /** As when the reader of standard output goes away, or its disk is full (ENOSPC). */
  loseOutput(code = 'EPIPE'): void {
    if (this.#isOutputLost) return;
    this.#isOutputLost = true;
    for (const callback of this.#onOutputLost) callback(code);
  }

  readSecret(): Promise<string | undefined> {
    return this.readLine();
  }

  async readLine(): Promise<string | undefined> {
    if (this.#input === '') return undefined;
    const end = this.#input.indexOf('\n');
    const line = end === -1 ? this.#input : this.#input.slice(0, end);
    this.#input = end === -1 ? '' : this.#input.slice(end + 1);
    return line.replace(/\r$/, '');
  }

  async readAll(): Promise<string> {
    const all = this.#input;
    this.#input = '';
    return all;
  }

  isTty(stream: 'stdin' | 'stdout' | 'stderr'): boolean {
    return this.#options.tty?.includes(stream) ?? false;
  }

  columns(): number {
    return this.#options.columns ?? 80;
  }
}

export class FakeProcesses implements Processes {
  readonly pid = 4242;
  readonly startedAt = 0;
  readonly #signalListeners = new Set<(signal: StopSignal) => void>();
  readonly requests: ProcessRequest[] = [];
  /** Pids that count as alive; this process always does. */
  readonly alive = new Set<number>([4242]);
  /** Codes that the process was asked to end with. */
  readonly exits: number[] = [];
  readonly #answer: FakePlatformOptions['process'];

  constructor(answer: FakePlatformOptions['process']) {
    this.#answer = answer;
  }

  onSignal(callback: (signal: StopSignal) => void): () => void {
    this.#signalListeners.add(callback);
    return () => void this.#signalListeners.delete(callback);
  }

  /** Delivers a signal to whoever listens. */
  signal(name: StopSignal): void {
    for (const listener of [...this.#signalListeners]) listener(name);
  }

  async run(request: ProcessRequest): Promise<ProcessResult> {
    this.requests.push(request);
    request.signal?.throwIfAborted();
    if (this.#answer === undefined) {
      throw Object.assign(new Error(`spawn ${request.command} ENOENT`), { code: 'ENOENT', path: request.command });
    }
    const result = await this.#answer(request);
    request.signal?.throwIfAborted();
    return { stdout: '', stderr: '', status: 0, timedOut: false, ...result };
  }

  exit(code: number): void {
    this.exits.push(code);
  }

  bootId(): string {
    return 'boot-1';
  }

  isAlive(pid: number): boolean {
    return this.alive.has(pid);
  }
}

export class FakeHttpClient implements HttpClient {
  readonly requests: HttpRequest[] = [];
  readonly #respond: FakePlatformOptions['respond'];

  constructor(respond: FakePlatformOptions['respond']) {
    this.#respond = respond;
  }

  async request(request: HttpRequest): Promise<HttpResponse> {
    this.requests.push(request);
    request.signal?.throwIfAborted();
    if (this.#respond === undefined) throw Object.assign(new Error('fetch failed'), { code: 'ENETUNREACH' });
    const { status = 200, headers = {}, body = '' } = await this.#respond(request);
    request.signal?.throwIfAborted();
    const pieces = typeof body === 'string' ? [body] : body;
    return {
      status,
      headers,
      text: async () => pieces.join(''),
      bytes: async () => new TextEncoder().encode(pieces.join('')),
      stream: async function* () {
        for (const piece of pieces) {
          request.signal?.throwIfAborted();
          yield new TextEncoder().encode(piece);
        }
      },
    };
  }
}
