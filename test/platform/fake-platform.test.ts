import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/platform/fake-clock.ts';
import { createFakePlatform, SeededRandom } from '../../src/platform/fake-platform.ts';

describe('fake clock', () => {
  it('fires in the order of due time, then of registration', async () => {
    const clock = new FakeClock();
    const fired: string[] = [];
    for (const [name, ms] of [
      ['late', 30],
      ['first', 10],
      ['second', 10],
    ] as const)
      clock.timer(ms, () => fired.push(`${name} at ${clock.monotonicMs()}`));
    await clock.advance(20);
    expect(fired).toEqual(['first at 10', 'second at 10']);
    await clock.advance(10);
    expect(fired.at(-1)).toBe('late at 30');
  });

  it('fires what was set up on the way, when it falls due', async () => {
    const clock = new FakeClock();
    const fired: number[] = [];
    void clock.sleep(10).then(() => clock.timer(5, () => fired.push(clock.monotonicMs())));
    await clock.advance(20);
    expect([fired, clock.monotonicMs(), clock.pendingTimers]).toEqual([[15], 20, 0]);
  });

  it('a sleep rejects with the reason of its signal, and its timer is gone', async () => {
    const clock = new FakeClock();
    const stop = new AbortController();
    const sleep = clock.sleep(10, stop.signal);
    stop.abort('enough');
    await expect(sleep).rejects.toBe('enough');
    expect(clock.pendingTimers).toBe(0);
    await expect(clock.sleep(1, stop.signal)).rejects.toBe('enough');
  });

  it('a cancelled timer never fires', async () => {
    const clock = new FakeClock();
    const cancel = clock.timer(1, () => expect.unreachable());
    cancel();
    await clock.advance(5);
  });
});

describe('seeded random', () => {
  it('gives the same ids for the same seed, in the order in which they were made', () => {
    const make = (): string[] => {
      const random = new SeededRandom(7, () => 1_000);
      return Array.from({ length: 5_000 }, () => random.id('worker'));
    };
    const ids = make();
    expect(ids).toEqual(make());
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('gives well-formed UUIDs', () => {
    const random = new SeededRandom(1, () => 1_767_225_600_000);
    expect(random.uuidV4()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(random.uuidV7()).toMatch(/^019b76da-a800-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('a float lies in [0, 1)', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const value = new SeededRandom(seed, () => 0).float();
        return value >= 0 && value < 1;
      }),
    );
  });
});

describe('fake platform', () => {
  it('keeps what is printed and feeds what is typed', async () => {
    const { stdio } = createFakePlatform({ stdin: 'one\r\ntwo\nthree', tty: ['stderr'] });
    stdio.out('a');
    stdio.err('b');
    expect([stdio.stdout, stdio.stderr]).toEqual(['a', 'b']);
    expect([await stdio.readLine(), await stdio.readAll(), await stdio.readLine()]).toEqual(['one', 'two\nthree', undefined]);
    expect([stdio.isTty('stderr'), stdio.isTty('stdout')]).toEqual([true, false]);
  });

  it('output that is lost is told once, and takes no more text', () => {
    const { stdio } = createFakePlatform();
    const told: string[] = [];
    stdio.onOutputLost((code) => told.push(code));
    stdio.loseOutput('ENOSPC');
    stdio.loseOutput();
    stdio.out('lost');
    expect([told, stdio.stdout]).toEqual([['ENOSPC'], '']);
  });

  it('answers programs and requests as scripted, and remembers them', async () => {
    const platform = createFakePlatform({
      process: ({ command }) => ({ stdout: `ran ${command}` }),
      respond: () => ({ status: 201, body: ['he', 'llo'] }),
    });
    expect(await platform.processes.run({ command: 'ls', args: [] })).toEqual({ stdout: 'ran ls', stderr: '', status: 0, timedOut: false });
    const response = await platform.http.request({ method: 'GET', url: 'http://x/', headers: {} });
    const pieces: string[] = [];
    for await (const piece of response.stream()) pieces.push(new TextDecoder().decode(piece));
    expect([response.status, await response.text(), pieces]).toEqual([201, 'hello', ['he', 'llo']]);
    expect([platform.processes.requests.length, platform.http.requests.length]).toEqual([1, 1]);
  });

  it('without a script there is no program and no network', async () => {
    const platform = createFakePlatform();
    await expect(platform.processes.run({ command: 'ls', args: [] })).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(platform.http.request({ method: 'GET', url: 'http://x/', headers: {} })).rejects.toThrow('fetch failed');
  });

  it('begins with the files it was given', () => {
    const { files } = createFakePlatform({ files: { '/project/harn.toml': '', '/project/src/a.harn': 'println(1)' } });
    expect(files.readText('/project/src/a.harn')).toBe('println(1)');
  });
});
