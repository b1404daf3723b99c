import { chmodSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { createFakePlatform } from '../../src/platform/fake-platform.ts';
import { CliWorld } from './harn.ts';

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
});
afterEach(() => world.remove());

const UGLY = 'let   x=1 ;println( x )\n';
const NEAT = 'let x = 1\nprintln(x)\n';

describe('harn fmt', () => {
  it('writes what is not in the one style, names it, and leaves the rest alone', () => {
    world.write('src/ugly.harn', UGLY);
    world.write('src/deep/neat.harn', NEAT);
    world.write('src/.harn/old.harn', UGLY);
    const before = statSync(join(world.folder, 'src/deep/neat.harn')).mtimeMs;
    expect(world.harn(['fmt', 'src'])).toEqual({ code: 0, stdout: 'src/ugly.harn\n', stderr: '1 file formatted, 1 unchanged\n' });
    expect(world.read('src/ugly.harn')).toBe(NEAT);
    expect(world.read('src/.harn/old.harn')).toBe(UGLY);
    expect(statSync(join(world.folder, 'src/deep/neat.harn')).mtimeMs).toBe(before);
    expect(world.harn(['fmt'])).toEqual({ code: 0, stdout: '', stderr: '0 files formatted, 2 unchanged\n' });
  });

  it('--check writes nothing and fails when it would', () => {
    world.write('a.harn', UGLY);
    expect(world.harn(['fmt', '--check', 'a.harn'])).toEqual({ code: 1, stdout: 'a.harn\n', stderr: '1 file would change, 0 unchanged\n' });
    expect(world.read('a.harn')).toBe(UGLY);
    world.write('a.harn', NEAT);
    expect(world.harn(['fmt', '--check', 'a.harn'])).toMatchObject({ code: 0, stdout: '' });
  });

  it('--diff shows what would change', () => {
    world.write('a.harn', `// kept\n${UGLY}`);
    expect(world.harn(['fmt', '--diff', 'a.harn'])).toMatchObject({
      code: 1,
      stdout: 'a.harn\n  @@ line 1 then, line 1 now @@\n   // kept\n  -let   x=1 ;println( x )\n  +let x = 1\n  +println(x)\n',
    });
    expect(world.read('a.harn')).toContain(UGLY);
  });

  it('leaves a file with a syntax error as it is, and says where the error is', () => {
    world.write('bad.harn', 'let = 1\n');
    world.write('ugly.harn', UGLY);
    const { code, stdout, stderr } = world.harn(['fmt', 'bad.harn', 'ugly.harn']);
    expect([code, stdout]).toEqual([1, 'ugly.harn\n']);
    expect(stderr).toContain('--> bad.harn:1:5');
    expect(stderr).toContain('1 file formatted, 0 unchanged, 1 left alone because of syntax errors\n');
    expect(world.read('bad.harn')).toBe('let = 1\n');
    expect(world.read('ugly.harn')).toBe(NEAT);
  });

  it('keeps the mode of a file, and writes through a link', () => {
    world.write('tool.harn', `#!/usr/bin/env harn\n${UGLY}`);
    chmodSync(join(world.folder, 'tool.harn'), 0o755);
    symlinkSync('tool.harn', join(world.folder, 'link.harn'));
    expect(world.harn(['fmt', 'link.harn']).code).toBe(0);
    expect(readFileSync(join(world.folder, 'tool.harn'), 'utf8')).toBe(`#!/usr/bin/env harn\n${NEAT}`);
    expect(statSync(join(world.folder, 'tool.harn')).mode & 0o777).toBe(0o755);
  });

  it('takes another width', () => {
    world.write('a.harn', 'println(first_of_all, second_of_all)\n');
    expect(world.harn(['fmt', '--line-width', '20', 'a.harn']).code).toBe(0);
    expect(world.read('a.harn')).toBe('println(\n  first_of_all,\n  second_of_all,\n)\n');
  });

  it('--json has the same facts for programs', () => {
    world.write('bad.harn', 'let = 1\n');
    world.write('ugly.harn', UGLY);
    const { code, stdout, stderr } = world.harn(['fmt', '--check', '--json', '.']);
    expect([code, stderr]).toEqual([1, '']);
    expect(JSON.parse(stdout)).toEqual({
      schemaVersion: 1,
      ok: false,
      data: {
        changed: 1,
        unchanged: 0,
        rejected: 1,
        refused: 0,
        written: false,
        files: [
          {
            path: 'bad.harn',
            changed: false,
            difference: null,
            diagnostics: [expect.objectContaining({ severity: 'error', line: 1, column: 5 })],
            refusal: null,
          },
          { path: 'ugly.harn', changed: true, difference: null, diagnostics: [], refusal: null },
        ],
      },
      error: null,
      warnings: [],
    });
  });

  describe('with files that the system refuses', () => {
    const fmt = async (...options: string[]) => {
      const platform = createFakePlatform({
        files: { '/p/a.harn': UGLY, '/p/b.harn': UGLY, '/p/c.harn': UGLY, '/p/d.harn': UGLY },
        cwd: '/p',
      });
      const refused = (file: string, call: string): Error =>
        Object.assign(new Error(`EACCES: permission denied, ${call} '${file}'`), { code: 'EACCES', syscall: call, path: file });
      const { files } = platform;
      const [readText, write] = [files.readText.bind(files), files.write.bind(files)];
      files.readText = (file) => {
        if (file === '/p/b.harn') throw refused(file, 'open');
        return readText(file);
      };
      files.write = (file, text) => {
        if (file === '/p/c.harn') throw refused(file, 'write');
        write(file, text);
      };
      const code = await main(['fmt', ...options, '.'], platform);
      return {
        code,
        stdout: platform.stdio.stdout,
        stderr: platform.stdio.stderr,
        texts: ['a', 'd'].map((name) => readText(`/p/${name}.harn`)),
      };
    };

    it('the others are done, and all are named', async () => {
      expect(await fmt()).toEqual({
        code: 1,
        stdout: 'a.harn\nd.harn\n',
        stderr:
          'harn: b.harn: permission denied (open)\nharn: c.harn: permission denied (write)\n2 files formatted, 0 unchanged, 2 refused by the system\n',
        texts: [NEAT, NEAT],
      });
    });

    it('--json says which and why', async () => {
      const { code, stdout } = await fmt('--json');
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({
        ok: false,
        data: {
          changed: 2,
          refused: 2,
          files: [
            { path: 'a.harn', changed: true, refusal: null },
            { path: 'b.harn', changed: false, refusal: 'b.harn: permission denied (open)' },
            { path: 'c.harn', changed: false, refusal: 'c.harn: permission denied (write)' },
            { path: 'd.harn', changed: true, refusal: null },
          ],
        },
      });
    });
  });

  it.each([
    [['-', 'a.harn'], '- is standard input, and stands alone'],
    [['nowhere'], 'there is no file or folder nowhere'],
    [['--line-width', 'wide'], '--line-width: wide is no number of characters'],
    [['--wide'], "unknown option '--wide'"],
  ])('%j is a usage error', (args, text) => {
    expect(world.harn(['fmt', ...args])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(text) });
  });
});

