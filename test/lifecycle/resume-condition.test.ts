import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HarnError } from '../../src/base/harn-error.ts';
import { LAST_INSTANT } from '../../src/base/instant.ts';
import { parseAwaitResumption } from '../../src/lifecycle/await-resumption.ts';
import { deadlineOf, hasConditions, parseResumeConditions } from '../../src/lifecycle/resume-condition.ts';
import { Opaque, type SpecValue } from '../../src/lifecycle/spec-value.ts';
import { parseTriggerSpec } from '../../src/lifecycle/trigger-spec.ts';

const parse = (value: SpecValue) => parseResumeConditions(value, 'parse_resume_conditions');

function refusal(action: () => unknown): HarnError {
  try {
    action();
  } catch (error) {
    if (error instanceof HarnError) return error;
    throw error;
  }
  throw new Error('was not refused');
}

const closure = new Opaque('closure', () => undefined);

describe('resume conditions', () => {
  it('R48 nil stays nil', () => {
    expect(parse(null)).toBeUndefined();
  });

  const accepted: [string, SpecValue, SpecValue][] = [
    ['R39 none of the three', {}, {}],
    ['R39 all fields nil', { trigger: null, timeout: null, on_event: null }, {}],
    [
      'R44 a timeout without an action',
      { timeout: { duration_minutes: 5 } },
      { timeout: { duration_minutes: 5, on_timeout: 'resume_with_summary' } },
    ],
    [
      'R44 a timeout with a nil action',
      { timeout: { duration_minutes: 5, on_timeout: null } },
      { timeout: { duration_minutes: 5, on_timeout: 'resume_with_summary' } },
    ],
    [
      'R43 the largest exact int',
      { timeout: { duration_minutes: 9007199254740991 } },
      { timeout: { duration_minutes: 9007199254740991, on_timeout: 'resume_with_summary' } },
    ],
    ['R47 a topic with blanks around it', { on_event: ' ci.done ' }, { on_event: 'ci.done' }],
    [
      'R41 a trigger of any provider, without a handler',
      { trigger: { kind: 'x', provider: 'my-own' } },
      { trigger: { kind: 'x', provider: 'my-own' } },
    ],
    [
      'a trigger with closures',
      { trigger: { kind: 'x', provider: 'github', when: closure, handler: closure } },
      { trigger: { kind: 'x', provider: 'github', when: closure, handler: closure } },
    ],
  ];
  for (const [name, value, normal] of accepted) {
    it(`accept ${name}`, () => {
      const once = parse(value);
      expect(once?.spec).toEqual(normal);
      expect(parse(once?.spec ?? null)?.spec).toEqual(normal);
    });
  }

  it('R43 accept an int beyond the exact ones, due at the last instant there is', () => {
    const huge = parse({ timeout: { duration_minutes: new Opaque('int', 2n ** 62n) } });
    expect(deadlineOf(0, huge?.timeout?.durationMinutes ?? 0)).toBe(LAST_INSTANT);
  });

  it('R50 an empty dict is as good as none', () => {
    expect(hasConditions(parse({}))).toBe(false);
  });

  const minutes = 'must be a positive int';
  const refused: [string, SpecValue, string | null, string][] = [
    ['1 a list', [], null, 'invalid ResumeConditions: expected dict or nil, got list'],
    ['1 a text', 'soon', null, 'invalid ResumeConditions: expected dict or nil, got string'],
    ['2 unknown keys, the first in order', { zeta: 1, alpha: 2 }, 'alpha', 'unknown field; expected trigger, timeout, or on_event'],
    ['3 a trigger that is a text', { trigger: 'x' }, 'trigger', 'invalid ResumeConditions.trigger: expected dict or nil, got string'],
    ['4 a trigger without kind', { trigger: { provider: 'github' } }, 'trigger', 'missing string field `kind`'],
    ['4 a trigger without provider', { trigger: { kind: 'x' } }, 'trigger', 'missing string field `provider`'],
    ['4 a bad schedule', { trigger: { kind: 'tick', provider: 'cron', schedule: 'often' } }, 'trigger', 'invalid cron `schedule`'],
    ['4 a channel without selector', { trigger: { kind: 'channel.emit', provider: 'channel' } }, 'trigger', 'requires match.events'],
    ['6 a timeout that is an int', { timeout: 5 }, 'timeout', 'expected dict or nil, got int'],
    [
      '7 an unknown key of the timeout',
      { timeout: { duration_minutes: 1, after: 2 } },
      'timeout.after',
      'unknown field; expected duration_minutes or on_timeout',
    ],
    ['8 R43 no duration', { timeout: {} }, 'timeout.duration_minutes', minutes],
    ['8 R43 nil', { timeout: { duration_minutes: null } }, 'timeout.duration_minutes', minutes],
    ['8 R43 zero', { timeout: { duration_minutes: 0 } }, 'timeout.duration_minutes', minutes],
    ['8 R43 a negative int', { timeout: { duration_minutes: -1 } }, 'timeout.duration_minutes', minutes],
    ['8 R43 a fraction', { timeout: { duration_minutes: 1.5 } }, 'timeout.duration_minutes', minutes],
    ['8 R43 a whole float', { timeout: { duration_minutes: new Opaque('float', 5) } }, 'timeout.duration_minutes', minutes],
    ['8 R43 a text', { timeout: { duration_minutes: '5' } }, 'timeout.duration_minutes', minutes],
    ['8 R43 a bool', { timeout: { duration_minutes: true } }, 'timeout.duration_minutes', minutes],
    ['11 a topic that is an int', { on_event: 5 }, 'on_event', 'expected string or nil, got int'],
    ['12 R47 an empty topic', { on_event: '' }, 'on_event', 'must be a non-empty string'],
    ['12 R47 a blank topic', { on_event: '  ' }, 'on_event', 'must be a non-empty string'],
    ['13 R47 a topic with a blank', { on_event: 'a b' }, 'on_event', "topic 'a b' contains unsupported characters"],
    ['order: the trigger before the timeout', { timeout: 5, trigger: 5 }, 'trigger', 'expected dict or nil, got int'],
  ];
  for (const [name, value, field, text] of refused) {
    it(`R49 refuse row ${name}`, () => {
      const error = refusal(() => parse(value));
      expect(error.code).toBe('HARN-SUS-002');
      expect(error.message).toMatch(/^HARN-SUS-002: invalid ResumeConditions/);
      expect(error.message).toContain(text);
      expect(error.data).toMatchObject({ field, operation: 'parse_resume_conditions' });
    });
  }

  it('R45 an action that is no action is HARN-SUS-008', () => {
    for (const [value, text] of [
      ['retry', 'auto_resume: unsupported conditions.timeout.on_timeout `retry`; expected resume_with_summary, resume_with_input, or fail'],
      [7, 'auto_resume: conditions.timeout.on_timeout must be a string; got int'],
    ] as const) {
      const conditions = { timeout: { duration_minutes: 1, on_timeout: value } };
      for (const error of [refusal(() => parse(conditions)), refusal(() => parseAwaitResumption('x', conditions))]) {
        expect(error.code).toBe('HARN-SUS-008');
        expect(error.message).toBe(`HARN-SUS-008: ${text}`);
        expect(error.data.field).toBe('timeout.on_timeout');
      }
    }
  });

  it('R40 a bad trigger reads the same as in trigger_register', () => {
    const specs: SpecValue[] = [
      { provider: 'x' },
      { kind: 'x' },
      { kind: 'x', provider: 'x', when_budget: {} },
      { kind: 'x', provider: 'x', events: [5] },
    ];
    for (const trigger of specs) {
      const registered = refusal(() => parseTriggerSpec({ handler: closure, ...(trigger as object) }, 'register')).message;
      expect(refusal(() => parse({ trigger })).message).toBe(`HARN-SUS-002: invalid ResumeConditions.trigger: ${registered}`);
    }
  });

  it('show no closures and no secrets', () => {
    const shown = parse({
      trigger: { kind: 'x', provider: 'github', when: closure, secret: 'hush', headers: { authorization: 'Bearer x' } },
    })?.declaration;
    expect(shown).toEqual({
      trigger: { kind: 'x', provider: 'github', when: '[redacted]', secret: '[redacted]', headers: { authorization: '[redacted]' } },
    });
  });

  it('the parser never throws anything but a diagnostic, and is idempotent', () => {
    fc.assert(
      fc.property(
        fc.object({
          key: fc.constantFrom('trigger', 'timeout', 'on_event', 'duration_minutes', 'on_timeout', 'kind', 'provider', 'x'),
          maxDepth: 3,
        }),
        (value) => {
          try {
            const once = parse(JSON.parse(JSON.stringify(value)) as SpecValue);
            expect(parse(once?.spec ?? null)?.spec).toEqual(once?.spec);
          } catch (error) {
            expect((error as HarnError).code).toMatch(/^HARN-SUS-00[28]$/);
          }
        },
      ),
    );
  });
});

describe('R51 R52 a request to await resumption', () => {
  it('has a trimmed reason and normal conditions', () => {
    expect(parseAwaitResumption('  x ', { timeout: { duration_minutes: 1 } }, closure)).toMatchObject({
      reason: 'x',
      conditions: { spec: { timeout: { on_timeout: 'resume_with_summary' } } },
      resumeBy: closure,
    });
  });

  it('without a reason is HARN-SUS-005', () => {
    for (const reason of ['', '  ', '\n', null, 5]) {
      const error = refusal(() => parseAwaitResumption(reason, null));
      expect([error.code, error.data.detail]).toEqual(['HARN-SUS-005', { reason: 'blank_reason' }]);
    }
  });

  it('with an owner that cannot be called is refused by type', () => {
    expect(refusal(() => parseAwaitResumption('x', null, 5)).message).toBe(
      'agent_await_resumption: resume_by must be a function or nil, got int',
    );
  });
});
