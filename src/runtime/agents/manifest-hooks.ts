import { posix as path } from 'node:path';
import * as z from 'zod/mini';
import { decodeProblem, OWN_TEXTS_ONLY } from '../../base/decode-problem.ts';
import { errorText, HarnError } from '../../base/harn-error.ts';
import { lazily } from '../../base/lazily.ts';
import { type HookHandler, type HookRegistry, WORKER_EVENTS } from '../../lifecycle/hooks.ts';
import type { Run } from '../context.ts';
import { loadProgram } from '../program/load.ts';
import { programSource } from '../program/program-source.ts';
import { rootContext } from '../task-context.ts';
import { isCallable } from '../value.ts';
import { hookHandler } from './lifecycle-hooks.ts';

/**
 * `[[hooks]]` of harn.toml (spec/agents.md 10.1): hooks that hold in every run of the project, also in one that only
 * resumes a parked loop. The module of a handler is loaded when its event first happens.
 */
const hookEntry = lazily(() => z.object({ event: z.string(), pattern: z._default(z.string(), '*'), handler: z.string() }));

const REGISTERED = Symbol('projects with registered hooks');

/**
 * @param root directory of the harn.toml: the run's project, or that of a loop which the run resumes; each counts once.
 *        An entry that cannot be is told by the first step that hooks are asked about
 */
export function registerManifestHooks(run: Run, root: string | undefined, hooks: HookRegistry): void {
  const registered = run.service(REGISTERED, () => new Set<string>());
  if (root === undefined || registered.has(root)) return;
  registered.add(root);
  const file = path.join(root, 'harn.toml');
  const { files } = run.platform;
  const text = files.exists(file) ? files.readText(file) : '';
  // Most projects have none: the reader of the format is loaded only where it is needed.
  if (!text.includes('hooks')) return;
  hooks.loadFirst(async () => registerEntries(run, file, await readEntries(file, text), hooks));
}

function registerEntries(run: Run, file: string, entries: readonly unknown[], hooks: HookRegistry): void {
  entries.forEach((entry, index) => {
    try {
      const { event, pattern, handler } = decodeEntry(entry);
      const bound = lazyHandler(run, path.dirname(file), handler);
      if (WORKER_EVENTS.some((name) => name === event)) hooks.registerWorker(event, pattern, bound);
      else hooks.registerSession(event, pattern, bound, 'manifest');
    } catch (error) {
      throw new HarnError('plain', `${file}: [[hooks]] entry ${index + 1}: ${errorText(error)}`, { cause: error });
    }
  });
}

function decodeEntry(entry: unknown): z.infer<ReturnType<typeof hookEntry>> {
  const outcome = hookEntry().safeParse(entry, OWN_TEXTS_ONLY);
  if (outcome.success) return outcome.data;
  const [issue] = outcome.error.issues;
  throw new HarnError('plain', `${issue?.path.join('.') ?? ''}: ${decodeProblem(issue, entry)}`);
}

async function readEntries(file: string, text: string): Promise<readonly unknown[]> {
  const { parse } = await import('smol-toml');
  const { hooks = [] } = parse(text);
  if (!Array.isArray(hooks)) throw new HarnError('plain', `${file}: hooks must be a list: write [[hooks]]`);
  return hooks;
}

/** `path::name`, the path from the project's root. */
function lazyHandler(run: Run, root: string, handler: string): HookHandler {
  const [module = '', name = '', ...rest] = handler.split('::');
  if (module === '' || name === '' || rest.length > 0) throw new HarnError('plain', `handler must be \`path::function\`, got '${handler}'`);
  let bound: Promise<HookHandler> | undefined;
  return async (payload) => {
    bound ??= load(run, root, module, name);
    return (await bound)(payload);
  };
}

async function load(run: Run, root: string, module: string, name: string): Promise<HookHandler> {
  const context = rootContext(run);
  // Imported, and not run as a script: its top level runs as that of any module.
  const program = await programSource(run).compile(path.join(root, 'harn.toml'), `import "./${module}"`);
  const { modules } = await loadProgram(run, context, program, { mode: 'run' });
  const target = program.modules.at(-1)?.imports[0]?.path;
  const fn = target === undefined ? undefined : modules.get(target)?.exports[name];
  if (!isCallable(fn)) throw new HarnError('plain', `harn.toml: the hook ${module}::${name} is no function`);
  return hookHandler(context, fn);
}
