import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { CliWorld, ROOT } from '../cli/harn.ts';

const world = new CliWorld();
afterAll(() => world.remove());

/** Shell blocks of the first steps, each with the text that the page shows behind it. */
function stepsOf(page: string): { readonly script: string; readonly shown: string }[] {
  const [, section = ''] = page.split('## In 60 seconds\n');
  const [steps = ''] = section.split('\n## ');
  return [...steps.matchAll(/```sh\n(.*?)```\n\n```text\n(.*?)```/gs)].map(([, script = '', shown = '']) => ({ script, shown }));
}

/** The page leaves out what differs from run to run. */
function patternOf(line: string): RegExp {
  const parts = line.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.+')}$`, 'm');
}

it('the first steps of the README do what it says, in the order in which they stand there', () => {
  cpSync(join(ROOT, 'fixtures/review'), join(world.folder, 'fixtures/review'), { recursive: true });
  mkdirSync(join(world.folder, 'docs'));
  const steps = stepsOf(readFileSync(join(ROOT, 'README.md'), 'utf8'));
  expect(steps).toHaveLength(3);
  let before = '';
  for (const { script, shown } of steps) {
    const commands = script.replace('npm ci\n', '').replaceAll('npx harn', '"$0" "$@"');
    // Both streams, as a terminal shows them; folders stay changed from step to step.
    const { stdout } = world.shell(`exec 2>&1\n${before}${commands}`, [], { REVIEW_OUTBOX: join(world.folder, 'outbox') });
    for (const line of shown.trimEnd().split('\n')) expect(stdout).toMatch(patternOf(line));
    expect(stdout.trimEnd().split('\n')).toHaveLength(shown.trimEnd().split('\n').length);
    before += commands
      .split('\n')
      .filter((line) => line.startsWith('cd '))
      .map((line) => `${line}\n`)
      .join('');
  }
  expect(world.read('outbox/review.md')).toContain('Decision: approved, but fix the typo');
});
