import { renderInstant } from '../../base/instant.ts';
import { optionsArgument, textArgument, textOption } from '../arguments.ts';
import { toDouble } from '../arithmetic.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import {
  type CivilTime,
  civilOf,
  isCivilTime,
  type Moment,
  momentOf,
  parseMoment,
  rfc3339,
  secondsOf,
  TimeZone,
  UTC,
} from '../calendar.ts';
import type { Context } from '../context.ts';
import { dictGet, dictOf } from '../dict.ts';
import { thrownText, typeError } from '../errors.ts';
import { formatMoment, MONTHS, WEEKDAYS } from '../formats/strftime.ts';
import { Dict, Duration, Float, typeOf, type Value } from '../value.ts';

// ---- arguments and results ----

const ZONES = Symbol('time zones');

function zoneOf(context: Context, name: Value): TimeZone {
  if (name === undefined) return UTC;
  const text = textArgument(name);
  const zones = context.run.service(ZONES, () => new Map<string, TimeZone>([['UTC', UTC]]));
  const known = zones.get(text);
  if (known !== undefined) return known;
  try {
    const zone = new TimeZone(text);
    zones.set(text, zone);
    return zone;
  } catch {
    throw thrownText(`Unknown timezone: ${text}`);
  }
}

/** Seconds, or a date dict: its timestamp, else its fields in UTC. */
function momentArgument(name: string, value: Value): Moment {
  const seconds = toDouble(value instanceof Dict ? (dictGet(value, 'timestamp') ?? secondsOfFields(name, value, UTC)) : value);
  if (seconds === undefined || !Number.isFinite(seconds))
    throw typeError(`${name}: expected a timestamp or a date dict, got ${typeOf(value)}`);
  if (Math.abs(seconds) > 8.64e12) throw thrownText(`${name}: timestamp is out of range`);
  return momentOf(seconds);
}

function secondsOfFields(name: string, parts: Dict, zone: TimeZone): Value {
  const field = (key: string, fallback: number): number => {
    const value = dictGet(parts, key);
    return typeof value === 'number' ? value : value === undefined ? fallback : Number.NaN;
  };
  const time: CivilTime = {
    year: field('year', Number.NaN),
    month: field('month', 1),
    day: field('day', 1),
    hour: field('hour', 0),
    minute: field('minute', 0),
    second: field('second', 0),
  };
  if (!isCivilTime(time)) throw thrownText(`${name}: invalid date components`);
  return timestamp({ seconds: zone.instantOf(time), micros: 0 });
}

/** An int, or a float when there is a fraction. */
function timestamp(moment: Moment): Value {
  return moment.micros === 0 ? moment.seconds : new Float(secondsOf(moment));
}

function fields(moment: Moment, zone: TimeZone): [string, Value][] {
  const { dayOfYear: _dayOfYear, ...civil } = civilOf(moment.seconds + zone.offsetAt(moment.seconds));
  return Object.entries(civil);
}

function now(context: Context): Dict {
  const instant = context.run.platform.clock.now();
  return dictOf([...fields(momentOf(instant / 1000), UTC), ['timestamp', new Float(instant / 1000)], ['iso8601', renderInstant(instant)]]);
}

function inZone(moment: Moment, zone: TimeZone): Dict {
  return dictOf([
    ...fields(moment, zone),
    ['zone', zone.name],
    ['offset_seconds', zone.offsetAt(moment.seconds)],
    ['timestamp', timestamp(moment)],
    ['iso8601', rfc3339(moment, zone)],
  ]);
}

// ---- durations ----

function durationOf(unit: string, ms: number): Builtin {
  return {
    signature: '(count: any) -> duration | nil',
    doc: `A duration of so many ${unit}; nil for anything but a number.`,
    call: (_c, _d, count) => {
      const number = toDouble(count);
      return number === undefined || !Number.isFinite(number) ? undefined : new Duration(Math.trunc(number * ms) + 0);
    },
  };
}

function requireDuration(name: string, value: Value): Duration {
  if (value instanceof Duration) return value;
  throw typeError(`${name}: expected a duration, got ${typeOf(value)}`);
}

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
];
const SHOWN_UNITS = 3;

function humanDuration(ms: number): string {
  let rest = Math.abs(ms);
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 && parts.length < SHOWN_UNITS) parts.push(`${count}${unit}`);
  }
  return parts.length === 0 ? '0s' : (ms < 0 ? '-' : '') + parts.join(' ');
}

