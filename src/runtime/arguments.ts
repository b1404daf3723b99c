import { dictGet } from './dict.ts';
import { display } from './display.ts';
import { Dict, Float, type Value } from './value.ts';

/** An argument as text: displayed, a missing one is the fallback. */
export function textArgument(value: Value, fallback = ''): string {
  if (typeof value === 'string') return value;
  return value === undefined ? fallback : display(value);
}

/** A whole number that fits a double; a float loses its fraction, anything else is the fallback. */
export function intArgument(value: Value, fallback: number): number {
  if (value instanceof Float && Number.isFinite(value.value)) return Math.trunc(value.value);
  return typeof value === 'number' ? value : fallback;
}

/** An options dict; anything else counts as none. */
export function optionsArgument(value: Value): Dict {
  return value instanceof Dict ? value : new Dict();
}

/** A text among options; undefined when it is missing or nil. */
export function textOption(options: Dict, name: string): string | undefined {
  const value = dictGet(options, name);
  return value === undefined ? undefined : display(value);
}

/** Bytes as they are, anything else as the UTF-8 bytes of its display text. */
export function bytesArgument(value: Value): Uint8Array {
  return value instanceof Uint8Array ? value : new TextEncoder().encode(textArgument(value));
}
