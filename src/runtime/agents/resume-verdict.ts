import { dirname } from 'node:path';
import { errorText, HarnError } from '../../base/harn-error.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { RebindRequest } from '../../lifecycle/lifecycle.ts';
import { assertStoredConditions } from '../../lifecycle/resume.ts';
import { checkResumable } from '../../lifecycle/resume-check.ts';
import { type ResumeSubject, type ResumeTarget, resolveSubject } from '../../lifecycle/resume-subject.ts';
import { lostRaceError } from '../../lifecycle/sus-errors.ts';
import { viewOfFiles, type WorkerView } from '../../lifecycle/worker-view.ts';
import { claimPathOf, readLiveClaim } from '../../store/claim-file.ts';
import type { Run } from '../context.ts';
import { findProjectRoot } from '../program/project-root.ts';
import { lifecycleOf } from './agent-lifecycle.ts';
import { toolSlot } from './agent-live.ts';
import { registerManifestHooks } from './manifest-hooks.ts';
import {
  compileParked,
  type FoundModule,
  isForeignTool,
  type LocatedProgram,
  listOfJson,
  locateProgram,
  misfitFault,
  neededTools,
  objectsOf,
  type ToolMisfit,
  toolMisfits,
  unboundToolFault,
} from './parked-program.ts';

/**
 * Whether a resume would be accepted now, without claiming, running or writing anything: the checks of a real one
 * (spec/agents.md 5.4 steps 1 to 6, 5.12) in its order. Only the hooks of step 7 cannot be asked.
 */
export interface ResumeVerdict {
  /** What a resume would be refused with; undefined when it would be accepted. */
  readonly refusal: HarnError | undefined;
  /** Whether the project has hooks that may still deny it. */
  readonly hasHooks: boolean;
  /** Undefined when its files cannot be read. */
  readonly view: WorkerView | undefined;
  /** Undefined for a worker without a script, and when its files cannot be read. */
  readonly program: ProgramReport | undefined;
}

/** The script of a parked loop, as it is now. */
export interface ProgramReport {
  readonly modules: readonly ModuleReport[];
  /** Empty when the script does not compile. */
  readonly tools: readonly ToolReport[];
  /** Callbacks that will not be active, because something they captured could not be saved. */
  readonly lostCallbacks: readonly string[];
}

export interface ModuleReport {
  /** As the snapshot stored it. */
  readonly path: string;
  /** `embedded`: its file is gone, its text is in the snapshot. `lost`: neither is left. */
  readonly state: 'same' | 'changed' | 'embedded' | 'lost';
  /** Where it was found, when that is another place. */
  readonly foundAt: string | undefined;
  /** The text at the park and the text now, of a changed module whose old text is known. */
  readonly texts: { readonly before: string; readonly now: string } | undefined;
}

export interface ToolReport {
  readonly name: string;
  /** `stub`: it will answer every call with an error. */
  readonly state: 'fits' | 'gone' | 'parameters' | 'stub';
  /** What could not be saved of a stub. */
  readonly capture: string | undefined;
}

/** @throws HarnError `HARN-SUS-004` when the target leads nowhere at all */
export async function judgeResume(run: Run, target: ResumeTarget): Promise<ResumeVerdict> {
  const lifecycle = lifecycleOf(run);
  const subject = resolveSubject(lifecycle, target);
  if (subject.files === undefined) throw new Error(`${subject.id} is not read from its files`);
  const refusal = stateRefusal(run, subject);
  let view: WorkerView;
  try {
    view = viewOfFiles(lifecycle, subject.files, subject.target);
    assertStoredConditions(view.record.suspension?.conditions ?? null, subject);
  } catch (error) {
    return { refusal: refusal ?? refusalOf(error), hasHooks: false, view: undefined, program: undefined };
  }
  const { program, fault } = await reportProgram(run, requestOf(subject, view));
  return { refusal: refusal ?? fault, hasHooks: lifecycle.hooks.has('pre_resume'), view, program };
}

/** Steps 3 and 4: who may resume it at all, and whether somebody else is at it. */
function stateRefusal(run: Run, subject: ResumeSubject): HarnError | undefined {
  const lifecycle = lifecycleOf(run);
  try {
    checkResumable(subject, {
      target: { kind: 'worker', id: subject.id },
      input: undefined,
      continueTranscript: true,
      cause: 'operator',
      startedAt: lifecycle.realClock.now(),
      entry: lifecycle.registry.nextEntry(),
      mayReadResult: false,
    });
    const claim = readLiveClaim(lifecycle.claims, claimPathOf(subject.snapshotPath));
    if (claim === undefined) return undefined;
    return lostRaceError('resume_agent', subject.id, subject.status, { owner_pid: claim.pid, generation: claim.generation });
  } catch (error) {
    return refusalOf(error);
  }
}

