import type { Context } from './context.ts';
import { depthLimit, interrupt } from './interrupt.ts';
import { CALL, type HarnFunction, TailCall, type Value } from './value.ts';

/** Calls a callable from TypeScript: runs tail calls to their end and answers a value or a promise of one. */
export function callValue(context: Context, depth: number, callee: HarnFunction, ...args: Value[]): Value | Promise<Value> {
  return settle(context, depth, callee(context, depth + CALL, ...args));
}

/** `callValue` with one argument, for loops over many elements. */
export function callWithOne(context: Context, depth: number, callee: HarnFunction, value: Value): Value | Promise<Value> {
  const answer: unknown = callee(context, depth + CALL, value);
  return answer instanceof TailCall || answer instanceof Promise ? settle(context, depth, answer) : (answer as Value);
}

/** `callValue` with two arguments, for loops over many elements. */
export function callWithTwo(context: Context, depth: number, callee: HarnFunction, first: Value, second: Value): Value | Promise<Value> {
  const answer: unknown = callee(context, depth + CALL, first, second);
  return answer instanceof TailCall || answer instanceof Promise ? settle(context, depth, answer) : (answer as Value);
}

/** Runs the tail call that a callable may have answered with to its end. */
export function settle(context: Context, depth: number, answer: unknown): Value | Promise<Value> {
  let result = answer;
  while (result instanceof TailCall) {
    // Functions that call each other in tail position for ever are a loop too.
    if (depthLimit(context.run)[0] === 0) interrupt(context);
    result = result.callee(context, depth + CALL, ...result.args);
  }
  if (result instanceof Promise) return result.then((value: unknown) => settle(context, depth, value));
  return result as Value;
}

/**
 * Runs `step` for the numbers 0 … count-1 in order and stops early when it answers false. Stays synchronous as
 * long as every step does, and answers a promise from the first one that does not: this is how `map` and its
 * kind follow the colour of their callback.
 */
export function inOrder(
  count: number,
  step: (index: number) => boolean | undefined | void | Promise<boolean | undefined | void>,
): void | Promise<void> {
  for (let index = 0; index < count; index++) {
    const outcome = step(index);
    if (outcome instanceof Promise) return continueAsync(index, outcome);
    if (outcome === false) return undefined;
  }
  return undefined;

  async function continueAsync(from: number, first: Promise<boolean | undefined | void>): Promise<void> {
    if ((await first) === false) return;
    for (let index = from + 1; index < count; index++) {
      if ((await step(index)) === false) return;
    }
  }
}
