import type { Context } from '../context.ts';
import type { Execution } from './execution-place.ts';
import type { LoopLimits } from './loop-limits.ts';

/** Which loop a piece of code runs in: a tool handler, a hook or a callback of it. */
export interface LoopPlace {
  readonly kind: 'loop';
  readonly workerId: string;
  readonly sessionId: string;
  /** What it may do at most, and whatever it starts. */
  readonly limits: LoopLimits;
  /** Where its code works; undefined where the run does. */
  readonly execution?: Execution | undefined;
}

/** The innermost loop around this code; undefined at the top of a script. */
export function currentLoop(context: Context): LoopPlace | undefined {
  const place = context.agent;
  return isLoopPlace(place) ? place : undefined;
}

function isLoopPlace(place: unknown): place is LoopPlace {
  return typeof place === 'object' && place !== null && 'kind' in place && place.kind === 'loop';
}