function refusalOf(error: unknown): HarnError {
  if (error instanceof HarnError) return error;
  throw error;
}

function requestOf({ target, snapshotPath }: ResumeSubject, { record }: WorkerView): RebindRequest {
  return {
    program: record.program ?? null,
    config: { ...record.config.spec },
    mode: record.mode,
    workerId: record.id,
    snapshotPath,
    target,
  };
}

interface ProgramOutcome {
  readonly program: ProgramReport | undefined;
  readonly fault: HarnError | undefined;
}

async function reportProgram(run: Run, request: RebindRequest): Promise<ProgramOutcome> {
  const { program: facts } = request;
  if (facts === null) return { program: undefined, fault: undefined };
  const options = isJsonObject(request.config.options) ? request.config.options : {};
  let located: LocatedProgram | undefined;
  let misfits: ToolMisfit[] | undefined;
  let fault: HarnError | undefined;
  try {
    located = locateProgram(run, request, facts);
    registerManifestHooks(run, findProjectRoot(run.platform, dirname(located.entry.path)), lifecycleOf(run).hooks);
    misfits = toolMisfits(facts, located, await compileParked(run, request, located));
    const [misfit] = misfits;
    if (misfit !== undefined) throw misfitFault(request, misfit);
    const unbound = lostTools(facts, options).find(({ name }) => neededTools(options).has(name));
    if (unbound !== undefined) throw unboundToolFault(request, unbound.name);
  } catch (error) {
    fault = refusalOf(error);
  }
  const modules = located === undefined ? [] : [...located.modules].map(([path, found]) => moduleReport(run, path, found));
  const tools = misfits === undefined ? [] : toolReports(facts, options, misfits);
  return { program: { modules, tools, lostCallbacks: lostCallbacks(facts) }, fault };
}

function moduleReport(run: Run, path: string, found: FoundModule): ModuleReport {
  const { isEmbedded, isChanged, original, text } = found;
  const state = isEmbedded ? 'embedded' : isChanged ? 'changed' : 'same';
  const isWhereItWas = found.path === path || found.path === `${run.projectRoot ?? run.platform.files.cwd()}/${path}`;
  return {
    path,
    state,
    foundAt: isEmbedded || isWhereItWas ? undefined : found.path,
    texts: state === 'changed' && original !== undefined ? { before: original, now: text } : undefined,
  };
}

interface LostTool {
  readonly name: string;
  readonly capture: string | undefined;
}

/** Tools of the script whose handler was not saved whole. */
function lostTools(facts: JsonObject, options: JsonObject): LostTool[] {
  const closures = new Map(objectsOf(facts.closures).map((closure) => [closure.slot, closure]));
  return objectsOf(options.tools)
    .filter((entry) => !isForeignTool(entry))
    .flatMap((entry): LostTool[] => {
      const name = String(entry.name);
      const closure = closures.get(toolSlot(name));
      const [capture] = listOfJson(closure?.unserialisable);
      if (closure !== undefined && capture === undefined) return [];
      return [{ name, capture: typeof capture === 'string' ? capture : undefined }];
    });
}

function toolReports(facts: JsonObject, options: JsonObject, misfits: readonly ToolMisfit[]): ToolReport[] {
  const lost = new Map(lostTools(facts, options).map(({ name, capture }) => [name, capture]));
  return objectsOf(options.tools).map((entry): ToolReport => {
    const name = String(entry.name);
    const misfit = misfits.find((candidate) => candidate.name === name);
    const state = misfit?.problem ?? (lost.has(name) ? 'stub' : 'fits');
    return { name, state, capture: lost.get(name) };
  });
}

function lostCallbacks(facts: JsonObject): string[] {
  return objectsOf(facts.closures)
    .filter(({ slot, unserialisable }) => !String(slot).startsWith('tools.') && listOfJson(unserialisable).length > 0)
    .map(({ slot }) => String(slot));
}

/** The reason word of a refusal (5.9), such as `missing` or `stale`; undefined where the code says it all. */
export function refusalReason({ data }: HarnError): string | undefined {
  return isJsonObject(data.detail) && typeof data.detail.reason === 'string' ? data.detail.reason : undefined;
}

/** What a refusal says, without its code. */
export function refusalText(refusal: HarnError): string {
  return errorText(refusal).replace(`${refusal.code}: `, '');
}
