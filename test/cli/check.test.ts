import { afterAll, expect, it } from 'vitest';
import { ERROR_CODES } from '../../src/base/error-codes.ts';
import { main } from '../../src/cli/main.ts';
import { createFakePlatform } from '../../src/platform/fake-platform.ts';
import { CliWorld } from './harn.ts';

const world = new CliWorld();
afterAll(() => world.remove());

world.write('src/good.harn', 'println("a")\n');
world.write('src/deep/bad.harn', 'let x: int = "s"\nprintln(x)\n');
world.write('src/.harn/workers/old.harn', 'let = 1\n');
world.write('alone/parse.harn', 'println(1\n');

it('a file without mistakes passes, and nothing of it runs', () => {
  expect(world.harn(['check', 'src/good.harn'])).toEqual({ code: 0, stdout: '', stderr: '1 file checked: 0 errors, 0 warnings\n' });
});

it('a folder means the scripts below it, but not its state', () => {
  const { code, stdout, stderr } = world.harn(['check', 'src']);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(`error: 'x' declared as int, but assigned string
  --> src/deep/bad.harn:1:1
   |
 1 | let x: int = "s"
   | ^^^^^^^^^^^^^^^^
2 files checked: 1 error, 0 warnings
`);
});

it('--json has the same facts for programs', () => {
  const { code, stdout, stderr } = world.harn(['check', '--json', 'alone']);
  expect([code, stderr]).toEqual([1, '']);
  expect(JSON.parse(stdout)).toMatchObject({
    schemaVersion: 1,
    ok: false,
    data: { files: 1, errors: 1, warnings: 0, diagnostics: [{ severity: 'error', stage: 'parser', path: 'alone/parse.harn', line: 2 }] },
  });
});

it('a file that may not be read is a finding, in text as in JSON', async () => {
  const platform = createFakePlatform({ files: { '/elsewhere/secret.harn': 'println(1)' } });
  platform.files.readText = () => {
    throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES', syscall: 'open' });
  };
  expect(await main(['check', '/elsewhere'], platform)).toBe(1);
  expect(platform.stdio.stderr).toBe(
    `error: cannot read the file: EACCES\n  --> /elsewhere/secret.harn\n1 file checked: 1 error, 0 warnings\n`,
  );
});

it('a script on standard input is checked and run like a file, under the name <stdin>', () => {
  const input = 'import { pad } from "./src/pad"\nprintln(pad(argv[0]))\nprintln(read_line())\nprintln(nil.x)\n';
  world.write('src/pad.harn', 'pub fn pad(text) { return "[${text}]" }\n');
  expect(world.harn(['run', '-', '--', 'a'], { input })).toEqual({
    code: 1,
    stdout: '[a]\nnil\n',
    stderr: `error: Type error: cannot access property \`x\` on nil (line 4)
  --> <stdin>:4:13
   |
 4 | println(nil.x)
   |             ^
`,
  });
  expect(world.harn(['check', '-'], { input })).toEqual({ code: 0, stdout: '', stderr: '1 file checked: 0 errors, 0 warnings\n' });
  const wrong = world.harn(['check', '-'], { input: 'let x: int = "s"\n' });
  expect([wrong.code, wrong.stderr.split('\n')[1]]).toEqual([1, '  --> <stdin>:1:1']);
  const json = world.harn(['check', '--json', '-'], { input: 'let = 1\n' });
  expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, data: { diagnostics: [{ path: '<stdin>', line: 1, column: 5 }] } });
  expect(world.harn(['check', '-', 'src'], { input }).code).toBe(2);
});

it('what is not there is a usage error', () => {
  expect(world.harn(['check', 'nowhere'])).toEqual({ code: 2, stdout: '', stderr: 'harn: there is no file or folder nowhere\n' });
});

it('harn explain says what a code means and what to do, however it is written', () => {
  const { code, stdout, stderr } = world.harn(['explain', 'harn-sus-003']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('HARN-SUS-003: The worker is not suspended\n');
  expect(stdout).toContain('\nWhat to do: ');
});

it('harn explain lists the codes, and says so for one that it does not know', () => {
  expect(world.harn(['explain']).stdout.split('\n').length).toBeGreaterThan(ERROR_CODES.length);
  expect(world.harn(['explain', 'HARN-XXX-001'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('harn explain lists them all'),
  });
});
