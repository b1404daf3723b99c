import type { Json, JsonObject } from '../base/json.ts';
import { loggableErrorData } from '../lifecycle/reduced-handle.ts';

/**
 * The `--json` stream (spec/agents.md 12.4): one envelope a line, numbered without gaps, and exactly one terminal
 * event, which is the last line whatever happens.
 */
export class JsonStream {
  readonly #write: (text: string) => void;
  readonly #isQuiet: boolean;
  #seq = 0;
  #isEnded = false;

  /** @param write takes whole lines; @param mode `quiet` leaves `stdout` and `stderr` events out */
  constructor(write: (text: string) => void, mode: 'all' | 'quiet') {
    this.#write = write;
    this.#isQuiet = mode === 'quiet';
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** What the script or the runtime printed; split into lines, each with its newline. */
  print(stream: 'stdout' | 'stderr', text: string): void {
    if (this.#isQuiet) return;
    for (const line of text.split(/(?<=\n)/)) if (line !== '') this.event(stream, { payload: line });
  }

  event(type: string, fields: JsonObject): void {
    this.#line({ ok: true, data: { event_type: type, ...fields }, error: null });
  }

  result(value: Json, exitCode: number): void {
    this.#end({ ok: true, data: { event_type: 'result', value, exit_code: exitCode }, error: null });
  }

  failure(error: { readonly code: string; readonly message: string; readonly details: JsonObject }, exitCode: number): void {
    const loggable = { ...error, details: loggableErrorData(error.details) };
    this.#end({ ok: false, data: { event_type: 'error', exit_code: exitCode }, error: loggable });
  }

  #end(envelope: Envelope): void {
    if (this.#isEnded) return;
    this.#line(envelope);
    this.#isEnded = true;
  }

  #line({ ok, data, error }: Envelope): void {
    if (this.#isEnded) return;
    const { event_type, ...fields } = data;
    const numbered = { event_type, seq: ++this.#seq, ...fields };
    this.#write(`${JSON.stringify({ schemaVersion: 1, ok, data: numbered, error, warnings: [] })}\n`);
  }
}

interface Envelope {
  readonly ok: boolean;
  readonly data: JsonObject & { readonly event_type: string };
  readonly error: Json;
}
