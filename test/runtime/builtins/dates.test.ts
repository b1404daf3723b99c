import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { civilOf, epochSeconds, parseMoment, rfc3339, TimeZone } from '../../../src/runtime/calendar.ts';
import { expressionTable } from '../expression-table.ts';

/** From the year 100 to 9999: what ISO 8601 writes with four digits. */
const seconds = fc.integer({ min: -59_011_459_200, max: 253_402_300_799 });
const zone = fc
  .constantFrom('UTC', 'America/Los_Angeles', 'Europe/Berlin', 'Asia/Kolkata', 'Pacific/Auckland', 'America/St_Johns')
  .map((name) => new TimeZone(name));

describe('laws', () => {
  test('calendar fields lead back to their moment', () => {
    fc.assert(fc.property(seconds, (moment) => epochSeconds(civilOf(moment)) === moment));
  });

  test('what RFC 3339 writes reads back as the same moment, in every zone', () => {
    const recent = fc.integer({ min: 0, max: 4_000_000_000 });
    fc.assert(
      fc.property(recent, fc.integer({ min: 0, max: 999_999 }), zone, (at, micros, place) => {
        expect(parseMoment(rfc3339({ seconds: at, micros }, place))).toEqual({ seconds: at, micros });
      }),
    );
  });

  test('local fields lead back to a moment that shows them', () => {
    const recent = fc.integer({ min: 0, max: 4_000_000_000 });
    fc.assert(
      fc.property(recent, zone, (at, place) => {
        const local = civilOf(at + place.offsetAt(at));
        const found = place.instantOf(local);
        expect(civilOf(found + place.offsetAt(found))).toEqual(local);
        expect(found).toBeLessThanOrEqual(at);
      }),
    );
  });
});

expressionTable('dates', [
  ['date_parse("2026-04-25T17:32:09Z")', '1777138329'],
  ['date_parse("2026-04-25T17:32:09.5+02:00")', '1777131129.5'],
  ['[date_parse("2026-04-25"), date_parse("2026-04-25 00:00:00"), date_parse("2026/4/25")]', '[1777075200, 1777075200, 1777075200]'],
  ['date_parse("1969-12-31T23:00:00Z")', '-3600'],
  ['date_parse("2024-02-30")', 'error: Cannot parse date: 2024-02-30'],
  ['date_parse("2024-13-01")', 'error: Cannot parse date: 2024-13-01'],
  ['date_parse("2024-01-01T24:00:00Z")', 'error: Cannot parse date: 2024-01-01T24:00:00Z'],
  ['date_parse("...")', 'error: Cannot parse date: ...'],
  ['date_format(0)', '1970-01-01 00:00:00'],
  ['date_format(-1000)', '1969-12-31 23:43:20'],
  ['date_format(1777138329.481, "%Y-%m-%dT%H:%M:%S.%3fZ %6f %.3f %s")', '2026-04-25T17:32:09.481Z 481000 .481 1777138329'],
  [
    'date_format(1777138329, "%a %A %b %B %j %e|%k|%I %l %p %P %u %w %y %C %%")',
    'Sat Saturday Apr April 115 25|17|05  5 PM pm 6 6 26 20 %',
  ],
  [
    'date_format(1777138329, "%D %F %T %R %r %c %-d %_m %n|%t|%Q")',
    '04/25/26 2026-04-25 17:32:09 17:32 05:32:09 PM Sat Apr 25 17:32:09 2026 25  4 \n|\t|%Q',
  ],
  ['date_format(date_parse("2021-01-03"), "%G-W%V-%u %U %W")', '2020-W53-7 01 00'],
  ['date_format(date_parse("2024-12-30"), "%G-W%V")', '2025-W01'],
  ['date_format(1777138329, "%H:%M %Z %z %:z", "America/Los_Angeles")', '10:32 PDT -0700 -07:00'],
  ['date_format(1777138329, "%H:%M %Z", "Europe/Berlin")', '19:32 CEST'],
  ['date_format({year: 2026, month: 1, day: 2})', '2026-01-02 00:00:00'],
  ['date_format(date_in_zone(1777138329, "Asia/Tokyo"), "%F %T")', '2026-04-25 17:32:09'],
  ['date_format(0, "%Y", "Nowhere/Land")', 'error: Unknown timezone: Nowhere/Land'],
  ['date_format("x")', 'error: Type error: date_format: expected a timestamp or a date dict, got string'],
  [
    'date_in_zone(0, "Asia/Kolkata")',
    '{day: 1, hour: 5, iso8601: 1970-01-01T05:30:00+05:30, minute: 30, month: 1, offset_seconds: 19800, second: 0, timestamp: 0, weekday: 4, year: 1970, zone: Asia/Kolkata}',
  ],
  ['[date_to_zone(0, "UTC"), date_to_zone(0.5, "Pacific/Auckland")]', '[1970-01-01T00:00:00+00:00, 1970-01-01T12:00:00.500+12:00]'],
  ['date_from_components({year: 2026, month: 4, day: 25, hour: 10, minute: 32, second: 9}, "America/Los_Angeles")', '1777138329'],
  [
    'date_to_zone(date_from_components({year: 2026, month: 3, day: 29, hour: 2, minute: 30}, "Europe/Berlin"), "Europe/Berlin")',
    '2026-03-29T03:30:00+02:00',
  ],
  [
    'date_to_zone(date_from_components({year: 2026, month: 10, day: 25, hour: 2, minute: 30}, "Europe/Berlin"), "Europe/Berlin")',
    '2026-10-25T02:30:00+02:00',
  ],
  ['date_from_components({year: 2026, month: 2, day: 30})', 'error: date_from_components: invalid date components'],
  ['[date_add(10, 1500ms), date_add(10, 2s), date_diff(10, 12.5)]', '[11.5, 12, -2500ms]'],
  ['[weekday_name(0), weekday_name(0, "America/New_York"), month_name(0, "America/New_York")]', '[Thursday, Wednesday, December]'],
  ['[duration_ms(5), duration_seconds(1.5), duration_minutes(2), duration_hours(-1), duration_days(1)]', '[5ms, 1500ms, 2m, -1h, 24h]'],
  ['[duration_to_seconds(1999ms), duration_to_seconds(duration_ms(-1500))]', '[1, -1]'],
  [
    '[duration_to_human(194m), duration_to_human(0s), duration_to_human(duration_hours(-2)), duration_to_human(500ms)]',
    '[3h 14m, 0s, -2h, 500ms]',
  ],
  ['duration_to_human(duration_seconds(93784))', '1d 2h 3m'],
]);

expressionTable(
  'now',
  [
    [
      'date_now()',
      '{day: 25, hour: 17, iso8601: 2026-04-25T17:32:09.481Z, minute: 32, month: 4, second: 9, timestamp: 1777138329.481, weekday: 6, year: 2026}',
    ],
    ['[date_iso(), date_now_iso()]', '[2026-04-25T17:32:09.481Z, 2026-04-25T17:32:09.481Z]'],
  ],
  { setup: 'mock_time(1777138329481)' },
);
