import { describe, expect, test } from 'vitest';
import { createFakePlatform } from '../../src/platform/fake-platform.ts';
import { runText } from '../runtime/run-text.ts';

/** Lines that a script prints in a project of these files under `/app`. */
async function linesIn(files: Readonly<Record<string, string>>, script: string): Promise<string[]> {
  const whole = Object.fromEntries(Object.entries(files).map(([name, text]) => [`/app/${name}`, text]));
  const { out, outcome } = await runText(
    `mock_time(0)\nimport "std/project"\n${script}`,
    createFakePlatform({ cwd: '/app', files: whole }),
  );
  const lines = out.split('\n').slice(0, -1);
  if (outcome.kind === 'failed') lines.push(`FAILED ${outcome.failure.message}`);
  if (outcome.kind === 'rejected') lines.push(`REJECTED ${outcome.diagnostics.map(({ message }) => message).join('; ')}`);
  return lines;
}

type Row = readonly [rule: string, files: Readonly<Record<string, string>>, script: string, lines: readonly string[]];

const CARGO = '[package]\nname = "tool"\n[dependencies]\naxum = "0.8"\n';

const SCAN: readonly Row[] = [
  [
    'a manifest with its lock file',
    { 'Cargo.toml': CARGO, 'Cargo.lock': '' },
    'let s = project_scan(".")\nprintln([s.path, s.languages, s.frameworks, s.build_systems, s.anchors, s.lockfiles, s.confidence, s.package_name, s.vcs])',
    ['[/app, [rust], [axum], [cargo], [Cargo.toml], [Cargo.lock], {rust: 0.95}, tool, nil]'],
  ],
  [
    'TypeScript is what a package.json beside a tsconfig.json means',
    { 'package.json': '{"name":"web","dependencies":{"react":"19"}}', 'tsconfig.json': '{}', 'pnpm-lock.yaml': '' },
    'let s = project_scan(".")\nprintln([s.languages, s.frameworks, s.build_systems])',
    ['[[typescript], [react], [pnpm]]'],
  ],
  [
    'the config tier reads what the files say',
    {
      'package.json': '{"scripts":{"test":"vitest"}}',
      Makefile: 'test: all\n\techo\nVAR := x\n.PHONY: test\nall:\n',
      Dockerfile: 'FROM x\nRUN a \\\n  b\nCMD ["c"]\n',
      'README.md': '```ts\n```\n```sh\n```\n```ts\n```\n',
    },
    `let s = project_scan(".", {tiers: ["ambient", "config"]})
println(s.build_commands)
println(s.declared_scripts)
println(s.makefile_targets)
println(s.dockerfile_commands)
println(s.readme_code_fences)`,
    ['[npm test, make test]', '{test: vitest}', '[test, all]', '[a    b, ["c"]]', '[ts, sh]'],
  ],
  [
    'files that cannot be read say nothing',
    { 'package.json': '{broken', 'Cargo.toml': '= =' },
    'println(project_scan(".").package_name)',
    ['nil'],
  ],
  ['a checkout above counts', { '.git/HEAD': '', 'sub/x': '' }, 'println(project_scan("sub").vcs)', ['git']],
  [
    'no such directory',
    {},
    'println(try { project_scan("none") } catch (e) { e })',
    ['Failed to list directory /app/none: No such file or directory (os error 2)'],
  ],
  [
    'a tree leaves out what is ignored, fetched or hidden',
    {
      '.gitignore': '# no\nignored/\n/top\n*.tmp\n!kept.tmp\n',
      'a/go.mod': 'module x',
      'ignored/go.mod': '',
      'a/ignored/go.mod': '',
      'top/go.mod': '',
      'a/top/go.mod': '',
      'x.tmp/go.mod': '',
      'kept.tmp/go.mod': '',
      'node_modules/p/package.json': '{}',
      '.hidden/go.mod': '',
      'a/.gitignore': 'inner\n',
      'a/inner/go.mod': '',
    },
    `println(project_scan_paths("."))
println(project_scan_paths(".", {depth: 1}))
println(project_scan_paths(".", {respect_gitignore: false, include_vendor: true, include_hidden: true}))`,
    [
      '[., a, a/top, kept.tmp]',
      '[., a, kept.tmp]',
      '[., .hidden, a, a/ignored, a/inner, a/top, ignored, kept.tmp, node_modules/p, top, x.tmp]',
    ],
  ],
];

