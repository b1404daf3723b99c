import { nearestName } from '../base/near-name.ts';

/** An option of a command: one entry of a table that the fast parser, commander and the help text share. */
export interface OptionSpec {
  readonly flag: string;
  /** Name of the value; absent for a switch. */
  readonly value?: string;
  readonly description: string;
}

export interface ParsedOptions<Name extends string> {
  /** Values of options that take one; `true` for switches. */
  readonly options: Readonly<Partial<Record<Name, string | true>>>;
  /** What is no option, in order. */
  readonly words: readonly string[];
  /** What stands behind `--`; undefined without it. */
  readonly rest: readonly string[] | undefined;
}

/** A mistake on the command line: what is wrong, and what to do. */
export class UsageError extends Error {}

/**
 * Reads arguments by a table.
 *
 * @param command as it is typed, for messages
 * @throws UsageError for an unknown option and for a value that is missing or too much
 */
export function parseOptions<Name extends string>(
  table: Readonly<Record<Name, OptionSpec>>,
  argv: readonly string[],
  command: string,
): ParsedOptions<Name> {
  const specs = Object.entries(table) as [Name, OptionSpec][];
  const options: Partial<Record<Name, string | true>> = {};
  const words: string[] = [];
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] as string;
    if (word === '--') return { options, words, rest: argv.slice(index + 1) };
    if (!word.startsWith('-') || word === '-') {
      words.push(word);
      continue;
    }
    const [flag, inline] = splitFlag(word);
    const entry = specs.find(([, spec]) => spec.flag === flag);
    if (entry === undefined) throw new UsageError(`unknown option ${flag}; ${hint(specs, flag, command)}`);
    const [name, spec] = entry;
    if (spec.value === undefined) {
      if (inline !== undefined) throw new UsageError(`${flag} takes no value`);
      options[name] = true;
      continue;
    }
    const value = inline ?? argv[++index];
    if (value === undefined || (inline === undefined && isFlag(specs, value)))
      throw new UsageError(`${flag} needs a value: ${flag} <${spec.value}>`);
    options[name] = value;
  }
  return { options, words, rest: undefined };
}

/** What to do about an option that is not there. */
function hint(specs: readonly (readonly [string, OptionSpec])[], flag: string, command: string): string {
  const known = specs.map(([, spec]) => spec.flag.replace(/^--?/, ''));
  const near = flag.startsWith('--') ? nearestName(flag.slice(2), known) : undefined;
  return near === undefined ? `see ${command} --help` : `did you mean --${near}?`;
}

/** A flag where a value should be: the value was forgotten. One that looks like a flag can be given as `--name=value`. */
function isFlag(specs: readonly (readonly [string, OptionSpec])[], word: string): boolean {
  return word === '--' || specs.some(([, { flag }]) => flag === splitFlag(word)[0]);
}

function splitFlag(word: string): [string, string | undefined] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}