/** Dates, time zones, durations (spec/language.md 12.13). A date is a timestamp in seconds, or a dict with its fields. */
export const DATES: BuiltinGroup = {
  name: 'dates',
  title: 'Dates and durations',
  errors: [
    { text: 'Cannot parse date: S', when: '`date_parse`' },
    { text: 'Unknown timezone: Z', when: 'a zone that the time zone data does not know' },
    { text: 'Type error: NAME: expected a timestamp or a date dict, got T', when: 'a date that is something else' },
    { text: 'NAME: timestamp is out of range', when: 'a year that calendars here do not reach' },
    { text: 'NAME: invalid date components', when: '`date_from_components`' },
    { text: 'Type error: NAME: expected a duration, got T', when: '`date_add`, `duration_to_…`' },
  ],
  builtins: {
    date_now: {
      signature: '() -> dict',
      doc: 'This moment in UTC: `{year, month, day, hour, minute, second, weekday, timestamp, iso8601}`; weekday 0 is Sunday.',
      call: (c) => now(c),
    },
    date_now_iso: {
      signature: '() -> string',
      doc: 'This moment as RFC 3339 in UTC.',
      call: (c) => renderInstant(c.run.platform.clock.now()),
    },
    date_iso: {
      signature: '() -> string',
      doc: 'This moment as RFC 3339 in UTC, with milliseconds.',
      call: (c) => renderInstant(c.run.platform.clock.now()),
    },
    date_parse: {
      signature: '(text: string | any) -> int | float',
      doc: 'Seconds since the epoch of a date in text; throws `Cannot parse date: …`. Without an offset it is UTC.',
      call: (_c, _d, text) => {
        const moment = parseMoment(textArgument(text));
        if (moment === undefined) throw thrownText(`Cannot parse date: ${textArgument(text)}`);
        return timestamp(moment);
      },
    },
    date_format: {
      signature: '(date: any, format: any = "%Y-%m-%d %H:%M:%S", zone: any = "UTC") -> string',
      doc: 'A date as text, by the letters of strftime.',
      call: (c, _d, date, format, zone) =>
        formatMoment(momentArgument('date_format', date), textArgument(format, '%Y-%m-%d %H:%M:%S'), zoneOf(c, zone)),
    },
    date_in_zone: {
      signature: '(date: any, zone: string) -> dict',
      doc: 'What local clocks show: the fields of date_now, `zone` and `offset_seconds`.',
      call: (c, _d, date, zone) => inZone(momentArgument('date_in_zone', date), zoneOf(c, zone)),
    },
    date_to_zone: {
      signature: '(date: any, zone: string) -> string',
      doc: 'RFC 3339 with the offset of a time zone.',
      call: (c, _d, date, zone) => rfc3339(momentArgument('date_to_zone', date), zoneOf(c, zone)),
    },
    date_from_components: {
      signature: '(parts: dict, zone: any = "UTC") -> any',
      doc: 'Seconds since the epoch of `{year, month, day, hour, minute, second}` on the clocks of a time zone.',
      call: (c, _d, parts, zone) =>
        secondsOfFields('date_from_components', optionsArgument(parts), zoneOf(c, zone ?? textOption(optionsArgument(parts), 'zone'))),
    },
    date_add: {
      signature: '(date: any, duration: duration) -> any',
      doc: 'A date that much later.',
      call: (_c, _d, date, duration) => {
        const moment = momentArgument('date_add', date);
        const micros = moment.micros + requireDuration('date_add', duration).ms * 1000;
        const carried = Math.floor(micros / 1e6);
        return timestamp({ seconds: moment.seconds + carried, micros: micros - carried * 1e6 });
      },
    },
    date_diff: {
      signature: '(a: any, b: any) -> duration',
      doc: 'The time from b to a; negative when a is earlier.',
      call: (_c, _d, a, b) => {
        const [later, earlier] = [momentArgument('date_diff', a), momentArgument('date_diff', b)];
        return new Duration(Math.round((later.seconds - earlier.seconds) * 1000 + (later.micros - earlier.micros) / 1000) + 0);
      },
    },
    weekday_name: {
      signature: '(date: any, zone: any = "UTC") -> string',
      doc: 'The day of the week, in English.',
      call: (c, _d, date, zone) => {
        const { seconds } = momentArgument('weekday_name', date);
        return WEEKDAYS[civilOf(seconds + zoneOf(c, zone).offsetAt(seconds)).weekday];
      },
    },
    month_name: {
      signature: '(date: any, zone: any = "UTC") -> string',
      doc: 'The month, in English.',
      call: (c, _d, date, zone) => {
        const { seconds } = momentArgument('month_name', date);
        return MONTHS[civilOf(seconds + zoneOf(c, zone).offsetAt(seconds)).month - 1];
      },
    },
    duration_ms: durationOf('milliseconds', 1),
    duration_seconds: durationOf('seconds', 1_000),
    duration_minutes: durationOf('minutes', 60_000),
    duration_hours: durationOf('hours', 3_600_000),
    duration_days: durationOf('days', 86_400_000),
    duration_to_seconds: {
      signature: '(duration: duration) -> int',
      doc: 'Whole seconds of a duration.',
      call: (_c, _d, duration) => Math.trunc(requireDuration('duration_to_seconds', duration).ms / 1000) + 0,
    },
    duration_to_human: {
      signature: '(duration: duration) -> string',
      doc: 'A duration for readers, such as `3h 14m`; at most three parts.',
      call: (_c, _d, duration) => humanDuration(requireDuration('duration_to_human', duration).ms),
    },
  },
};
