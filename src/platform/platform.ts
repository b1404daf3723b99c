import type { Instant } from '../base/instant.ts';

/**
 * The one door to the world. Everything that reads the clock, draws random numbers, touches files, starts
 * processes, reads the environment or uses the network takes it from here, so that a test can replace it.
 */
export interface Platform {
  readonly clock: Clock;
  readonly random: Random;
  readonly files: Files;
  /** Absent where files can only be looked at. */
  readonly watcher?: FileWatcher | undefined;
  readonly processes: Processes;
  readonly env: Environment;
  readonly http: HttpClient;
  /** Absent where nothing may listen. */
  readonly listener?: HttpListener | undefined;
  readonly stdio: Stdio;
  readonly system: SystemFacts;
}

export interface Clock {
  /** Wall clock. */
  now(): Instant;
  /** Milliseconds of a clock that never goes back; only differences mean anything. Fractions allowed. */
  monotonicMs(): number;
  /** Resolves after `ms`; rejects with `signal.reason` when the signal fires first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls back once, not before `ms` have passed; longer than 2^31-1 ms is allowed (scheduled in hops).
   * @param hold `unref`: a pending timer does not keep the process alive
   * @returns a function that cancels it
   */
  timer(ms: number, callback: () => void, hold?: 'ref' | 'unref'): () => void;
}

export interface Random {
  /** A new time-ordered id: `<prefix>_<uuidv7>`; the bare UUID for an empty prefix. */
  id(prefix: string): string;
  uuidV4(): string;
  uuidV7(): string;
  /** In [0, 1). */
  float(): number;
  bytes(count: number): Uint8Array;
}

export interface FileStat {
  readonly sizeBytes: number;
  readonly isFile: boolean;
  readonly isDirectory: boolean;
  readonly isSymbolicLink: boolean;
  readonly readonly: boolean;
  readonly modifiedAt: Instant;
  readonly mode: number;
}

/**
 * An open file for appending or writing in order.
 * Every mutating call of `Files` and of this interface is a fault point: see `platform/fault-points.ts`.
 */
export interface FileHandle {
  write(data: string | Uint8Array): void;
  sync(): void;
  close(): void;
}

/**
 * Files, synchronous: a durable write must be finished before the next step may start, and on local disks the
 * synchronous calls are the faster ones. Paths are absolute or relative to `cwd()`. Errors are Node's
 * (`ENOENT`, `EEXIST`, `ENOSPC`, …) with `code` and `path`.
 */
export interface Files {
  cwd(): string;
  readText(path: string): string;
  readBytes(path: string): Uint8Array;
  /** At most `length` bytes from `offset`. */
  readRange(path: string, offset: number, length: number): Uint8Array;
  write(path: string, data: string | Uint8Array, mode?: number): void;
  append(path: string, data: string | Uint8Array): void;
  /** `exclusive` fails with EEXIST; `append` creates when missing. */
  open(path: string, how: 'exclusive' | 'append' | 'truncate', mode?: number): FileHandle;
  rename(from: string, to: string): void;
  /** A hard link; fails with EEXIST when `to` exists. */
  link(from: string, to: string): void;
  unlink(path: string): void;
  /** Removes a file or a whole directory. */
  remove(path: string): void;
  mkdir(path: string, mode?: number): void;
  syncDirectory(path: string): void;
  /** Undefined when nothing is there. */
  stat(path: string): FileStat | undefined;
  exists(path: string): boolean;
  list(path: string): string[];
  realPath(path: string): string;
  copy(from: string, to: string): void;
  tempDirectory(): string;
}

/** Tells of changes under paths as they happen. */
export interface FileWatcher {
  /**
   * @param paths files and whole directories; of one that does not exist yet nothing need be told
   * @param watch `onReady` once every later change will be told; `onChange` at each
   * @returns a function that ends it
   */
  watch(paths: readonly string[], watch: { readonly onReady: () => void; readonly onChange: () => void }): () => void;
}

export interface ProcessRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  /** Added to the inherited environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly stdin?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** True runs `command` as one shell line. */
  readonly shell?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ProcessResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Exit status; -1 when a signal or the timeout ended it. */
  readonly status: number;
  readonly timedOut: boolean;
  /** Undefined where the operating system tells none. */
  readonly pid?: number | undefined;
}

export type StopSignal = 'SIGINT' | 'SIGTERM';

