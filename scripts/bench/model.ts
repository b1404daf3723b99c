import { spawn, spawnSync } from 'node:child_process';
import { interleaved, of, type Row, timeCommand } from './measure.ts';
import { HARN_BIN, type Workspace } from './workspace.ts';

const ROUNDS = 25;
const PROGRAMS = `${import.meta.dirname}/programs`;
const ANSWER = 'Hello, world\n';

/** A script that asks a model once, from start to end, against a bare Node program that does the same with `fetch`. */
export async function measureModel(workspace: Workspace): Promise<Row[]> {
  const service = spawn(process.execPath, [`${import.meta.dirname}/model-service.mjs`], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const port = await new Promise<string>((resolve, reject) => {
      service.stdout.once('data', (data: Buffer) => resolve(data.toString().trim()));
      service.once('exit', (code) => reject(new Error(`the model service ended with ${code}`)));
    });
    const env = { ...workspace.environment(), OPENAI_API_KEY: 'sk-bench', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` };
    const harn = [HARN_BIN, 'run', `${PROGRAMS}/model-call.harn`];
    const bare = [`${PROGRAMS}/model-call.mjs`];
    for (const args of [harn, bare]) assertAnswer(args, env);
    const medians = interleaved(
      [
        { name: 'node', run: () => timeCommand(process.execPath, ['-e', '0']) },
        { name: 'fetch', run: () => timeCommand(process.execPath, bare, { env }) },
        { name: 'harn', run: () => timeCommand(process.execPath, harn, { env }) },
      ],
      ROUNDS,
    );
    const [harnMs, fetchMs, nodeMs] = [of(medians, 'harn'), of(medians, 'fetch'), of(medians, 'node')];
    const figures = { harnMs, fetchMs, nodeMs };
    return [
      { group: 'model', name: 'one model call, to a bare Node fetch', value: harnMs / fetchMs, unit: 'ratio', goal: 1.25, figures },
      { group: 'model', name: 'one model call, beyond a bare Node fetch', value: harnMs - fetchMs, unit: 'ms', goal: undefined, figures },
    ];
  } finally {
    service.stdin.end();
  }
}

/** What is compared has to do the same work. */
function assertAnswer(args: readonly string[], env: NodeJS.ProcessEnv): void {
  const { stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  if (stdout !== ANSWER) throw new Error(`${args.join(' ')} printed ${JSON.stringify(stdout)}: ${stderr}`);
}