describe('harn fmt -', () => {
  const fmt = async (stdin: string, ...options: string[]) => {
    const platform = createFakePlatform({ stdin });
    const code = await main(['fmt', ...options, '-'], platform);
    return { code, stdout: platform.stdio.stdout, stderr: platform.stdio.stderr };
  };

  it('reads standard input and writes the result', async () => {
    expect(await fmt(UGLY)).toEqual({ code: 0, stdout: NEAT, stderr: '' });
    expect(await fmt(NEAT)).toEqual({ code: 0, stdout: NEAT, stderr: '' });
    expect(await fmt('')).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('--check only says whether it would change', async () => {
    expect(await fmt(UGLY, '--check')).toEqual({ code: 1, stdout: '<stdin>\n', stderr: '' });
    expect(await fmt(NEAT, '--check')).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('writes nothing for a syntax error, so that an editor keeps its text', async () => {
    const { code, stdout, stderr } = await fmt('let = 1\n');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('--> <stdin>:1:5');
  });

  it('--json carries the text', async () => {
    expect(JSON.parse((await fmt(UGLY, '--json')).stdout)).toMatchObject({ ok: true, data: { changed: 1, written: false, text: NEAT } });
    expect(JSON.parse((await fmt('let = 1', '--json')).stdout)).toMatchObject({ ok: false, data: { rejected: 1 } });
  });
});
