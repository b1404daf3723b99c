import type { ErrorCode } from '../base/error-codes.ts';

/** Codes that the checker prints in brackets (spec/language.md 11.5). The other messages of the checker have none. */
export const CHECKER_CODES = {
  immutableAssigned: {
    code: 'HARN-OWN-001',
    title: 'An immutable name is assigned to',
    text: "Cannot assign to '{name}': variable is immutable (declared with '{keyword}')",
    cause:
      '`let` and `const` bind a name once. The check only warns, because the assignment may never be reached; when it is, the run fails.',
    example: 'let total = 0\ntotal = total + 1',
    fix: 'Declare the name with `var`.',
    retry: 'never',
  },
  neverAssigned: {
    code: 'HARN-OWN-002',
    title: 'A mutable name is never assigned to',
    text: "'{name}' is declared with 'var' but never assigned to",
    cause: 'A reader of `var` looks for the place where the value changes. Only `harn check` says this; it never stops a run.',
    example: 'var total = 0\nprintln(total)',
    fix: 'Declare the name with `let`.',
    retry: 'never',
  },
  badMain: {
    code: 'HARN-NAM-101',
    title: 'The entry point has the wrong parameters',
    text: 'the first parameter of `main` must be `harness: Harness`',
    cause: '`fn main` and `pipeline main` are called by the runtime, which passes the capability handle first.',
    example: 'fn main(args: list) { println(args) }',
    fix: 'Write `fn main(harness: Harness)`; arguments of the command line are in `argv`.',
    retry: 'never',
  },
} as const satisfies Readonly<Record<string, ErrorCode>>;
