import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../../src/base/error-codes.ts';

describe('the table of codes', () => {
  it('holds every code of the lifecycle, of reminders and of channels once', () => {
    const codes = ERROR_CODES.map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
    const wanted = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, i) => `${prefix}-${String(i + 1).padStart(3, '0')}`);
    expect(codes).toEqual([...wanted('HARN-SUS', 10), ...wanted('HARN-RMD', 8), ...wanted('HARN-CHN', 5)]);
  });

  it('explains each with a cause, an example and what to do', () => {
    for (const { code, title, text, cause, example, fix } of ERROR_CODES) {
      for (const part of [title, text, cause, example, fix]) expect(part.trim(), code).not.toBe('');
    }
  });
});
