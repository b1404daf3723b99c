import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliWorld, type Ended, events, ROOT } from './harn.ts';
import { mockFile } from './parked-loop.ts';

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
  world.write('work.harn', 'agent_loop("work", nil, {provider: "mock", tool_format: "native"})\nsleep(600000)\nprintln("never")\n');
});
afterEach(() => world.remove());

/** Runs harn in a process that gets signals in the middle of its first change of a snapshot. */
function signalled(place: string, signals: string, args: readonly string[]): Ended {
  const program = join(ROOT, 'test/cli/signalled-run.ts');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), program, place, signals, ...args],
    {
      cwd: world.folder,
      env: world.environment,
      encoding: 'utf8',
      timeout: 60_000,
    },
  );
  return { code: status, stdout, stderr };
}

const codes: Readonly<Record<string, number>> = { SIGTERM: 143, SIGINT: 130 };
const workers = (): string[] => readdirSync(join(world.folder, '.harn/workers'));

describe('D8 T42: a signal during a snapshot write', () => {
  test.each([
    ['write', 'SIGTERM', []],
    ['sync', 'SIGINT', []],
    ['rename', 'SIGTERM', ['--json']],
    ['write', 'SIGINT', ['--json']],
    ['write', 'SIGTERM,SIGTERM', []],
    ['rename', 'SIGINT,SIGTERM', []],
  ] as const)('in the middle of its %s, %s, ends with its code, and the whole snapshot resumes', (place, signals, options) => {
    const parks = mockFile(world, 'a.jsonl', [{ tool_calls: [{ name: 'agent_await_resumption', arguments: { reason: 'r' } }] }]);
    const { code, stdout, stderr } = signalled(place, signals, ['run', ...options, 'work.harn', '--llm-mock', parks]);
    const [first = ''] = signals.split(',');
    // Of two that wait at once the system delivers the one of the lower number first.
    expect(signals.includes(',') ? Object.values(codes) : [codes[first]]).toContain(code);
    expect(stdout).not.toContain('never');
    if (options.length > 0) {
      const terminal = events(stdout).filter(({ data }) => data.event_type === 'error' || data.event_type === 'result');
      expect(terminal).toMatchObject([{ data: { exit_code: code } }]);
      expect(terminal[0]).toEqual(events(stdout).at(-1));
    } else expect(stderr).toContain('received, parking at the next turn boundary');
    const [snapshot = '', ...others] = workers();
    expect(others).toEqual([]);
    const path = join('.harn/workers', snapshot);
    expect(JSON.parse(readFileSync(join(world.folder, path), 'utf8'))).toMatchObject({ status: 'suspended', suspension: { reason: 'r' } });
    const end = mockFile(world, 'b.jsonl', [{ text: 'end' }]);
    expect(world.harn(['run', '--resume', path, '--llm-mock', end])).toMatchObject({ code: 0, stdout: 'end\n' });
  });
});
