/**
 * `npm run bench [-- --json] [-- --only GROUP]`: every figure as a ratio to a baseline measured in the same run.
 * Groups: start, cpu, growth, resume, durability, parked, list, model. The build must be current (`npm run build`).
 */
import { harnIsBuilt, measureColdStart } from './cold-start.ts';
import { measureCpu } from './cpu.ts';
import { measureDurability } from './durability.ts';
import { measureGrowth } from './growth.ts';
import { measureList } from './list.ts';
import type { Row } from './measure.ts';
import { measureModel } from './model.ts';
import { measureParked } from './parked.ts';
import { renderTable } from './report.ts';
import { measureResume } from './resume.ts';
import { Workspace } from './workspace.ts';

const GROUPS: Readonly<Record<string, (workspace: Workspace) => Row[] | Promise<Row[]>>> = {
  start: measureColdStart,
  cpu: (workspace) => measureCpu(workspace, 3),
  growth: measureGrowth,
  resume: measureResume,
  durability: measureDurability,
  parked: measureParked,
  list: measureList,
  model: measureModel,
};

async function main(argv: readonly string[]): Promise<number> {
  const only = argv.flatMap((word, index) => (word === '--only' ? [argv[index + 1] ?? ''] : []));
  const unknown = only.filter((name) => !(name in GROUPS));
  if (unknown.length > 0) {
    console.error(`bench: unknown group ${unknown.join(', ')}; there are ${Object.keys(GROUPS).join(', ')}`);
    return 2;
  }
  if (!harnIsBuilt()) {
    console.error('bench: bin/harn.js does not run; build it first with: npm run build');
    return 1;
  }
  const workspace = new Workspace();
  try {
    const rows: Row[] = [];
    for (const [name, measure] of Object.entries(GROUPS)) {
      if (only.length === 0 || only.includes(name)) rows.push(...(await measure(workspace)));
    }
    console.log(argv.includes('--json') ? JSON.stringify({ node: process.version, rows }, null, 2) : renderTable(rows));
    return 0;
  } finally {
    workspace.remove();
  }
}

void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
