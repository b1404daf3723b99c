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
  ownershipEscape: {
    code: 'HARN-OWN-003',
    title: 'An assignment changes a copy that nobody sees',
    text: "'{name}' is a copy here: the variable outside keeps its value",
    cause:
      'Closures, tasks and functions of the entry file capture variables by value. What they assign is gone when they end. Only `harn check` says this.',
    example: 'fn f(xs) {\n  var n = 0\n  xs.for_each({ x -> n = n + x })\n  return n\n}',
    fix: 'Return the new value (`reduce`, `map`), or share it through `atomic`, a channel or `shared_cell`.',
    retry: 'never',
  },
  unvalidatedBoundary: {
    code: 'HARN-OWN-004',
    title: 'A value from outside is used unchecked',
    text: "'{name}' comes from {builtin} and is used without a look at its form",
    cause:
      'Parsed text has whatever form its author gave it. A field that is missing reads as nil and fails somewhere else. Only `harn check` says this.',
    example: 'let config = json_parse(read_file("config.json"))\nprintln(config.port + 1)',
    fix: 'Declare a type and read through it: `schema_expect(value, Config)`; or test with `schema_is` or `type_of`.',
    retry: 'never',
  },
  droppedResult: {
    code: 'HARN-OWN-005',
    title: 'A new value that nobody takes',
    text: "'{name}' keeps its value: '{method}' gives a new one",
    cause: 'Lists and dicts are values: a method never changes the one it is called on. Only `harn check` says this.',
    example: 'var found = []\nfor x in 1 to 3 { found.push(x) }\nprintln(found)',
    fix: 'Assign the result: `found = found.push(x)`.',
    retry: 'never',
  },
  notFoldable: {
    code: 'HARN-MET-001',
    title: 'A const is not known before the script runs',
    text: "the value of const '{name}' is only known at run time",
    cause:
      'A `const` is meant for what can be folded: literals, operators, other constants, lists and dicts of these, and pure builtins. Any value is accepted; only `harn check` says this.',
    example: 'const STARTED = now_ms()',
    fix: 'Use `let`, which is as immutable.',
    retry: 'never',
  },
  ambientStdio: {
    code: 'HARN-LNT-053',
    title: 'Ambient output where the harness is at hand',
    text: 'ambient `{name}` where `{handle}` is at hand',
    cause:
      'A function that takes the harness lets its caller decide where output goes; `println` goes around that. Only `harn check` says this.',
    example: 'fn main(harness: Harness) { println("done") }',
    fix: 'Use `harness.stdio.println("done")`.',
    retry: 'never',
  },
  undeclared: {
    code: 'HARN-NAM-001',
    title: 'A name that nothing declares',
    text: "'{name}' is not declared",
    cause:
      'No binding, parameter, import or builtin has this name. The check only warns, because the place may never be reached; when it is, the run fails with `Undefined variable`.',
    example: 'let total = 3\nprintln(totl)',
    fix: 'Correct the spelling, or declare the name before it is used.',
    retry: 'never',
  },
  unknownOption: {
    code: 'HARN-NAM-002',
    title: 'An option that the builtin does not have',
    text: "{builtin} has no option '{name}'",
    cause: 'A name among the options means nothing to the builtin, which ignores it. Only `harn check` says this; it never stops a run.',
    example: 'agent_loop("Tidy up", nil, {max_iteration: 3})',
    fix: 'Correct the spelling, or leave it out. Options come behind the system prompt, which may be nil.',
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
