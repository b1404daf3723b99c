import { adviceOnFault } from '../agent/providers/llm-advice.ts';
import { llmErrorFacts } from '../agent/providers/llm-errors.ts';
import { HarnError } from '../base/harn-error.ts';
import { isSystemError, systemErrorText } from '../base/system-error.ts';
import { placeOf } from '../language/emit-layout.ts';
import { isModelError, isStackOverflow } from './caught.ts';
import { HarnRaise } from './errors.ts';
import { ALONE, type CompiledModule, type CompiledProgram } from './program/program.ts';

/** An uncaught error of a script, ready to be rendered (spec/language.md 11.3, 11.5). */
export interface Failure {
  /** `Runtime error: … (line N)`, `Thrown: …`. */
  readonly message: string;
  readonly code: string | undefined;
  /** Place of the innermost script frame; undefined when there is none. */
  readonly at:
    | { readonly path: string; readonly line: number; readonly column?: number; readonly length?: number; readonly source: string }
    | undefined;
  /** What to do next, where that is known. */
  readonly help: string | undefined;
  /** `called from NAME at FILE:LINE`, inner to outer. */
  readonly notes: readonly string[];
  /** A defect of harn, not of the script. */
  readonly isInternal: boolean;
  /** The HarnError's structured facts, for the JSON stream. */
  readonly data: HarnError['data'];
}

interface Frame {
  readonly name: string;
  readonly path: string;
  readonly line: number;
  /** In the JavaScript of the module, or in that of a closure alone. */
  readonly column: number;
  /** File name of the code of a closure alone. */
  readonly alone: string | undefined;
}

/** Where in the script something failed; without a column it is the whole line. */
interface Place {
  readonly line: number;
  readonly column?: number;
  /** Code points. */
  readonly length?: number;
}

/**
 * Turns whatever was thrown into what a person reads. Frames of harn itself are never shown.
 *
 * @param closures places in the code of closures that were compiled alone, by its file name
 */
export function describeFailure(
  error: unknown,
  program: CompiledProgram | undefined,
  closures: ReadonlyMap<string, string> = new Map(),
): Failure {
  const frames = scriptFrames(error, program);
  const [inner, ...outer] = frames;
  const { at: known, help } = error as { at?: Place; help?: string };
  const module = inner && program?.modules.find(({ path }) => path === inner.path);
  const where = inner && (known?.line === inner.line ? known : placeIn(module, inner, closures));
  const line = where?.line;
  const text = messageOf(error);
  const isThrown = error instanceof HarnRaise && error.kind === 'thrown';
  const suffix = line === undefined || isThrown || text.isInternal ? '' : ` (line ${line})`;
  return {
    message: `${text.message}${suffix}`,
    code: error instanceof HarnError && error.code !== 'plain' ? error.code : undefined,
    at: where === undefined || module === undefined ? undefined : { path: module.path, source: module.text, ...where },
    help: help ?? adviceOn(error),
    notes: outer.map((frame) => `called from ${frame.name} at ${frame.path}:${frame.line}`),
    isInternal: text.isInternal,
    data: error instanceof HarnError ? error.data : {},
  };
}

/** The expression that failed, where the compiler marked it. */
function placeIn(module: CompiledModule | undefined, { line, column, alone }: Frame, closures: ReadonlyMap<string, string>): Place {
  const places = alone === undefined ? module?.places : closures.get(alone);
  const found = places === undefined ? undefined : placeOf(places, line, column);
  if (module === undefined || found === undefined) return { line };
  const { text } = module;
  const before = text.slice(0, found.start);
  const covered = text.slice(found.start, found.end).split('\n', 1)[0] ?? '';
  // The text may have changed since the closure was made.
  if (before.split('\n').length !== line && alone !== undefined) return { line };
  return {
    line: before.split('\n').length,
    column: [...before.slice(before.lastIndexOf('\n') + 1)].length + 1,
    length: [...covered].length,
  };
}

/** What a newcomer needs most: a model that does not answer is the first thing to go wrong. */
function adviceOn(error: unknown): string | undefined {
  const facts = llmErrorFacts(error);
  return facts === undefined ? undefined : adviceOnFault(facts);
}

/** The display text of an error without its line. */
export function messageOf(error: unknown): { readonly message: string; readonly isInternal: boolean } {
  if (error instanceof HarnRaise) return { message: error.message, isInternal: false };
  if (error instanceof HarnError) {
    if (isModelError(error)) return { message: `Error [${String(error.data.category)}]: ${error.message}`, isInternal: false };
    return { message: `Runtime error: ${error.message}`, isInternal: false };
  }
  if (isStackOverflow(error)) return { message: 'Runtime error: Stack overflow: too many nested calls', isInternal: false };
  if (isSystemError(error)) return { message: `Runtime error: ${systemErrorText(error)}`, isInternal: false };
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message: `internal error in harn (please report it with this text): ${detail}`, isInternal: true };
}

/** Frames that lie in files of the program, innermost first; runs of the same place are one frame. */
function scriptFrames(error: unknown, program: CompiledProgram | undefined): Frame[] {
  if (!(error instanceof Error) || program === undefined) return [];
  const paths = new Set(program.modules.map(({ path }) => path));
  const frames: Frame[] = [];
  for (const text of (error.stack ?? '').split('\n')) {
    const match = /^\s+at (?:async )?(?:(.*?) \()?(.*?):(\d+):(\d+)\)?$/.exec(text);
    if (match === null) continue;
    const [, jsName, file = '', line, column] = match;
    const [path = ''] = file.split(ALONE);
    if (!paths.has(path)) continue;
    const alone = path === file ? undefined : file;
    const frame = { name: frameName(jsName), path, line: Number(line), column: Number(column), alone };
    const last = frames.at(-1);
    const isSamePlace = last !== undefined && last.path === frame.path && last.line === frame.line;
    // Of several activations on one line the name says more than that one of them has none.
    if (!isSamePlace) frames.push(frame);
    else if (last.name === UNNAMED) frames[frames.length - 1] = { ...last, name: frame.name };
  }
  return frames;
}

/** `$total_3` is `total`, `Vector$plus` is `plus`, everything else has no name of its own. */
function frameName(jsName: string | undefined): string {
  const name = jsName?.split('.').at(-1)?.split(' ')[0] ?? '';
  const own = /^\$(.+?)(?:_\d+)?$/.exec(name) ?? /^tool\$(.+)$/.exec(name) ?? /^[A-Z]\w*\$(.+)$/.exec(name);
  return own?.[1] ?? UNNAMED;
}

/** What a frame without a name is called (spec/language.md 11.5). */
const UNNAMED = 'pipeline';
