import { Cron } from 'croner';
import { errorText } from '../base/harn-error.ts';
import type { Instant } from '../base/instant.ts';

/**
 * The library only calculates here; waiting is the waker's. In the hour that a clock change leaves out, a schedule
 * falls on the first moment after it: for a parked worker waking late beats waking a day later.
 */
export interface Schedule {
  readonly expression: string;
  /** IANA name; undefined is the zone of the machine. */
  readonly timezone: string | undefined;
}

/** @returns what is wrong with a schedule, undefined when nothing is */
export function scheduleProblem(schedule: Schedule): string | undefined {
  try {
    parse(schedule).nextRun(new Date(0));
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}

/** The first tick strictly after an instant; undefined when there is none, such as for 30 February. */
export function nextTick(schedule: Schedule, after: Instant): Instant | undefined {
  return parse(schedule).nextRun(new Date(after))?.getTime();
}

function parse({ expression, timezone }: Schedule): Cron {
  return new Cron(expression, { paused: true, mode: '5-part', ...(timezone === undefined ? {} : { timezone }) });
}
