import type { ProbeReport } from '../../agent/providers/endpoint-probe.ts';
import { type LlmSettings, NO_SETTINGS } from '../../agent/providers/llm-settings.ts';
import { errorText } from '../../base/harn-error.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Platform } from '../../platform/platform.ts';
import { findProjectRoot, INLINE } from '../../runtime/program/project-root.ts';
import { writeEnvelope } from '../envelope.ts';
import { EXIT } from '../exit-codes.ts';
import { paletteFor } from '../palette.ts';
import { UsageError } from '../parse-options.ts';
import { stateRootFor } from '../state-root.ts';
import { VERSION } from '../version.ts';

/** `harn doctor`: is everything there that a run needs, and what does a model service really do? */
export interface DoctorOptions {
  readonly json?: boolean;
  readonly model?: string;
}

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** What to do about it. */
  readonly hint?: string;
}

/** @param provider probes this one with real requests; without it nothing is asked but which keys are set */
export async function doctorCommand(platform: Platform, provider: string | undefined, options: DoctorOptions): Promise<number> {
  if (provider === undefined && options.model !== undefined)
    throw new UsageError('--model needs a provider: harn doctor PROVIDER --model NAME');
  const projectRoot = findProjectRoot(platform, platform.files.cwd());
  const settings = await readSettings(platform, projectRoot);
  const checks = [nodeCheck(), folderCheck(platform, 'state folder', stateRootFor(platform, INLINE)), settings.check];
  if (provider === undefined) {
    checks.push(...(await providerChecks(platform, settings.settings)));
    return report(platform, checks, undefined, options);
  }
  const probed = await probe(platform, settings.settings, provider, options.model);
  return report(platform, [...checks, ...probeChecks(probed)], probed, options);
}

function nodeCheck(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const ok = major > 20 || (major === 20 && minor >= 19);
  return { name: 'Node', ok, detail: process.versions.node, ...(ok ? {} : { hint: 'install Node 20.19 or newer' }) };
}

/** The nearest folder that exists must take a file: nothing is created for a question. */
function folderCheck({ files, random }: Platform, name: string, folder: string): Check {
  let existing = folder;
  while (!files.exists(existing) && existing !== '/') existing = existing.slice(0, Math.max(1, existing.lastIndexOf('/')));
  const trial = `${existing}/${random.id('.harn-doctor')}`;
  try {
    files.write(trial, '');
    files.unlink(trial);
    return { name, ok: true, detail: folder };
  } catch (error) {
    return { name, ok: false, detail: `${folder}: ${errorText(error)}`, hint: 'set HARN_STATE_DIR to a folder that you may write to' };
  }
}

async function readSettings(
  platform: Platform,
  projectRoot: string | undefined,
): Promise<{ readonly settings: LlmSettings; readonly check: Check }> {
  const { readLlmSettings } = await import('../../runtime/agents/llm-project.ts');
  try {
    const settings = readLlmSettings({ platform, projectRoot });
    return { settings, check: { name: 'harn.toml', ok: true, detail: projectRoot === undefined ? 'none' : `${projectRoot}/harn.toml` } };
  } catch (error) {
    return { settings: NO_SETTINGS, check: { name: 'harn.toml', ok: false, detail: errorText(error), hint: 'correct the file' } };
  }
}

async function providerChecks({ env }: Platform, settings: LlmSettings): Promise<Check[]> {
  const { endpointOf, serviceOf } = await import('../../agent/providers/endpoint.ts');
  const { resolveModel } = await import('../../agent/providers/resolve-model.ts');
  const world = { env: (name: string) => env.get(name), settings };
  const chosen = resolveModel({}, world.env, settings);
  const service = serviceOf(world, chosen.provider);
  const name = 'model';
  if (service?.protocol === 'mock') return [{ name, ok: true, detail: 'the scripted model' }];
  try {
    if (service !== undefined) endpointOf(world, service, chosen);
    const detail = `${chosen.model} of ${chosen.provider}; harn doctor ${chosen.provider} asks it`;
    return [{ name, ok: service !== undefined, detail }];
  } catch (error) {
    const isChosen =
      settings.provider !== undefined || settings.model !== undefined || CHOICES.some((variable) => (env.get(variable) ?? '') !== '');
    if (!isChosen) return [{ name, ok: true, detail: `none is set up (${errorText(error)})` }];
    return [{ name, ok: false, detail: errorText(error), hint: 'set the variable, or choose another with HARN_PROVIDER' }];
  }
}

const CHOICES = ['HARN_LLM_PROVIDER', 'HARN_PROVIDER', 'HARN_LLM_MODEL', 'HARN_MODEL', 'HARN_DEFAULT_PROVIDER'];

async function probe(platform: Platform, settings: LlmSettings, provider: string, model: string | undefined): Promise<ProbeReport> {
  const { probeEndpoint } = await import('../../agent/providers/endpoint-probe.ts');
  const { resolveModel } = await import('../../agent/providers/resolve-model.ts');
  const env = (name: string): string | undefined => platform.env.get(name);
  const target = resolveModel({ provider, model }, env, settings);
  const stop = new AbortController();
  const stopListening = platform.processes.onSignal((signal) => stop.abort(new Error(signal)));
  try {
    return await probeEndpoint({ http: platform.http, clock: platform.clock, env, settings }, target, stop.signal);
  } finally {
    stopListening();
  }
}

/** Only a service that does not answer is a failure; what it leaves out is a fact. */
function probeChecks({ provider, model, health, findings }: ProbeReport): Check[] {
  // The messages of services begin with their names, and so does the line.
  const detail = health.message.startsWith(`${provider} `) ? health.message.slice(provider.length + 1) : health.message;
  const reached = { name: provider, ok: health.valid || findings.length > 0, detail };
  return [
    reached,
    ...findings.map(({ what, seen, detail }) => ({
      name: `${model} ${what}`,
      ok: seen || what !== 'answers',
      detail: `${seen ? 'yes' : 'no'}${detail === '' ? '' : ` (${detail})`}`,
    })),
  ];
}

async function report(
  platform: Platform,
  checks: readonly Check[],
  probed: ProbeReport | undefined,
  { json }: DoctorOptions,
): Promise<number> {
  const isWell = checks.every((check) => check.ok);
  if (json === true) {
    const data = {
      version: VERSION,
      checks: checks.map(({ name, ok, detail, hint }) => ({ name, ok, detail, hint: hint ?? null })),
      probe: probed === undefined ? null : probeJson(probed),
    };
    writeEnvelope(platform, { ok: isWell, data });
  } else {
    const { error, bold } = await paletteFor(platform, 'stdout');
    for (const { name, ok, detail, hint } of checks) {
      platform.stdio.out(`${ok ? 'ok  ' : error('FAIL')} ${bold(name)}: ${detail}${ok || hint === undefined ? '' : `\n     ${hint}`}\n`);
    }
  }
  return isWell ? EXIT.success : EXIT.failure;
}

function probeJson({ provider, model, health, findings }: ProbeReport): JsonObject {
  return { provider, model, status: health.status, findings: findings.map(({ what, seen, detail }) => ({ what, seen, detail })) };
}
