import type { Context, Run } from './context.ts';

/**
 * The standard streams as a script sees them: with the mocks that tests put in their place, and the colour mode. One per
 * run.
 */
export class Terminal {
  colourMode: 'auto' | 'always' | 'never' = 'auto';
  readonly mockedTty = new Map<string, boolean>();
  /** What is left of mocked input; undefined reads the real one. */
  #input: string | undefined;
  #captured: string[] | undefined;
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
  }

  // ---- input ----

  mockInput(text: string | undefined): void {
    this.#input = text;
  }

  /** The next line without its end; undefined at the end of the input. */
  readLine(): string | undefined | Promise<string | undefined> {
    if (this.#input === undefined) return this.#run.platform.stdio.readLine();
    if (this.#input === '') return undefined;
    const end = this.#input.indexOf('\n');
    const line = end < 0 ? this.#input : this.#input.slice(0, end);
    this.#input = end < 0 ? '' : this.#input.slice(end + 1);
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  }

  /** As readLine, without showing on a terminal what is typed. */
  readSecret(signal: AbortSignal): string | undefined | Promise<string | undefined> {
    return this.#input === undefined ? this.#run.platform.stdio.readSecret(signal) : this.readLine();
  }

  readAll(): string | Promise<string> {
    if (this.#input === undefined) return this.#run.platform.stdio.readAll();
    const rest = this.#input;
    this.#input = '';
    return rest;
  }

  // ---- output ----

  captureErrors(): void {
    this.#captured = [];
  }

  /** What was written since the capture began, which ends with it. */
  takeErrors(): string {
    const text = (this.#captured ?? []).join('');
    this.#captured = undefined;
    return text;
  }

  writeError(text: string): void {
    if (this.#captured !== undefined) this.#captured.push(text);
    else this.#run.output.err(text);
  }

  isTty(stream: 'stdin' | 'stdout' | 'stderr'): boolean {
    return this.mockedTty.get(stream) ?? this.#run.platform.stdio.isTty(stream);
  }

  get showsColour(): boolean {
    if (this.colourMode !== 'auto') return this.colourMode === 'always';
    return (this.#run.platform.env.get('NO_COLOR') ?? '') === '' && this.isTty('stdout');
  }
}

const TERMINAL = Symbol('terminal');

export function terminalOf(context: Context): Terminal {
  return context.run.service(TERMINAL, (run) => new Terminal(run));
}
