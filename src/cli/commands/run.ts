import { resolve } from 'node:path';
import { lazily } from '../../base/lazily.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { diagnosticToJson, type Palette, renderDiagnostic } from '../../diagnostics/render.ts';
import type { Platform } from '../../platform/platform.ts';
import { approvalsOf } from '../../runtime/approvals.ts';
import { setBuiltinPolicy } from '../../runtime/builtin-policy.ts';
import type { Run } from '../../runtime/context.ts';
import { toShownJson } from '../../runtime/json.ts';
import { INLINE, isUnfiled, STDIN } from '../../runtime/program/project-root.ts';
import { errText, type RunOptions, type RunOutcome, runScript } from '../../runtime/run.ts';
import { agentEventListener } from '../agent-events.ts';
import { builtinPolicy } from '../builtin-flags.ts';
import { cachedPrograms } from '../cached-programs.ts';
import { EXIT } from '../exit-codes.ts';
import { renderFailure } from '../failure-text.ts';
import { modelFlags } from '../model-flags.ts';
import { type RunOutput, withRunOutput } from '../output.ts';
import { paletteFor } from '../palette.ts';
import { cutOffHints } from '../park-hint.ts';
import { UsageError } from '../parse-options.ts';
import type { RunArguments } from '../run-options.ts';
import { SignalWatch } from '../signals.ts';
import { shortPath } from '../source-files.ts';
import { stateRootFor } from '../state-root.ts';

/** `harn run`: a script from a file, from standard input (`-`) or from `-e`. @returns the exit code */
export function runCommand(platform: Platform, args: RunArguments): Promise<number> {
  return withRunOutput(platform, args, (output) => run(platform, args, output));
}

/** @param afterwards what goes on once the script has come to its end, within its run */
export async function run(
  platform: Platform,
  args: RunArguments,
  output: RunOutput,
  afterwards?: RunOptions['afterwards'],
): Promise<number> {
  const { options } = args;
  // To find out about a terminal takes as long as to run a small script; few runs have to.
  const palette = lazily(() => paletteFor(platform, 'stderr'));
  const script = await readScript(platform, args);
  const programs = cachedPrograms(platform);
  const models = modelFlags(platform, args, output);
  const policy = builtinPolicy(args);
  let started: { readonly host: Run; readonly ended: Promise<number> } | undefined;
  const running = runScript({
    platform,
    script,
    argv: args.rest ?? [],
    output,
    stateRoot: stateRootFor(platform, script.path),
    onHost: (host) => {
      setBuiltinPolicy(host, policy);
      approvalsOf(host).areGranted = options.yes === true;
      started = { host, ended: new SignalWatch(platform, host, output, { quiet: options.quiet === true }).ended };
    },
    onAgentEvent: agentEventListener(platform, output, { quiet: options.quiet === true }),
    prepare: (context) => models.apply(context.run),
    ...(afterwards === undefined ? {} : { afterwards }),
    ...(programs === undefined ? {} : { programs }),
    onWarnings: async (warnings) => {
      for (const warning of warnings) output.err(renderDiagnostic(shown(platform, warning), script.text, await palette()));
    },
  });
  const outcome = await Promise.race(started === undefined ? [running] : [running, started.ended]);
  models.finish();
  if (typeof outcome === 'number') return outcome;
  programs?.keep();
  if (started !== undefined && options.quiet !== true) for (const hint of cutOffHints(started.host)) output.err(hint);
  return finish(platform, outcome, output, palette, script.text);
}

async function readScript(platform: Platform, { file, options }: RunArguments): Promise<{ path: string; text: string }> {
  if (typeof options.evaluate === 'string') return { path: INLINE, text: options.evaluate };
  if (file === '-') return { path: STDIN, text: await platform.stdio.readAll() };
  const path = absolute(platform, file as string);
  try {
    return { path, text: platform.files.readText(path) };
  } catch (error) {
    const { code } = error as { code?: string };
    const why = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a directory' : String(code ?? error);
    throw new UsageError(`cannot read ${file}: ${why}`);
  }
}

function absolute(platform: Platform, path: string): string {
  return resolve(platform.files.cwd(), path);
}

/** Paths are shown as the user would write them: relative when the file lies below the current directory. */
function shown(platform: Platform, diagnostic: Diagnostic): Diagnostic {
  return diagnostic.path === undefined ? diagnostic : { ...diagnostic, path: shortPath(platform, diagnostic.path) };
}

/** Prints how the run ended. @returns the exit code */
async function finish(
  platform: Platform,
  outcome: RunOutcome,
  output: RunOutput,
  palette: () => Promise<Palette>,
  source: string,
): Promise<number> {
  switch (outcome.kind) {
    case 'value': {
      const failed = errText(outcome.value);
      if (failed === undefined) {
        output.json?.result(toShownJson(outcome.value), outcome.exitCode);
      } else {
        output.err(`error: ${failed}\n`);
        output.json?.failure({ code: 'result_err', message: failed, details: {} }, outcome.exitCode);
      }
      return outcome.exitCode;
    }
    case 'exit':
      output.json?.result(null, outcome.exitCode);
      return outcome.exitCode;
    case 'rejected': {
      const colours = await palette();
      const diagnostics = outcome.diagnostics.map((diagnostic) => {
        const text = sourceOf(platform, diagnostic, source);
        output.err(renderDiagnostic(shown(platform, diagnostic), text, colours));
        return diagnosticToJson(shown(platform, diagnostic), text);
      });
      const [first] = outcome.diagnostics;
      output.json?.failure(
        {
          code: first?.code ?? first?.stage ?? 'error',
          message: first?.message ?? '',
          details: { errors: diagnostics.length, diagnostics },
        },
        EXIT.failure,
      );
      return EXIT.failure;
    }
    case 'failed': {
      const { code = 'runtime', message, data, at, help } = outcome.failure;
      output.err(renderFailure(platform, outcome.failure, await palette()));
      const place = at === undefined ? {} : { at: { path: shortPath(platform, at.path), line: at.line } };
      output.json?.failure({ code, message, details: { ...data, ...place, ...(help === undefined ? {} : { help }) } }, EXIT.failure);
      return EXIT.failure;
    }
  }
}

function sourceOf(platform: Platform, diagnostic: Diagnostic, script: string): string | undefined {
  if (diagnostic.path === undefined || isUnfiled(diagnostic.path)) return script;
  return platform.files.stat(diagnostic.path)?.isFile === true ? platform.files.readText(diagnostic.path) : undefined;
}