const FINGERPRINT: readonly Row[] = [
  [
    'one project',
    {
      'pyproject.toml': '[project]\ndependencies = ["fastapi[all]>=0.1", "pytest"]\n',
      'uv.lock': '',
      'tests/test_a.py': '',
      '.gitlab-ci.yml': '',
    },
    'println(project_fingerprint("."))',
    [
      '{build_tool: uv, ci: [gitlab-ci], frameworks: [fastapi], has_ci: true, has_tests: true, languages: [python], lockfile_paths: [uv.lock], package_manager: uv, package_managers: [uv], primary_language: python, test_runner: pytest, vcs: nil}',
    ],
  ],
  [
    'parts in several languages',
    { 'api/go.mod': 'module x', 'web/package.json': '{"devDependencies":{"vite":"5"}}', 'web/package-lock.json': '' },
    'let f = project_fingerprint(".")\nprintln([f.primary_language, f.languages, f.package_managers, f.lockfile_paths])',
    ['[mixed, [go, typescript], [npm, go-mod], [web/package-lock.json]]'],
  ],
  ['nothing', {}, 'println(project_fingerprint(".").primary_language)', ['unknown']],
];

const CI: readonly Row[] = [
  [
    'workflows, hooks and rules',
    {
      '.github/workflows/ci.yml':
        'name: CI\njobs:\n  one:\n    name: Checks\n    steps:\n      - run: npm run lint\n      - run: npm test\n  two:\n    steps:\n      - uses: actions/deploy\n',
      '.github/workflows/notes.txt': '',
      '.husky/pre-commit': '#!/bin/sh\nset -e\nnpm test\n',
      'lefthook.yml': 'pre-push:\n  commands:\n    unit:\n      run: cargo test\n',
      '.pre-commit-config.yaml': 'repos:\n  - repo: x\n    hooks:\n      - id: black\n',
      'CONTRIBUTING.md': 'We squash and merge.',
      CODEOWNERS: '* @ada',
      'package.json': '{}',
    },
    `let ci = project_ci(".")
println(ci.workflows)
println(ci.hooks.stages)
println(ci.package_manifests)
println(ci.merge_policy)`,
    [
      '[{jobs: [{classifications: [lint, test], name: Checks}, {classifications: [release], name: two}], name: CI, path: .github/workflows/ci.yml}]',
      '{pre-commit: [npm test, black], pre-push: [cargo test]}',
      '[{ecosystem: npm, lockfiles: [], manifests: [package.json]}]',
      '{codeowners: CODEOWNERS, required_checks: [Checks, two], squash_only: true}',
    ],
  ],
];

const ENRICH = `let question = {prompt: "Package {{package_name}}: {{ for f in files }}[{{f.path}}]{{ end }}", schema: {purpose: "string", parts: ["string"]}, provider: "mock", include_operator_meta: false}
`;

const ENRICHED: readonly Row[] = [
  [
    'asked once for the same files and question',
    { 'Cargo.toml': CARGO, 'src/lib.rs': 'x', 'logo.png': '' },
    `${ENRICH}llm_mock({text: "{\\"purpose\\":\\"p\\",\\"parts\\":[\\"a\\"]}"})
let first = project_enrich(".", question)
let second = project_enrich(".", question)
println([first.purpose, first.parts, first.languages, first._provenance.cached, second.purpose, second._provenance.cached])
println(llm_mock_calls().map({ call -> call.messages[0].content.lines()[0] }))
write_file("src/lib.rs", "y")
llm_mock({text: "{\\"purpose\\":\\"q\\",\\"parts\\":[]}"})
println(project_enrich(".", question + {cache_key: "other"}).purpose)`,
    ['[p, [a], [rust], false, p, true]', '[Package tool: [Cargo.toml][src/lib.rs]]', 'q'],
  ],
  [
    'a prompt above the budget asks nobody',
    { 'Cargo.toml': CARGO },
    `${ENRICH}let r = project_enrich(".", question + {budget_tokens: 1})\nprintln([r.budget_exceeded, r.package_name, len(llm_mock_calls())])`,
    ['[true, tool, 0]'],
  ],
  [
    'an answer that never matches gives the evidence',
    { 'Cargo.toml': CARGO },
    `${ENRICH}llm_mock({text: "{}"})
llm_mock({text: "{}"})
let r = project_enrich(".", question)
println([r.validation_error.starts_with("the answer does not match the schema"), r.base_evidence.package_name, len(llm_mock_calls())])`,
    ['[true, tool, 2]'],
  ],
  ['a schema is needed', {}, 'println(try { project_enrich(".", {prompt: "x"}) } catch (e) { e })', ['project_enrich: schema is required']],
];

