import tseslint from 'typescript-eslint';

/** Ambient sources of time, chance and state, with what to use instead. */
const USE = {
  clock: 'use platform.clock',
  random: 'use platform.random',
  files: 'use platform.files',
  env: 'use platform.env',
  processes: 'use platform.processes',
};

const BANNED_PROPERTIES = [
  { object: 'Date', property: 'now', message: USE.clock },
  { object: 'performance', property: 'now', message: USE.clock },
  { object: 'Math', property: 'random', message: USE.random },
  { object: 'crypto', property: 'randomUUID', message: USE.random },
  { object: 'process', property: 'env', message: USE.env },
  { object: 'process', property: 'cwd', message: USE.files },
  { object: 'process', property: 'exit', message: 'return an exit code; only bin/harn.js ends the process' },
];

const BANNED_GLOBALS = [
  ...['setTimeout', 'setInterval', 'setImmediate'].map((name) => ({ name, message: USE.clock })),
  { name: 'fetch', message: 'use platform.http' },
  { name: 'console', message: 'use platform.stdio, or the output of the run' },
];

const BANNED_MODULES = [
  ...['node:fs', 'node:fs/promises', 'fs', 'fs-extra'].map((name) => ({ name, message: USE.files })),
  ...['node:child_process', 'execa'].map((name) => ({ name, message: USE.processes })),
  ...['node:timers', 'node:timers/promises', 'node:perf_hooks'].map((name) => ({ name, message: USE.clock })),
];

export default [
  { ignores: ['dist/**', 'node_modules/**', 'coverage/**'] },
  {
    files: ['src/**/*.ts', 'scripts/**/*.ts', 'test/**/*.ts'],
    languageOptions: { parser: tseslint.parser, parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { '@typescript-eslint': tseslint.plugin },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/platform/**'],
    rules: {
      'no-restricted-properties': ['error', ...BANNED_PROPERTIES],
      'no-restricted-globals': ['error', ...BANNED_GLOBALS],
      'no-restricted-imports': ['error', { paths: BANNED_MODULES }],
      'no-restricted-syntax': ['error', { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: USE.clock }],
    },
  },
];
