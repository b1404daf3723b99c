/**
 * Moments and their calendar fields. A moment is whole seconds since the Unix epoch and microseconds after them, so that
 * times before 1970 and fractions keep their digits. Time zones come from ICU.
 */
export interface Moment {
  readonly seconds: number;
  /** 0 … 999 999, counted forward also before the epoch. */
  readonly micros: number;
}

export interface CivilTime {
  readonly year: number;
  /** 1 … 12 */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

export function momentOf(seconds: number): Moment {
  const whole = Math.floor(seconds);
  const micros = Math.round((seconds - whole) * 1e6);
  return micros === 1_000_000 ? { seconds: whole + 1, micros: 0 } : { seconds: whole, micros };
}

export function secondsOf({ seconds, micros }: Moment): number {
  return micros === 0 ? seconds : seconds + micros / 1e6;
}

/** Calendar fields of a count of seconds as they stand in UTC. */
export function civilOf(seconds: number): CivilTime & { readonly weekday: number; readonly dayOfYear: number } {
  const date = new Date(seconds * 1000);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    weekday: date.getUTCDay(),
    dayOfYear:
      Math.floor((seconds - epochSeconds({ year: date.getUTCFullYear(), month: 1, day: 1, hour: 0, minute: 0, second: 0 })) / 86_400) + 1,
  };
}

/** Seconds since the epoch of fields in UTC. */
export function epochSeconds({ year, month, day, hour, minute, second }: CivilTime): number {
  const date = new Date(Date.UTC(2000, month - 1, day, hour, minute, second));
  // Date.UTC reads the years 0 … 99 as 1900 … 1999.
  date.setUTCFullYear(year, month - 1, day);
  return date.getTime() / 1000;
}

/** False for the 31st of February and the 25th hour. */
export function isCivilTime(time: CivilTime): boolean {
  if (!Object.values(time).every(Number.isInteger) || time.hour > 23 || time.minute > 59 || time.second > 59) return false;
  const seconds = epochSeconds(time);
  if (Number.isNaN(seconds)) return false;
  const { year, month, day } = civilOf(seconds);
  return year === time.year && month === time.month && day === time.day;
}

/** A place on the time line for local clocks. */
export class TimeZone {
  readonly name: string;
  /** Undefined for UTC, which needs no tables. */
  readonly #fields: Intl.DateTimeFormat | undefined;

  /** @throws RangeError for a zone that nobody knows */
  constructor(name: string) {
    this.name = name;
    if (name === 'UTC') return;
    this.#fields = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** Seconds that local clocks are ahead of UTC at a moment. */
  offsetAt(seconds: number): number {
    if (this.#fields === undefined) return 0;
    const parts = Object.fromEntries(this.#fields.formatToParts(seconds * 1000).map(({ type, value }) => [type, value]));
    const field = (name: string): number => Number(parts[name]);
    const year = parts.era === 'BC' ? 1 - field('year') : field('year');
    const local = { year, month: field('month'), day: field('day'), hour: field('hour'), minute: field('minute'), second: field('second') };
    return epochSeconds(local) - Math.floor(seconds);
  }

  /**
   * The moment at which local clocks show these fields. When they do so twice it is the first time; when they skip them,
   * the moment they would show without the skip.
   */
  instantOf(time: CivilTime): number {
    const local = epochSeconds(time);
    const candidates = [local - this.offsetAt(local - 86_400), local - this.offsetAt(local + 86_400)].sort((a, b) => a - b);
    return candidates.find((seconds) => seconds + this.offsetAt(seconds) === local) ?? local - this.offsetAt(local - 86_400);
  }

  /** `PDT`, `CEST`; an offset where no region has a name for it. */
  abbreviationAt(seconds: number): string {
    if (this.#fields === undefined) return 'UTC';
    for (const locale of NAMING_LOCALES) {
      const parts = new Intl.DateTimeFormat(locale, { timeZone: this.name, timeZoneName: 'short' }).formatToParts(seconds * 1000);
      const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
      if (/^[A-Z]{2,5}$/.test(name)) return name;
    }
    return offsetText(this.offsetAt(seconds), ':');
  }
}

/** English locales know the names of zones near them. */
const NAMING_LOCALES = ['en-US', 'en-GB', 'en-AU', 'en-NZ', 'en-CA', 'en-IN', 'en-ZA'];

export const UTC = new TimeZone('UTC');

/** `+02:00`, with the separator given. */
export function offsetText(offset: number, separator: string): string {
  const minutes = Math.floor(Math.abs(offset) / 60);
  const digits = (n: number): string => String(n).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${digits(Math.floor(minutes / 60))}${separator}${digits(minutes % 60)}`;
}

const ISO =
  /^\s*([+-]?\d{4,6})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s*(?:([Zz])|([+-])(\d{2}):?(\d{2})?)?)?\s*$/;

/** Reads RFC 3339 and ISO 8601; anything else by its numbers in the order year, month, day, hour, minute, second. */
export function parseMoment(text: string): Moment | undefined {
  const match = ISO.exec(text);
  if (match === null) return fromNumbers(text);
  const [, year, month, day, hour, minute, second, fraction, , sign, offsetHours, offsetMinutes] = match;
  const time = {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour ?? 0),
    minute: Number(minute ?? 0),
    second: Number(second ?? 0),
  };
  if (!isCivilTime(time)) return undefined;
  const offset = (Number(offsetHours ?? 0) * 60 + Number(offsetMinutes ?? 0)) * 60 * (sign === '-' ? -1 : 1);
  return { seconds: epochSeconds(time) - offset, micros: Number((fraction ?? '').padEnd(6, '0').slice(0, 6)) };
}

function fromNumbers(text: string): Moment | undefined {
  const numbers = (text.match(/\d+/g) ?? []).map(Number);
  if (numbers.length < 3) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers;
  const time = { year, month, day, hour, minute, second };
  return isCivilTime(time) ? { seconds: epochSeconds(time), micros: 0 } : undefined;
}

/** `2026-04-25T10:32:09.481-07:00`; a fraction only when there is one. */
export function rfc3339(moment: Moment, zone: TimeZone): string {
  const offset = zone.offsetAt(moment.seconds);
  const date = new Date((moment.seconds + offset) * 1000).toISOString().slice(0, -5);
  const micros = String(moment.micros).padStart(6, '0');
  const fraction = moment.micros === 0 ? '' : `.${micros.endsWith('000') ? micros.slice(0, 3) : micros}`;
  return `${date}${fraction}${offsetText(offset, ':')}`;
}
