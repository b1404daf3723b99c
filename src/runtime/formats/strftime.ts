import { civilOf, type Moment, offsetText, rfc3339, type TimeZone } from '../calendar.ts';

export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;
export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;

interface Facts extends ReturnType<typeof civilOf> {
  readonly moment: Moment;
  readonly zone: TimeZone;
  readonly offset: number;
}

/** A number with the padding it has unless the format says otherwise. */
interface Padded {
  readonly number: number;
  readonly width: number;
  readonly fill: '0' | ' ';
}

const zeros = (number: number, width: number): Padded => ({ number, width, fill: '0' });
const blanks = (number: number, width: number): Padded => ({ number, width, fill: ' ' });

/** What each letter stands for; a text may itself be a format. */
const CODES: Readonly<Record<string, (facts: Facts) => string | Padded>> = {
  Y: ({ year }) => zeros(year, 4),
  C: ({ year }) => zeros(Math.floor(year / 100), 2),
  y: ({ year }) => zeros(((year % 100) + 100) % 100, 2),
  m: ({ month }) => zeros(month, 2),
  b: ({ month }) => (MONTHS[month - 1] ?? '').slice(0, 3),
  h: ({ month }) => (MONTHS[month - 1] ?? '').slice(0, 3),
  B: ({ month }) => MONTHS[month - 1] ?? '',
  d: ({ day }) => zeros(day, 2),
  e: ({ day }) => blanks(day, 2),
  a: ({ weekday }) => (WEEKDAYS[weekday] ?? '').slice(0, 3),
  A: ({ weekday }) => WEEKDAYS[weekday] ?? '',
  w: ({ weekday }) => zeros(weekday, 1),
  u: ({ weekday }) => zeros(weekday === 0 ? 7 : weekday, 1),
  j: ({ dayOfYear }) => zeros(dayOfYear, 3),
  U: ({ dayOfYear, weekday }) => zeros(Math.floor((dayOfYear + 6 - weekday) / 7), 2),
  W: ({ dayOfYear, weekday }) => zeros(Math.floor((dayOfYear + 6 - ((weekday + 6) % 7)) / 7), 2),
  G: (facts) => zeros(isoWeek(facts).year, 4),
  g: (facts) => zeros(isoWeek(facts).year % 100, 2),
  V: (facts) => zeros(isoWeek(facts).week, 2),
  H: ({ hour }) => zeros(hour, 2),
  k: ({ hour }) => blanks(hour, 2),
  I: ({ hour }) => zeros(hour % 12 || 12, 2),
  l: ({ hour }) => blanks(hour % 12 || 12, 2),
  p: ({ hour }) => (hour < 12 ? 'AM' : 'PM'),
  P: ({ hour }) => (hour < 12 ? 'am' : 'pm'),
  M: ({ minute }) => zeros(minute, 2),
  S: ({ second }) => zeros(second, 2),
  f: ({ moment }) => fraction(moment, 9),
  Z: ({ moment, zone }) => zone.abbreviationAt(moment.seconds),
  z: ({ offset }) => offsetText(offset, ''),
  s: ({ moment }) => String(moment.seconds),
  D: () => '%m/%d/%y',
  x: () => '%m/%d/%y',
  F: () => '%Y-%m-%d',
  v: () => '%e-%b-%Y',
  R: () => '%H:%M',
  T: () => '%H:%M:%S',
  X: () => '%H:%M:%S',
  r: () => '%I:%M:%S %p',
  c: () => '%a %b %e %H:%M:%S %Y',
  '+': ({ moment, zone }) => rfc3339(moment, zone),
  n: () => '\n',
  t: () => '\t',
};

const SPEC = /%(?:%|(\.?)([369])f|(\.)f|(:{1,2})z|([-_0]?)([A-Za-z+]))/g;

/** A moment as text, by the letters of `strftime`; what is no format stays as it is. */
export function formatMoment(moment: Moment, format: string, zone: TimeZone): string {
  const offset = zone.offsetAt(moment.seconds);
  return expand(format, { ...civilOf(moment.seconds + offset), moment, zone, offset });
}

function expand(format: string, facts: Facts): string {
  return format.replaceAll(
    SPEC,
    (spec, dot?: string, digits?: string, loneDot?: string, colons?: string, padding?: string, letter?: string) => {
      if (spec === '%%') return '%';
      if (digits !== undefined) return `${dot ?? ''}${fraction(facts.moment, Number(digits))}`;
      if (loneDot !== undefined) return facts.moment.micros === 0 ? '' : `.${fraction(facts.moment, 6)}`;
      if (colons !== undefined)
        return `${offsetText(facts.offset, ':')}${colons === '::' ? `:${String(Math.abs(facts.offset) % 60).padStart(2, '0')}` : ''}`;
      const code = CODES[letter ?? ''];
      if (code === undefined) return spec;
      const value = code(facts);
      if (typeof value !== 'string') return pad(value, padding ?? '');
      return value.includes('%') ? expand(value, facts) : value;
    },
  );
}

function pad({ number, width, fill }: Padded, flag: string): string {
  if (flag === '-') return String(number);
  const sign = number < 0 ? '-' : '';
  return sign + String(Math.abs(number)).padStart(width, flag === '_' ? ' ' : flag === '0' ? '0' : fill);
}

function fraction({ micros }: Moment, digits: number): string {
  return String(micros).padStart(6, '0').padEnd(9, '0').slice(0, digits);
}

/** The year and week of ISO 8601: weeks begin on Monday, the first holds the first Thursday. */
function isoWeek({ year, dayOfYear, weekday }: Facts): { readonly year: number; readonly week: number } {
  const week = Math.floor((dayOfYear - ((weekday + 6) % 7) + 9) / 7);
  if (week < 1) return { year: year - 1, week: weeksIn(year - 1) };
  return week > weeksIn(year) ? { year: year + 1, week: 1 } : { year, week };
}

function weeksIn(year: number): number {
  const weekdayOfLast = (y: number): number => (y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400)) % 7;
  return weekdayOfLast(year) === 4 || weekdayOfLast(year - 1) === 3 ? 53 : 52;
}
