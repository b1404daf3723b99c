/** The parts of an issue of zod that are read here; zod's smallest build has no texts of its own. */
export interface DecodeIssue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly expected?: unknown;
  readonly minimum?: unknown;
  readonly inclusive?: unknown;
  readonly maximum?: unknown;
  readonly values?: readonly unknown[];
  readonly keys?: readonly string[];
  readonly errors?: readonly (readonly DecodeIssue[])[];
}

/** What zod says when nobody wrote a text for the case. */
const NO_TEXT = 'Invalid input';

/**
 * For `safeParse`, where `decodeProblem` then says what is wrong: only texts that the schema itself has. The texts of zod are
 * settings of the whole process, and the SDK of the Model Context Protocol sets them as it loads.
 */
export const OWN_TEXTS_ONLY = { error: () => NO_TEXT };

/**
 * What is wrong with a value that a schema refused, in the words of Harn: `must be an int, got string`.
 *
 * @param issue the first of the issues; its own text is kept where the schema has one
 * @param input the whole value that was decoded
 */
export function decodeProblem(issue: DecodeIssue | undefined, input: unknown): string {
  if (issue === undefined) return 'cannot be read';
  if (issue.message !== NO_TEXT) return issue.message;
  const wanted = wantedBy(issue);
  if (wanted === undefined) return 'is not valid';
  const value = issue.path.reduce<unknown>(memberOf, input);
  if (value === undefined) return `is missing; it must be ${wanted}`;
  return `must be ${wanted}, got ${describe(value, { isChoice: issue.code === 'invalid_value' })}`;
}

function wantedBy(issue: DecodeIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return KINDS[String(issue.expected)] ?? String(issue.expected);
    case 'invalid_value':
      return oneOf((issue.values ?? []).map((value) => JSON.stringify(value)));
    case 'too_small':
      return `${issue.inclusive === false ? 'more than' : 'at least'} ${String(issue.minimum)}`;
    case 'too_big':
      return `${issue.inclusive === false ? 'less than' : 'at most'} ${String(issue.maximum)}`;
    case 'invalid_union': {
      const options = (issue.errors ?? []).map(([inner]) => (inner?.path.length === 0 ? wantedBy(inner) : 'a dict of another form'));
      return oneOf([...new Set(options.filter((option) => option !== undefined && option !== 'nil'))] as string[]);
    }
    case 'unrecognized_keys':
      return `without ${(issue.keys ?? []).map((key) => `\`${key}\``).join(', ')}`;
    default:
      return undefined;
  }
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an int',
  boolean: 'a bool',
  array: 'a list',
  object: 'a dict',
  record: 'a dict',
  null: 'nil',
  undefined: 'nil',
};

function oneOf(options: readonly string[]): string | undefined {
  if (options.length < 2) return options[0];
  return `${options.slice(0, -1).join(', ')} or ${options.at(-1)}`;
}

function memberOf(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined;
}

/** Numbers and mistaken choices as they are. Any other text is told by its kind alone: it might be a credential in the wrong place. */
function describe(value: unknown, { isChoice }: { readonly isChoice: boolean }): string {
  if (value === null) return 'nil';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a dict';
  if (typeof value === 'string' && (!isChoice || value.length > 40)) return 'a string';
  return JSON.stringify(value);
}
