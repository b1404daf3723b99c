import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { interleaved, of, type Row, timeCommand } from './measure.ts';
import { HARN_BIN, type Workspace } from './workspace.ts';

const ROUNDS = 11;

/**
 * One tool that answers with a text. A turn adds little enough that also the longest transcript fits the model's context:
 * one that does not is compacted by its loop, and would not be that long.
 */
const SCRIPT = `tool note(text: string) -> string {
  description "Keeps a note."
  return "kept " + text
}

pipeline default() {
  let result = agent_loop("work", nil, {
    provider: "mock", tool_format: "native", tools: note, max_iterations: 5000,
    loop_detect_warn: 0, loop_detect_block: 0, loop_detect_skip: 0, compaction: "none",
  })
  return nil
}
`;

/** Resuming a loop that parked after many turns, to `node -e 0`; and what reading its file alone costs. */
export function measureResume(workspace: Workspace): Row[] {
  return [100, 1_000].map((turns) => {
    const snapshot = parkAfter(workspace, turns);
    const finish = workspace.write(`finish-${turns}.jsonl`, `${JSON.stringify({ text: 'done' })}\n`);
    const env = workspace.environment();
    const copies = Array.from({ length: ROUNDS + 1 }, (_, round) => {
      const copy = join(workspace.folder(`resume-${turns}-${round}`), 'worker_copy.json');
      copyFileSync(snapshot, copy);
      return copy;
    });
    const medians = interleaved(
      [
        { name: 'node', run: () => timeCommand(process.execPath, ['-e', '0']) },
        {
          name: 'file',
          run: () => timeCommand(process.execPath, ['-e', `JSON.parse(require('fs').readFileSync(${JSON.stringify(snapshot)}, 'utf8'))`]),
        },
        {
          name: 'resume',
          // Each round has a state root of its own: a resumed worker cannot be resumed again.
          run: (round) =>
            timeCommand(process.execPath, [HARN_BIN, 'run', '--quiet', '--llm-mock', finish, '--resume', copies[round] as string], {
              env: { ...env, HARN_STATE_DIR: join(workspace.root, `resume-state-${turns}-${round}`) },
            }),
        },
      ],
      ROUNDS,
    );
    const node = of(medians, 'node');
    return {
      group: 'resume',
      name: `cold resume after ${turns} turns, to node -e 0`,
      value: of(medians, 'resume') / node,
      unit: 'ratio',
      goal: turns === 100 ? 1.4 : 1.8,
      figures: {
        resumeMs: of(medians, 'resume'),
        nodeMs: node,
        plainFileRatio: of(medians, 'file') / node,
        snapshotBytes: readFileSync(snapshot).length,
      },
    };
  });
}

/** @returns the snapshot of a loop that parked itself after `turns` turns */
export function parkAfter(workspace: Workspace, turns: number): string {
  const script = workspace.write(`turns-${turns}.harn`, SCRIPT);
  const text = 'x'.repeat(150);
  const entries = Array.from({ length: turns }, (_, turn) => ({ tool_calls: [{ name: 'note', arguments: { text: `${turn} ${text}` } }] }));
  const parks = { tool_calls: [{ name: 'agent_await_resumption', arguments: { reason: 'bench' } }] };
  const mock = workspace.write(`turns-${turns}.jsonl`, [...entries, parks].map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  const state = workspace.folder(`park-${turns}`);
  timeCommand(process.execPath, [HARN_BIN, 'run', '--quiet', '--llm-mock', mock, script], {
    env: { ...workspace.environment(), HARN_STATE_DIR: state },
  });
  const [name] = readdirSync(join(state, 'workers')).filter((file) => file.endsWith('.json'));
  if (name === undefined) throw new Error(`the loop of ${turns} turns did not park`);
  return join(state, 'workers', name);
}