const DEEP: readonly Row[] = [
  [
    'directories that have not changed are not looked at again',
    { 'README.md': 'x', 'a/go.mod': 'module m', 'empty/sub/.keep': '' },
    `let first = project_deep_scan(".", {namespace: "n"})
println(first.keys())
println([first.a.ambient.languages, first.a.config.makefile_targets])
println(project_deep_scan_status("n").cache_hits)
project_deep_scan(".", {namespace: "n"})
println(project_deep_scan_status("n").cache_hits)
write_file("a/go.mod", "module other")
project_deep_scan(".", {namespace: "n"})
let s = project_deep_scan_status("n")
println([s.total_dirs, s.cache_hits, s.stale_dirs, s.enriched_dirs])
project_deep_scan(".", {namespace: "n", incremental: false})
println(project_deep_scan_status("n").cache_hits)
advance_time(100000)
project_deep_scan(".", {namespace: "n", max_staleness_seconds: 60})
println(project_deep_scan_status("n").cache_hits)
println(project_deep_scan_status("other"))`,
    ['[., a]', '[[go], []]', '0', '2', '[2, 1, 1, 0]', '0', '0', 'nil'],
  ],
  [
    'a model is asked for each directory',
    { 'README.md': 'x' },
    `llm_mock({text: "{\\"purpose\\":\\"p\\"}"})
let o = {namespace: "n", tiers: ["ambient", "enriched"], enrichment: {prompt: "x", schema: {purpose: "string"}, provider: "mock"}}
println(project_deep_scan(".", o)["."].enriched.purpose)
println(project_deep_scan(".", o)["."].enriched.purpose)
println(len(llm_mock_calls()))
println(try { project_deep_scan(".", {namespace: "m", tiers: ["enriched"]}) } catch (e) { e })`,
    ['p', 'p', '1', 'project_deep_scan: the tier enriched needs the option enrichment'],
  ],
];

const METADATA: readonly Row[] = [
  [
    'directories inherit key by key',
    { 'a/b/x': '' },
    `metadata_set(".", "n", {x: 1, y: 1})
metadata_set("a", "n", {y: 2})
metadata_set("a", "m", {z: 3})
println(metadata_get("a/b", "n"))
println(metadata_resolve("a"))
println(metadata_get("a"))
println(metadata_get("a", "none"))
println([metadata_namespace("q", "n"), metadata_local_namespace("q", "n"), metadata_local_namespace("a", "n")])
println(project_inventory("m").entries)`,
    [
      '{x: 1, y: 2}',
      '{m: {z: 3}, n: {x: 1, y: 2}}',
      '{x: 1, y: 2, z: 3}',
      'nil',
      '[{x: 1, y: 1}, {}, {y: 2}]',
      '[{dir: a, local: {z: 3}, resolved: {z: 3}}]',
    ],
  ],
  [
    'hashes tell what has changed, by names and by contents',
    { 'a/x': '1', 'b/x': '1' },
    `metadata_set("a", "n", {k: 1})
metadata_set("b", "n", {k: 1})
println([project_stale("n").any_stale, project_requires_refresh("n")])
metadata_refresh_hashes()
println([project_stale("n").any_stale, project_requires_refresh("n")])
write_file("a/y", "")
write_file("b/x", "2")
println(metadata_stale("."))
println(project_stale_dirs("n"))
println(metadata_status("n").missing_content_hash)`,
    ['[false, true]', '[false, false]', '{any_stale: true, tier1: [a], tier2: [b]}', '[a, b]', '[]'],
  ],
  [
    'facts can be forgotten from a directory on',
    {},
    `metadata_set("a", "facts", {x: 1})
metadata_set("a/b", "facts", {x: 2})
metadata_set("ab", "facts", {x: 3})
metadata_set("a", "other", {x: 4})
invalidate_facts("a")
println([metadata_get("a/b", "facts"), metadata_get("ab", "facts"), metadata_get("a", "other")])
fn unknown(x) { return x }
println(try { metadata_set("a", "n", unknown(5)) } catch (e) { e })
println(try { compute_content_hash("none") } catch (e) { e })`,
    ['[nil, {x: 3}, {x: 4}]', 'Type error: metadata_set: data must be a dict, got int', 'compute_content_hash: none is no directory'],
  ],
  [
    'directories are scanned by name, kind and depth',
    { 's/a.txt': '', 's/.b.txt': '', 's/d/c.txt': '', 's/d/e.md': '' },
    `println(scan_directory("s").map({ e -> "\${e.path} \${e.is_dir} \${e.depth}" }))
println(scan_directory("s", ".txt", {include_hidden: true}).map({ e -> e.name }))
println(scan_directory("s", {pattern: "*.md"}).map({ e -> e.path }))
println(scan_directory("s", {max_depth: 0, include_files: false}).map({ e -> e.name }))`,
    ['[s/a.txt false 0, s/d true 0, s/d/c.txt false 1, s/d/e.md false 1]', '[.b.txt, a.txt, c.txt]', '[s/d/e.md]', '[d]'],
  ],
];

describe.each([
  ['scan', SCAN],
  ['fingerprint', FINGERPRINT],
  ['ci', CI],
  ['enrichment', ENRICHED],
  ['deep scan', DEEP],
  ['metadata', METADATA],
] as const)('std/project: %s', (_part, rows) => {
  test.each(rows)('%s', async (_rule, files, script, lines) => {
    expect(await linesIn(files, script)).toEqual(lines);
  });
});
