import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliWorld } from './harn.ts';

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
});
afterEach(() => world.remove());

const inside = (folder: string, ...args: string[]) => world.harn(args, { cwd: join(world.folder, folder) });

describe('harn init', () => {
  it('makes a project that is in the one style, has no mistakes, runs, parks and goes on', () => {
    const made = world.harn(['init', 'my/demo']);
    expect(made).toMatchObject({
      code: 0,
      stdout: 'my/demo/harn.toml\nmy/demo/main.harn\nmy/demo/main.llm-mock.jsonl\nmy/demo/notes.txt\nmy/demo/.gitignore\n',
    });
    expect(made.stderr).toContain('  cd my/demo\n  harn run --llm-mock main.llm-mock.jsonl main.harn\n');
    expect(inside('my/demo', 'fmt', '--check')).toMatchObject({ code: 0 });
    expect(inside('my/demo', 'check')).toMatchObject({ code: 0, stderr: '1 file checked: 0 errors, 0 warnings\n' });
    const ran = inside('my/demo', 'run', '--llm-mock', 'main.llm-mock.jsonl', 'main.harn');
    expect(ran).toMatchObject({ code: 0, stdout: 'waiting: The notes name two things to do; which one first?\n' });
    const snapshot = /--resume (\S+)/.exec(ran.stderr)?.[1] ?? '';
    expect(inside('my/demo', 'run', '--resume', snapshot, '--llm-mock', 'main.llm-mock.jsonl', '--', 'the tool')).toEqual({
      code: 0,
      stdout: 'Good, then that is what I do first.\n',
      stderr: '',
    });
    expect(world.read('my/demo/harn.toml')).toContain('name = "demo"');
  });

  it('writes over nothing, and into nothing that is no folder', () => {
    world.write('main.harn', 'println("mine")\n');
    world.write('notes.txt', 'mine');
    expect(world.harn(['init'])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('main.harn, notes.txt exist in ') });
    expect(world.read('main.harn')).toBe('println("mine")\n');
    expect(() => world.read('harn.toml')).toThrow('ENOENT');
    expect(world.harn(['init', 'notes.txt'])).toMatchObject({ code: 2, stderr: expect.stringContaining('is a file; name a folder') });
  });

  it('adds a line to a .gitignore, once', () => {
    world.write('a/.gitignore', 'node_modules');
    expect(world.harn(['init', 'a']).stdout).not.toContain('.gitignore');
    expect(world.read('a/.gitignore')).toBe('node_modules\n.harn/\n');
    world.write('b/.gitignore', '.harn\n');
    world.harn(['init', 'b']);
    expect(world.read('b/.gitignore')).toBe('.harn\n');
  });

  it('--json names what it made', () => {
    const { data } = JSON.parse(world.harn(['init', 'x', '--json']).stdout);
    expect(data).toMatchObject({ folder: join(world.folder, 'x'), created: expect.arrayContaining(['x/harn.toml', 'x/.gitignore']) });
  });
});
