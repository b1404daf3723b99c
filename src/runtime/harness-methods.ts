import { BUILTIN_INDEX } from './builtin-index.ts';

/**
 * The methods of the harness (spec/language.md 15.3) as data: each is a builtin under another name, so both styles have
 * the same results, errors and mocks. Methods of the root itself are the builtins `harness.NAME`.
 */
interface HarnessPart {
  /** What `type_of` and annotations call it. */
  readonly typeName: string;
  /** Builtin by method. */
  readonly methods: Readonly<Record<string, string>>;
  /** Groups all of whose builtins are methods too, with these prefixes left out if a script likes. */
  readonly groups?: readonly string[];
  readonly prefixes?: readonly string[];
}

/** Methods that are called like their builtin. */
function same(names: string): Readonly<Record<string, string>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, name]));
}

const HARNESS_PARTS: Readonly<Record<string, HarnessPart>> = {
  stdio: {
    typeName: 'HarnessStdio',
    methods: {
      ...same('print println eprint eprintln read_line read_stdin is_stdin_tty is_stdout_tty is_stderr_tty log progress prompt_user'),
      prompt: 'prompt_user',
    },
  },
  term: {
    typeName: 'HarnessTerm',
    methods: {
      ...same('set_color_mode'),
      read_password: 'harness.term.read_password',
      width: 'harness.term.width',
      height: 'harness.term.height',
      is_tty: 'is_stdout_tty',
    },
  },
  clock: {
    typeName: 'HarnessClock',
    methods: { ...same('now_ms timestamp monotonic_ms elapsed sleep_ms date_iso date_now sleep'), now: 'date_now' },
  },
  fs: {
    typeName: 'HarnessFs',
    methods: {
      ...same('list_dir mkdir temp_dir stat read_lines glob cwd source_dir project_root home_dir runtime_paths'),
      ...same('read_file read_file_result read_file_bytes write_file write_file_bytes file_exists delete_file append_file'),
      ...same('copy_file move_file walk_dir render render_prompt render_string'),
      read_text: 'read_file',
      read_text_result: 'read_file_result',
      read_bytes: 'read_file_bytes',
      write_text: 'write_file',
      write_bytes: 'write_file_bytes',
      exists: 'file_exists',
      delete: 'delete_file',
      append: 'append_file',
      copy: 'copy_file',
      rename: 'move_file',
      walk: 'walk_dir',
      workspace_root: 'project_root',
      render_template: 'render_string',
    },
  },
  env: { typeName: 'HarnessEnv', methods: { ...same('env env_or'), get: 'env', get_or: 'env_or' } },
  random: {
    typeName: 'HarnessRandom',
    methods: {
      ...same('uuid uuid_v7 random random_int random_choice random_shuffle'),
      f64: 'random',
      u64: 'harness.random.u64',
      range: 'harness.random.range',
      choice: 'random_choice',
      shuffle: 'random_shuffle',
      bytes: 'harness.random.bytes',
    },
  },
  net: { typeName: 'HarnessNet', methods: {}, groups: ['http'], prefixes: ['http_'] },
  process: { typeName: 'HarnessProcess', methods: { ...same('exec exec_at shell shell_at'), run: 'harness.process.run' } },
  crypto: { typeName: 'HarnessCrypto', methods: {}, groups: ['hashing', 'signing', 'bytes'] },
  system: { typeName: 'HarnessSystem', methods: same('platform arch hostname username pid') },
  runtime: {
    typeName: 'HarnessRuntime',
    methods: same('yield_now'),
    groups: ['shared', 'runtime-context', 'synchronisation', 'supervisor', 'triggers', 'events'],
    prefixes: ['runtime_'],
  },
  testing: {
    typeName: 'HarnessTesting',
    methods: {
      ...same('mock_time advance_time unmock_time'),
      clock_set: 'mock_time',
      clock_advance: 'advance_time',
      clock_reset: 'unmock_time',
    },
  },
  llm: {
    typeName: 'HarnessLlm',
    methods: { mock_enqueue: 'llm_mock' },
    groups: ['llm', 'rate-limit'],
    prefixes: ['llm_'],
  },
  agent: {
    typeName: 'HarnessAgent',
    methods: { managed_daemon_snapshot: 'daemon_snapshot', managed_daemon_wait: 'daemon_wait' },
    groups: ['agent', 'workers', 'daemons', 'lifecycle', 'sessions', 'transcripts', 'reminders'],
    prefixes: ['agent_'],
  },
  tools: { typeName: 'HarnessTools', methods: {}, groups: ['tools', 'skills'], prefixes: ['tool_'] },
};

export function harnessPartNames(): string[] {
  return Object.keys(HARNESS_PARTS);
}

/** `HarnessStdio`, …; undefined when there is no such part. */
export function harnessPartType(part: string): string | undefined {
  return partOf(part)?.typeName;
}

function partOf(name: string): HarnessPart | undefined {
  return Object.hasOwn(HARNESS_PARTS, name) ? HARNESS_PARTS[name] : undefined;
}

/** The builtin behind `harness.PART.METHOD`; undefined when there is no such method. */
export function harnessBuiltin(part: string, method: string): string | undefined {
  const { methods = {}, groups = [], prefixes = [] } = partOf(part) ?? {};
  const named = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (named !== undefined) return Object.hasOwn(BUILTIN_INDEX, named) ? named : undefined;
  const candidates = [method, ...prefixes.map((prefix) => prefix + method)];
  return candidates.find((name) => Object.hasOwn(BUILTIN_INDEX, name) && groups.includes(groupOf(name)));
}

function groupOf(builtin: string): string {
  return BUILTIN_INDEX[builtin]?.[0] ?? '';
}

/** All builtins that the methods of a part may call. */
export function harnessPartBuiltins(part: string): string[] {
  const { methods = {}, groups = [] } = partOf(part) ?? {};
  return [...Object.values(methods), ...Object.keys(BUILTIN_INDEX).filter((name) => groups.includes(groupOf(name)))];
}

/** The methods of a part with the builtins behind them, for the page about the harness. */
export function harnessPartMethods(part: string): readonly (readonly [method: string, builtin: string])[] {
  const { methods = {}, groups = [], prefixes = [] } = partOf(part) ?? {};
  const short = (name: string): string =>
    prefixes.reduce((left, prefix) => (left.startsWith(prefix) ? left.slice(prefix.length) : left), name);
  const grouped = Object.keys(BUILTIN_INDEX).filter((name) => groups.includes(groupOf(name)) && /^[a-z]\w*$/.test(name));
  return [...Object.entries(methods), ...grouped.map((name) => [short(name), name] as const)].filter(
    ([method]) => harnessBuiltin(part, method) !== undefined,
  );
}

/** May the builtin behind `harness.PART.METHOD` answer a promise? */
export function harnessMethodWaits(part: string, method: string): boolean {
  const name = partOf(part) && harnessBuiltin(part, method);
  return name !== undefined && BUILTIN_INDEX[name]?.[1] !== 'sync';
}

export function isHarnessPart(name: string): boolean {
  return partOf(name) !== undefined;
}