export interface Processes {
  /** Runs to the end. Rejects only when the program cannot be started (`code` ENOENT, EACCES, …). */
  run(request: ProcessRequest): Promise<ProcessResult>;
  readonly pid: number;
  /** When this process was started. */
  readonly startedAt: Instant;
  /** Names the boot of this host, so that a pid of an earlier boot is known to be dead; undefined where unknown. */
  bootId(): string | undefined;
  isAlive(pid: number): boolean;
  /**
   * Calls back for SIGINT and SIGTERM instead of ending the process. Code that never waits keeps the call from coming.
   * @returns a function that stops listening
   */
  onSignal(callback: (signal: StopSignal) => void): () => void;
  /** Ends the process at once: nothing after the call runs. */
  exit(code: number): void;
  /**
   * Calls back when nothing is pending any more that could wake this process: it would end now. Absent where the host
   * lives on by itself.
   * @returns a function that stops listening
   */
  onIdle?(callback: () => void): () => void;
  /**
   * Calls back for an error that nothing has caught, instead of ending the process. Absent where the host looks after such
   * errors itself.
   * @returns a function that stops listening
   */
  onDefect?(callback: (error: unknown) => void): () => void;
}

export interface Environment {
  get(name: string): string | undefined;
  entries(): Readonly<Record<string, string>>;
}

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
  /** `manual` answers a redirect itself; `follow` (default) what it leads to. */
  readonly redirect?: 'follow' | 'manual' | undefined;
  readonly route?: HttpRoute | undefined;
  /**
   * How long the caller waits at most, by `signal`; the client gives up no sooner for silence alone. Without one, a
   * server that is silent for five minutes is given up.
   */
  readonly timeoutMs?: number | undefined;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  text(): Promise<string>;
  bytes(): Promise<Uint8Array>;
  /** The body as it arrives. */
  stream(): AsyncIterable<Uint8Array>;
}

/** How a request reaches its server, when not in the ordinary way. */
export interface HttpRoute {
  readonly proxy?: HttpProxy | undefined;
  readonly tls?: HttpTls | undefined;
}

export interface HttpProxy {
  /** `http:` or `https:`; requests to `https:` servers go through a tunnel. */
  readonly url: string;
  /** Value of the header `Proxy-Authorization`. */
  readonly authorization?: string | undefined;
}

/** PEM texts; what is left out is as Node has it. */
export interface HttpTls {
  /** Whom to trust instead of the authorities that come with Node. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** SHA-256 of certificates in hex, lower case without colons; the server must show one of them. */
  readonly pinnedSha256?: readonly string[] | undefined;
}

export interface HttpClient {
  request(request: HttpRequest): Promise<HttpResponse>;
}

/** Answers requests that come to this machine. */
export interface HttpListener {
  /**
   * Listens until it is closed.
   *
   * @param address host to bind, and port; 0 takes any that is free
   * @param answer is called once for each request; its signal fires when the other side goes away before the answer ended
   * @throws what the system says (`code` EADDRINUSE, EACCES, …)
   */
  listen(address: ListenAddress, answer: (request: Request) => Promise<Response>): Promise<HttpListening>;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export interface HttpListening {
  /** The port that was really taken. */
  readonly port: number;
  /** Takes no more connections. Resolves when what is under way has ended, at the latest when the signal fires, which cuts it off. */
  close(signal: AbortSignal): Promise<void>;
}

export interface Stdio {
  /** Writes at once (buffered by the kernel only). A failure is reported through `onOutputLost` and never thrown. */
  out(text: string): void;
  /** As `out`; what standard error does not take is dropped. */
  err(text: string): void;
  /** Resolves when everything written has reached the kernel. */
  drain(): Promise<void>;
  /**
   * Calls back once, when standard output takes nothing any more.
   * @param callback gets the code of the system: EPIPE when the reader went away, ENOSPC on a full disk
   */
  onOutputLost(callback: (code: string) => void): void;
  /** One line without its newline; undefined at the end of input. */
  readLine(): Promise<string | undefined>;
  /**
   * As `readLine`, but a terminal does not show what is typed. Ctrl-C raises SIGINT, Ctrl-D on an empty line is the end
   * of input.
   */
  readSecret(signal?: AbortSignal): Promise<string | undefined>;
  readAll(): Promise<string>;
  isTty(stream: 'stdin' | 'stdout' | 'stderr'): boolean;
  columns(): number;
}

export interface SystemFacts {
  readonly hostname: string;
  readonly username: string;
  readonly homeDirectory: string;
  /** `linux`, `darwin` or `windows`. */
  readonly platform: string;
  readonly arch: string;
}
