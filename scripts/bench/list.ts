import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { interleaved, of, type Row, timeCommand } from './measure.ts';
import { parkAfter } from './resume.ts';
import { HARN_BIN, type Workspace } from './workspace.ts';

const ROUNDS = 15;
const WORKERS = 1_000;

/** Listing a folder of parked workers, each with a transcript of twenty turns, to `node -e 0`; and listing one. */
export function measureList(workspace: Workspace): Row[] {
  const snapshot = readFileSync(parkAfter(workspace, 20), 'utf8');
  const list = (count: number) => {
    const state = fillState(workspace, snapshot, count);
    return () =>
      timeCommand(process.execPath, [HARN_BIN, 'workers', 'list'], { env: { ...workspace.environment(), HARN_STATE_DIR: state } });
  };
  const medians = interleaved(
    [
      { name: 'node', run: () => timeCommand(process.execPath, ['-e', '0']) },
      { name: 'one', run: list(1) },
      { name: 'many', run: list(WORKERS) },
    ],
    ROUNDS,
  );
  const node = of(medians, 'node');
  return [
    {
      group: 'list',
      name: `list ${WORKERS.toLocaleString('en')} parked workers, to node -e 0`,
      value: of(medians, 'many') / node,
      unit: 'ratio',
      goal: 2,
      figures: { manyMs: of(medians, 'many'), oneRatio: of(medians, 'one') / node, nodeMs: node, snapshotBytes: snapshot.length },
    },
  ];
}

/** @returns a state root with that many copies of a snapshot, each under an id of its own */
function fillState(workspace: Workspace, snapshot: string, count: number): string {
  const id = String(JSON.parse(snapshot).id);
  for (let index = 0; index < count; index++) {
    const copyId = `worker_019ad${index.toString(16).padStart(3, '0')}-0000-7000-8000-000000000000`;
    workspace.write(`list-${count}/workers/${copyId}.json`, snapshot.replaceAll(id, copyId));
  }
  return join(workspace.root, `list-${count}`);
}
