/**
 * `npm run build`: the packs of the command line, each with V8's code cache, under `dist/<build id>`
 * (build-folder.ts), for bin/harn.js to start.
 *
 * `--if-stale` does nothing when the build is younger than every source. `--clean` removes every other build; without
 * it, recent ones stay for processes that still run them.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { modifiedAt, publishBuild, removeOtherBuilds } from './build-folder.ts';
import { type Bundle, bundle } from './bundle.ts';
import { type ModelService, startModelService } from './model-service.ts';

const ROOT = resolve(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
const CURRENT = join(DIST, 'current');

async function main(argv: readonly string[]): Promise<void> {
  if (argv.includes('--if-stale') && isCurrent()) return;
  const built = await bundle(ROOT, Object.values(warmUps()));
  // Where no service can listen the adapters of models are warmed up with calls that fail.
  const service = await startModelService().catch(() => undefined);
  try {
    publishBuild(DIST, built.id, (aside) => writeAside(aside, built, service?.env ?? {}));
  } finally {
    service?.stop();
  }
  removeOtherBuilds(DIST, built.id, argv.includes('--clean') ? 'none' : 'recent');
}

function isCurrent(): boolean {
  const builtAt = modifiedAt(CURRENT);
  const sources = ['src', 'scripts', 'bin'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(ROOT, folder, name)),
  );
  return [...sources, join(ROOT, 'package.json')].every((file) => modifiedAt(file) < builtAt);
}

/** Makes a copy of the installation with the new build, tried and warmed up with the services of models that `env` names. */
function writeAside(aside: string, { id, files }: Bundle, env: ModelService['env']): void {
  const folder = join(aside, 'dist', id);
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  writeFileSync(join(aside, 'dist/current'), id);
  cpSync(join(ROOT, 'bin'), join(aside, 'bin'), { recursive: true });
  writeCodeCaches(join(aside, 'bin/harn.js'), folder, id, env);
}

/** Runs scripts that touch what most scripts touch, and takes the code caches that harn keeps for its user. */
function writeCodeCaches(harn: string, folder: string, id: string, models: ModelService['env']): void {
  const scratch = mkdtempSync(join(tmpdir(), 'harn-build-'));
  const kept = join(scratch, 'cache', id, 'code');
  const env = { ...process.env, ...models, HARN_CACHE_DIR: join(scratch, 'cache'), HARN_STATE_DIR: join(scratch, 'state') };
  const start = (args: readonly string[], more: NodeJS.ProcessEnv): void => {
    const result = spawnSync(process.execPath, [harn, ...args], { cwd: scratch, encoding: 'utf8', env: { ...env, ...more } });
    if (result.status !== 0) throw new Error(`the build does not run:\n${result.stdout}${result.stderr}`);
  };
  const run = (...args: readonly string[]): void => start(args, {});
  /** A run whose code goes into the caches that there are already. */
  const extend = (...args: readonly string[]): void => start(args, { HARN_CODE_CACHE: 'extend' });
  try {
    for (const [name, text] of Object.entries(warmUps())) writeFileSync(join(scratch, name), text);
    // A cache holds what has run in the process that loads its pack first: for the compiler that is the wide script.
    run('run', 'warm.harn');
    run('run', 'park.harn');
    run('run', 'ask.harn');
    run('workers', 'list');
    run('run', 'plain.harn');
    // Once more with the compiled scripts at hand, which is how most runs begin.
    for (const name of readdirSync(kept).filter((file) => file.startsWith('main.cjs'))) rmSync(join(kept, name));
    run('run', 'plain.harn');
    extend('run', '--llm-mock', 'resume.jsonl', '--resume', join('state/workers', onlySnapshot(join(scratch, 'state/workers'))));
    // Written afresh, because what harn keeps only its user may read.
    for (const name of readdirSync(kept)) writeFileSync(join(folder, name), readFileSync(join(kept, name)));
    if (readFileSync(join(folder, readdirSync(kept)[0] ?? '')).length === 0) throw new Error('the code cache is empty');
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function onlySnapshot(folder: string): string {
  const [name] = readdirSync(folder).filter((file) => file.endsWith('.json'));
  if (name === undefined) throw new Error('the build does not park');
  return name;
}

/** Scripts by name: one with most of the language for the compiler, one that parks for the agent, one that asks models, one for what every run needs. */
function warmUps(): Readonly<Record<'warm.harn' | 'park.harn' | 'resume.jsonl' | 'ask.harn' | 'plain.harn', string>> {
  const wide = readFileSync(join(ROOT, 'scripts/warm-up.harn'), 'utf8');
  return { 'warm.harn': wide, 'park.harn': PARK, 'resume.jsonl': RESUME, 'ask.harn': ASK, 'plain.harn': PLAIN };
}

const PLAIN = `struct Point { x: int }
fn twice(n) { return n * 2 }
var total = 0
for n in [1, 2, 3] { total += twice(n) }
for n in 0 to 3 { total += n }
let point = Point {x: total}
let dict = {a: 1.5, b: [1], c: "x"}
try { throw "no" } catch (e) { println("\${e} \${point.x} \${dict} \${[3, 1].map({ v -> v + 1 }).join(",")}") }
`;

const ASK = `for provider in ["openai", "anthropic"] { println(llm_call_safe("hello", nil, {provider: provider, model: "m"}).ok) }
`;

const PARK = `tool look_up(name: string) -> string {
  description "Looks a name up."
  return "found " + name
}
llm_mock({tool_calls: [{name: "look_up", arguments: {name: "a"}}]})
llm_mock({tool_calls: [{name: "agent_await_resumption", arguments: {reason: "warm up"}}]})
let parked = agent_loop("park", nil, {provider: "mock", tools: look_up})
println(parked.status)
`;

const RESUME = `{"tool_calls":[{"name":"look_up","arguments":{"name":"b"}}]}
{"text":"done"}
`;

void main(process.argv.slice(2));
