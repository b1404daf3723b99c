import { spawnSync } from 'node:child_process';
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { median, type Row } from './measure.ts';
import { HARN_BIN, type Workspace } from './workspace.ts';

const PARKS = 12;

/**
 * A worker that fills its transcript, prints the size of its journal from a tool, and parks itself again and again. The
 * hooks around a park note the time, so a park is measured where it happens.
 */
const SCRIPT = `tool note(text: string) -> string {
  description "Keeps a note."
  return "kept"
}

tool journal_size() -> string {
  description "Prints the size of the worker's journal."
  let folder = env("HARN_STATE_DIR") + "/workers"
  for name in list_dir(folder) {
    if ends_with(name, ".journal.jsonl") { println("journal \${stat(folder + "/" + name).size}") }
  }
  return "seen"
}

pipeline default() {
  register_session_hook("PreSuspend", { event -> println("begin \${monotonic_ms()}") })
  register_session_hook("PostSuspend", { event -> println("end \${monotonic_ms()}") })
  let worker = spawn_agent({task: "work", options: {
    provider: "mock", tool_format: "native", tools: [note, journal_size], max_iterations: 5000,
    loop_detect_warn: 0, loop_detect_block: 0, loop_detect_skip: 0, compaction: "none",
  }})
  wait_agent(worker)
  for round in 1 to ${PARKS} exclusive {
    resume_agent(worker, "again")
    wait_agent(worker)
  }
  return nil
}
`;

/** What a turn costs on disk, and what a park costs beside the write that it cannot do without. */
export function measureDurability(workspace: Workspace): Row[] {
  const short = runWorker(workspace, 100, 900);
  const long = runWorker(workspace, 1_000, 900);
  const megabyte = runWorker(workspace, 250, 4_000);
  const bare = bareWrites(megabyte.snapshot);
  return [
    bytesRow('100 turns', short),
    bytesRow('1,000 turns', long),
    {
      group: 'durability',
      name: 'park a transcript of 1 MB, to write + fsync + rename',
      value: median(megabyte.parkMs) / median(bare),
      unit: 'ratio',
      goal: 1.5,
      figures: { parkMs: median(megabyte.parkMs), bareMs: median(bare), snapshotBytes: readFileSync(megabyte.snapshot).length },
    },
  ];
}

function bytesRow(name: string, run: WorkerRun): Row {
  return {
    group: 'durability',
    name: `journal bytes of ${name}, to the transcript's messages`,
    value: run.journalBytes / run.messageBytes,
    unit: 'ratio',
    goal: 1.5,
    figures: { journalBytes: run.journalBytes, messageBytes: run.messageBytes },
  };
}

interface WorkerRun {
  readonly journalBytes: number;
  readonly messageBytes: number;
  /** Every park after the first, which finds its code cold. */
  readonly parkMs: readonly number[];
  readonly snapshot: string;
}

function runWorker(workspace: Workspace, turns: number, textBytes: number): WorkerRun {
  const name = `durable-${turns}-${textBytes}`;
  const text = 'x'.repeat(textBytes);
  const calls = [
    ...Array.from({ length: turns }, (_, turn) => ({ name: 'note', arguments: { text: `${turn} ${text}` } })),
    { name: 'journal_size', arguments: {} },
    ...Array.from({ length: PARKS }, () => ({ name: 'agent_await_resumption', arguments: { reason: 'bench' } })),
  ];
  const mock = workspace.write(`${name}.jsonl`, calls.map((call) => `${JSON.stringify({ tool_calls: [call] })}\n`).join(''));
  const state = workspace.folder(name);
  const result = spawnSync(process.execPath, [HARN_BIN, 'run', '--quiet', '--llm-mock', mock, workspace.write(`${name}.harn`, SCRIPT)], {
    encoding: 'utf8',
    env: { ...workspace.environment(), HARN_STATE_DIR: state },
  });
  if (result.status !== 0) throw new Error(`the worker of ${turns} turns ended with ${result.status}: ${result.stderr}`);
  const printed = (word: string): number[] =>
    result.stdout.split('\n').flatMap((line) => (line.startsWith(`${word} `) ? [Number(line.slice(word.length + 1))] : []));
  const [journalBytes] = printed('journal');
  const ends = printed('end');
  const [file] = readdirSync(join(state, 'workers')).filter((entry) => entry.endsWith('.json'));
  if (journalBytes === undefined || file === undefined || ends.length !== PARKS)
    throw new Error(`the worker of ${turns} turns did not park`);
  const snapshot = join(state, 'workers', file);
  const { transcript } = JSON.parse(readFileSync(snapshot, 'utf8')) as { transcript: { messages: unknown[] } };
  return {
    journalBytes,
    messageBytes: Buffer.byteLength(JSON.stringify(transcript.messages)),
    parkMs: printed('begin')
      .map((begin, park) => (ends[park] as number) - begin)
      .slice(1),
    snapshot,
  };
}

/** Milliseconds to make the bytes of a file durable under a new name in the same folder, as often as the worker parked. */
function bareWrites(snapshot: string): number[] {
  const bytes = readFileSync(snapshot);
  const target = join(dirname(snapshot), 'bare');
  return Array.from({ length: PARKS }, () => {
    const begin = performance.now();
    const descriptor = openSync(`${target}.tmp`, 'wx', 0o600);
    writeSync(descriptor, bytes);
    fsyncSync(descriptor);
    closeSync(descriptor);
    renameSync(`${target}.tmp`, target);
    return performance.now() - begin;
  }).slice(1);
}
