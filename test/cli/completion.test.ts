import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderInstant } from '../../src/base/instant.ts';
import { renderSnapshot } from '../../src/store/snapshot-file.ts';
import { sampleSnapshot } from '../store/sample-snapshot.ts';
import { CliWorld, ROOT } from './harn.ts';

const world = new CliWorld();
afterAll(() => world.remove());

const ID = 'worker_01990000-0000-7000-8000-000000000001';

beforeAll(() => {
  const { bytes } = renderSnapshot(sampleSnapshot({ id: ID, created_at: renderInstant(0) }));
  world.write(`.harn/workers/${ID}.json`, Buffer.from(bytes).toString('utf8'));
  world.write('completion.bash', world.harn(['completion', 'bash']).stdout);
  world.write('path/harn', `#!/bin/sh\nexec ${process.execPath} ${join(ROOT, 'bin/harn.js')} "$@"\n`);
  chmodSync(join(world.folder, 'path/harn'), 0o755);
});

/** What bash offers behind these words; the last one is the beginning of what is typed. */
function offered(...words: string[]): string[] {
  const script = 'source completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _harn; printf "%s\\n" "${COMPREPLY[@]}"';
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', 'harn', ...words], {
    cwd: world.folder,
    encoding: 'utf8',
    env: { ...world.environment, PATH: `${join(world.folder, 'path')}:${process.env.PATH}` },
  });
  expect([status, stderr]).toEqual([0, '']);
  return stdout.split('\n').filter((line) => line !== '');
}

describe('harn completion bash', () => {
  it('offers commands, the commands of a group, and options', () => {
    expect(offered('')).toEqual(expect.arrayContaining(['run', 'check', 'fmt', 'workers', 'explain', 'init', '--version']));
    expect(offered('wo')).toEqual(['workers']);
    expect(offered('workers', 'w')).toEqual(['why', 'wait']);
    expect(offered('run', '--no')).toEqual(['--no-continue-transcript', '--no-sandbox']);
    expect(offered('workers', 'list', '--s')).toEqual(['--state', '--stuck', '--sort']);
  });

  it('offers the ids of workers and the codes of errors', () => {
    expect(offered('workers', 'show', 'worker_')).toEqual([ID]);
    expect(offered('workers', 'verify', 'worker_')).toEqual([ID]);
    expect(offered('explain', 'HARN-SUS-00')).toHaveLength(9);
    expect(offered('completion', '')).toEqual(['bash', 'zsh', 'fish', '--help']);
  });

  it('leaves files to the shell', () => {
    expect(offered('run', 'comp')).toEqual([]);
  });
});

describe('harn completion', () => {
  it('zsh uses the same script', () => {
    const zsh = world.harn(['completion', 'zsh']).stdout;
    expect(zsh).toMatch(/^#compdef harn\n/);
    expect(zsh).toContain(world.read('completion.bash').slice(world.read('completion.bash').indexOf('_harn()')));
  });

  it('fish has a line for each command and option', () => {
    const { stdout } = world.harn(['completion', 'fish']);
    expect(stdout).toContain("complete -c harn -f -n '__fish_use_subcommand' -a fmt -d 'put scripts into the one style, in place'\n");
    expect(stdout).toContain("complete -c harn -n '__fish_seen_subcommand_from run' -s e -d 'run this code instead of a file'\n");
    expect(stdout).toContain(
      "complete -c harn -n '__fish_seen_subcommand_from workers; and __fish_seen_subcommand_from close' -l reason -d ",
    );
    for (const line of stdout.trimEnd().split('\n').slice(1)) expect(line).toMatch(/^complete -c harn .*'$/);
  });

  it('of another shell is a usage error', () => {
    expect(world.harn(['completion', 'tcsh'])).toMatchObject({ code: 2, stderr: expect.stringContaining('there is bash, zsh, fish') });
  });
});
