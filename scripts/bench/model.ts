import { spawnSync } from 'node:child_process';
import { startModelService } from '../model-service.ts';
import { interleaved, of, type Row, timeCommand } from './measure.ts';
import { HARN_BIN, type Workspace } from './workspace.ts';

const ROUNDS = 25;
const PROGRAMS = `${import.meta.dirname}/programs`;
const ANSWER = 'Hello, world\n';

/** What is measured: commands of Node by name. A call prints the answer; what is only loaded prints nothing. */
const CALLS = {
  fetch: [`${PROGRAMS}/model-call.mjs`],
  harn: [HARN_BIN, 'run', `${PROGRAMS}/model-call.harn`],
  'harn with anthropic': [HARN_BIN, 'run', `${PROGRAMS}/model-call-anthropic.harn`],
  'openai, call': [`${PROGRAMS}/client-openai.mjs`, 'call'],
  'anthropic, call': [`${PROGRAMS}/client-anthropic.mjs`, 'call'],
} as const;
const LOADS = {
  node: ['-e', '0'],
  openai: [`${PROGRAMS}/client-openai.mjs`],
  anthropic: [`${PROGRAMS}/client-anthropic.mjs`],
  'adapter for openai': [`${PROGRAMS}/adapter.cjs`, 'openai'],
  'adapter for anthropic': [`${PROGRAMS}/adapter.cjs`, 'anthropic'],
  run: [`${PROGRAMS}/adapter.cjs`, 'run'],
  'run, adapter for openai': [`${PROGRAMS}/adapter.cjs`, 'run', 'openai'],
  'run, adapter for anthropic': [`${PROGRAMS}/adapter.cjs`, 'run', 'anthropic'],
} as const;

/**
 * A script that asks a model once, from start to end, against a bare Node program that does the same with `fetch` and
 * against programs with the clients of the vendors; and what it costs to load and make an adapter against what it costs
 * to load and make those clients, both beyond an empty Node process; and once more beyond a process that has loaded what
 * every run loads.
 */
export async function measureModel(workspace: Workspace): Promise<Row[]> {
  const service = await startModelService();
  try {
    const env = { ...workspace.environment(), ...service.env };
    for (const args of Object.values(CALLS)) assertAnswer(args, env);
    const subjects = Object.entries({ ...CALLS, ...LOADS }).map(([name, args]) => ({
      name,
      run: () => timeCommand(process.execPath, args, { env }),
    }));
    return rows(interleaved(subjects, ROUNDS));
  } finally {
    service.stop();
  }
}

function rows(medians: ReadonlyMap<string, number>): Row[] {
  const [harnMs, fetchMs, nodeMs] = [of(medians, 'harn'), of(medians, 'fetch'), of(medians, 'node')];
  const figures = { harnMs, fetchMs, nodeMs };
  return [
    { group: 'model', name: 'one model call, to a bare Node fetch', value: harnMs / fetchMs, unit: 'ratio', goal: 1.25, figures },
    { group: 'model', name: 'one model call, beyond a bare Node fetch', value: harnMs - fetchMs, unit: 'ms', goal: undefined, figures },
    ...(['openai', 'anthropic'] as const).flatMap((client) => clientRows(client, medians)),
  ];
}

function clientRows(client: 'openai' | 'anthropic', medians: ReadonlyMap<string, number>): Row[] {
  const nodeMs = of(medians, 'node');
  const [adapterMs, clientMs] = [of(medians, `adapter for ${client}`) - nodeMs, of(medians, client) - nodeMs];
  const addedMs = of(medians, `run, adapter for ${client}`) - of(medians, 'run');
  const [harnMs, clientCallMs] = [of(medians, client === 'openai' ? 'harn' : 'harn with anthropic'), of(medians, `${client}, call`)];
  return [
    {
      group: 'model',
      name: `loading and making an adapter, to the ${client} client`,
      value: adapterMs / clientMs,
      unit: 'ratio',
      goal: 0.1,
      figures: { adapterMs, clientMs, nodeMs },
    },
    {
      group: 'model',
      name: `what an adapter adds to a run, to the ${client} client`,
      value: addedMs / clientMs,
      unit: 'ratio',
      goal: 0.1,
      figures: { addedMs, clientMs },
    },
    {
      group: 'model',
      name: `one model call, to the ${client} client`,
      value: harnMs / clientCallMs,
      unit: 'ratio',
      goal: 1,
      figures: { harnMs, clientCallMs, nodeMs },
    },
  ];
}

/** What is compared has to do the same work. */
function assertAnswer(args: readonly string[], env: NodeJS.ProcessEnv): void {
  const { stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  if (stdout !== ANSWER) throw new Error(`${args.join(' ')} printed ${JSON.stringify(stdout)}: ${stderr}`);
}
