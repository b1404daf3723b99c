import { spawnSync } from 'node:child_process';
import { interleaved, of, type Row, timeCommand } from './measure.ts';
import { HARN_BIN, type Workspace } from './workspace.ts';

const ROUNDS = 25;

/** Start-up of the command line against bare Node, and the way from source to running for a script of 5 KB. */
export function measureColdStart(workspace: Workspace): Row[] {
  const node = process.execPath;
  const hello = workspace.write('hello.harn', 'println("hello")\n');
  const script = workspace.write('five-kilobytes.harn', fiveKilobytes());
  const options = { env: workspace.environment() };
  const fresh = (round: number) => ({ env: workspace.environment(`cache-${round}`) });
  // The fresh cache already knows nothing of the script, but V8's code cache of harn itself is part of the installation.
  const medians = interleaved(
    [
      { name: 'node', run: () => timeCommand(node, ['-e', '0']) },
      { name: 'version', run: () => timeCommand(node, [HARN_BIN, '--version'], options) },
      { name: 'hello', run: () => timeCommand(node, [HARN_BIN, 'run', hello], options) },
      { name: 'cached', run: () => timeCommand(node, [HARN_BIN, 'run', script], options) },
      { name: 'compiled', run: (round) => timeCommand(node, [HARN_BIN, 'run', script], fresh(round)) },
    ],
    ROUNDS,
  );
  const floor = of(medians, 'node');
  const helloMs = of(medians, 'hello');
  return [
    ratio('harn --version, to node -e 0', of(medians, 'version'), floor, 1.1),
    ratio('harn run hello.harn, to node -e 0', helloMs, floor, 1.25),
    difference('5 KB script, source to running', of(medians, 'compiled'), helloMs, 10),
    difference('5 KB script, cached', of(medians, 'cached'), helloMs, 2),
  ];
}

function ratio(name: string, ms: number, floorMs: number, goal: number): Row {
  return { group: 'start', name, value: ms / floorMs, unit: 'ratio', goal, figures: { ms, nodeMs: floorMs } };
}

function difference(name: string, ms: number, helloMs: number, goal: number): Row {
  return { group: 'start', name, value: Math.max(0, ms - helloMs), unit: 'ms', goal, figures: { ms, helloMs } };
}

function fiveKilobytes(): string {
  const functions: string[] = [];
  for (let i = 0; functions.join('').length < 4_900; i++) {
    functions.push(
      `fn step_${i}(value: int, items: list) -> int {\n  var total = value\n  for item in items {\n    if item % ${i + 2} == 0 { total += item } else { total -= 1 }\n  }\n  let label = "step ${i}: \${total}"\n  return total + len(label)\n}\n\n`,
    );
  }
  const calls = functions.map((_, i) => `  total = step_${i}(total, [1, 2, 3])`).join('\n');
  return `${functions.join('')}pipeline default() {\n  var total = 0\n${calls}\n  println(total)\n}\n`;
}

/** True when the built binary is there and works. */
export function harnIsBuilt(): boolean {
  return spawnSync(process.execPath, [HARN_BIN, '--version']).status === 0;
}
