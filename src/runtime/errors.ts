import { HarnError } from '../base/harn-error.ts';
import type { Value } from './value.ts';

/**
 * Errors of a running script (spec/language.md 11.3). `caught` is what `catch` binds; `text` is the display that
 * an uncaught error prints after `error: `, before ` (line N)` is added for all but thrown values.
 */
export class HarnRaise extends Error {
  override readonly name = 'HarnRaise';
  readonly kind: 'thrown' | 'runtime' | 'bare' | 'category';
  readonly caught: Value;

  constructor(kind: HarnRaise['kind'], text: string, caught: Value) {
    super(text);
    this.kind = kind;
    this.caught = caught;
  }
}

/** `Type error: MSG`; caught as that text. */
export function typeError(message: string): HarnRaise {
  return new HarnRaise('runtime', `Type error: ${message}`, `Type error: ${message}`);
}

/** `Runtime error: MSG`; caught as that text. */
export function runtimeError(message: string): HarnRaise {
  return new HarnRaise('runtime', `Runtime error: ${message}`, `Runtime error: ${message}`);
}

/** A kind without a prefix of its own when caught (`Division by zero`, `Undefined variable: x`); uncaught it gets `Runtime error: `. */
export function bareError(message: string): HarnRaise {
  return new HarnRaise('bare', `Runtime error: ${message}`, message);
}

/** A value thrown by the script or by a builtin that "throws TEXT". `text` is the display of the value. */
export function thrown(value: Value, text: string): HarnRaise {
  return new HarnRaise('thrown', `Thrown: ${text}`, value);
}

/** A builtin that "throws TEXT" (spec/language.md 12, common rules). */
export function thrownText(text: string): HarnRaise {
  return thrown(text, text);
}

/** `Error [CATEGORY]: MSG`; `caught` is the dict that carries the category. */
export function categoryError(category: string, message: string, caught: Value): HarnRaise {
  return new HarnRaise('category', `Error [${category}]: ${message}`, caught);
}

/** A plain error of the agent half (spec/agents.md 0.4): caught as its bare text. */
export function plainError(message: string): HarnError {
  return new HarnError('plain', message);
}
