import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dictOf } from '../../src/runtime/dict.ts';
import { parseJson } from '../../src/runtime/json.ts';
import { renderTemplate, type TemplateFiles } from '../../src/runtime/template/template.ts';
import { Dict } from '../../src/runtime/value.ts';
import { sharedDirectory } from '../support/scratch.ts';
import { runText } from './run-text.ts';

const NO_FILES: TemplateFiles = {
  resolve: (path, directory) => (path.startsWith('/') ? path : `${directory}/${path}`),
  read: (path) => {
    throw new Error(`no ${path}`);
  },
  directoryOf: (path) => path.slice(0, path.lastIndexOf('/')),
};

function render(text: string, bindings: string, files: Readonly<Record<string, string>> = {}): string {
  const dict = parseJson(bindings);
  const source: TemplateFiles = { ...NO_FILES, read: (path) => files[path] ?? NO_FILES.read(path) };
  try {
    return renderTemplate({ name: 'main', text, directory: '/t', path: '/t/main' }, dict instanceof Dict ? dict : dictOf([]), source);
  } catch (error) {
    return `error: ${(error as { caught: string }).caught}`;
  }
}

type Row = readonly [template: string, bindings: string, text: string];

const ROWS: readonly Row[] = [
  // values
  ['{{ name }}!', '{"name": "Ada"}', 'Ada!'],
  ['{{name}}', '{"name": null}', ''],
  ['{{ name }} {{  other  }}', '{}', '{{name}} {{other}}'],
  ['[{{ a.b }}]', '{}', '[]'],
  ['[{{ a | upper }}]', '{}', '[]'],
  ['{{ a.b.c }}', '{"a": {"b": {"c": 5.0}}}', '5.0'],
  ['{{ xs[0] }}{{ xs[-1] }}{{ xs[9] }}', '{"xs": [1, 2, 3]}', '13'],
  ['{{ d["api-key"] }}', '{"d": {"api-key": "k"}}', 'k'],
  ["{{ d['k'] }}", '{"d": {"k": 1}}', '1'],
  ['{"a": {{ n }}}', '{"n": 1}', '{"a": 1}'],
  // literals and operators
  ['{{ "a\\n\\"b\\"" }}', '{}', 'a\n"b"'],
  ['{{ 1.5 }}{{ -2 }}{{ true }}{{ nil }}', '{}', '1.5-2true'],
  ['{{ if a == 1 and not b }}y{{ end }}', '{"a": 1, "b": ""}', 'y'],
  ['{{ if a && !b || false }}y{{ else }}n{{ end }}', '{"a": 1, "b": 1}', 'n'],
  ['{{ if a != 1 or a >= 1 }}y{{ end }}', '{"a": 1}', 'y'],
  ['{{ if "a" < "b" }}y{{ end }}{{ if 2 <= 1 }}n{{ end }}', '{}', 'y'],
  ['{{ if (a or b) and c }}y{{ else }}n{{ end }}', '{"a": 1, "c": 0}', 'n'],
  ['{{ if (xs | length) > 1 }}many{{ end }}', '{"xs": [1, 2]}', 'many'],
  ['{{ not a }}', '{"a": 0}', 'true'],
  // truth
  ...['null', 'false', '0', '0.0', '""', '"  \\n"', '[]', '{}'].map(
    (value): Row => ['{{ if x }}y{{ else }}n{{ end }}', `{"x": ${value}}`, 'n'],
  ),
  ['{{ if missing }}y{{ end }}', '{}', ''],
  ['{{ if x }}a{{ elif y }}b{{ elif z }}c{{ else }}d{{ end }}', '{"z": 1}', 'c'],
  // loops
  ['{{ for x in xs }}{{ loop.index }}/{{ loop.index0 }}/{{ loop.length }}:{{ x }} {{ end }}', '{"xs": ["a", "b"]}', '1/0/2:a 2/1/2:b '],
  ['{{ for x in xs }}{{ x }}{{ if !loop.last }}, {{ end }}{{ end }}', '{"xs": [1, 2, 3]}', '1, 2, 3'],
  ['{{ for x in xs }}{{ if loop.first }}<{{ end }}{{ x }}{{ end }}', '{"xs": [1, 2]}', '<12'],
  ['{{ for x in xs }}{{ x }}{{ else }}none{{ end }}', '{"xs": []}', 'none'],
  ['{{ for x in missing }}{{ x }}{{ else }}none{{ end }}', '{}', 'none'],
  ['{{ for k, v in d }}{{ k }}={{ v }};{{ end }}', '{"d": {"b": 2, "a": 1}}', 'a=1;b=2;'],
  ['{{ for e in d }}{{ e.key }}={{ e.value }};{{ end }}', '{"d": {"a": 1}}', 'a=1;'],
  ['{{ for i, x in xs }}{{ i }}{{ x }} {{ end }}', '{"xs": ["a", "b"]}', '0a 1b '],
  ['{{ for x in xs }}{{ for y in x }}{{ y }}{{ loop.last }}{{ end }}{{ end }}', '{"xs": [[1], [2]]}', '1true2true'],
  ['{{ for x in xs }}{{ end }}{{ x }}', '{"xs": [1], "x": "outer"}', 'outer'],
  // comments, raw text, white space
  ['a{{# dropped }} #}}b', '{}', 'ab'],
  ['{{ raw }}{{ x }} {{if}}{{ endraw }}', '{}', '{{ x }} {{if}}'],
  ['a \n  {{- x -}}  \n b', '{"x": 1}', 'a 1 b'],
  ['a\n\n{{- x }}', '{"x": 1}', 'a\n1'],
  ['[{{- x -}}]', '{"x": 1}', '[1]'],
  ['L:\n{{- for x in xs -}}\n  {{ x }},\n{{- end -}}\nE', '{"xs": [1, 2]}', 'L:  1,  2,E'],
  // filters
  ['{{ s | upper }}{{ s | lower }}', '{"s": "aB"}', 'ABab'],
  ['[{{ s | trim }}]', '{"s": " x "}', '[x]'],
  ['{{ s | capitalize }}', '{"s": "hELLO you"}', 'Hello you'],
  ['{{ s | title }}', '{"s": "hello  big world"}', 'Hello  Big World'],
  ['{{ s | length }}{{ xs | length }}{{ d | length }}{{ none | length }}', '{"s": "a😀", "xs": [1], "d": {"a": 1}}', '2110'],
  ['{{ xs | first }}{{ xs | last }}{{ s | first }}{{ s | last }}', '{"xs": [1, 2], "s": "ab"}', '12ab'],
  ['{{ xs | reverse | join: "-" }}{{ s | reverse }}', '{"xs": [1, 2], "s": "ab"}', '2-1ba'],
  ['{{ xs | join }}', '{"xs": [1, null]}', '1nil'],
  ['{{ a | default: "d" }}{{ b | default: "d" }}', '{"b": 0}', 'dd'],
  ['{{ a | default: b | upper }}', '{"b": "x"}', 'X'],
  ['{{ d | json }}', '{"d": {"b": 1, "a": [true]}}', '{"a":[true],"b":1}'],
  ['{{ d | json: true }}', '{"d": {"a": 1}}', '{\n  "a": 1\n}'],
  ['{{ s | indent: 2 }}|{{ s | indent: 2, true }}', '{"s": "a\\nb"}', 'a\n  b|  a\n  b'],
  ['{{ s | lines | length }}', '{"s": "a\\nb"}', '2'],
  ['{{ s | escape_md }}', '{"s": "*a* [b]"}', '\\*a\\* \\[b\\]'],
  ['{{ s | replace: "a", "$&" }}', '{"s": "aba"}', '$&b$&'],
  ['{{ s | split }}', '{"s": "a"}', 'error: main at 1:1: unknown filter `split`'],
  ['{{ s | constructor }}', '{"s": "a"}', 'error: main at 1:1: unknown filter `constructor`'],
  // faults
  ['ab\n {{ x', '{}', 'error: main at 2:2: unterminated directive'],
  ['{{# x', '{}', 'error: main at 1:1: unterminated comment'],
  ['{{ raw }} x', '{}', 'error: main at 1:1: unterminated `{{ raw }}` block'],
  ['{{ if x }}', '{}', 'error: main at 1:1: unterminated `if` block'],
  ['{{ for x in xs }}{{ else }}', '{}', 'error: main at 1:1: unterminated `for` block'],
  ['x{{ end }}', '{}', 'error: main at 1:2: unexpected `end`'],
  ['{{ if x }}{{ else }}{{ else }}{{ end }}', '{}', 'error: main at 1:21: unexpected `else`'],
  ['{{ a b }}', '{}', 'error: main at 1:6: unexpected `b`'],
  ['{{ a ; }}', '{}', 'error: main at 1:6: unexpected character `;`'],
  ['{{ }}', '{}', 'error: main at 1:3: expected an expression'],
];

describe('templates', () => {
  test.each(ROWS)('%j with %s gives %j', (template, bindings, text) => {
    expect(render(template, bindings)).toBe(text);
  });
});

describe('includes', () => {
  const files = {
    '/t/part': '<{{ name }}>',
    '/t/sub/a': 'a{{ include "b" }}',
    '/t/sub/b': 'b{{ name }}',
    '/t/x': '{{ include "y" }}',
    '/t/y': '{{ include "x" }}',
    '/t/bad': '\n{{ oops | nope }}',
  };

  test.each([
    ['sees the bindings around it', '{{ include "part" }}', '<N>'],
    ['gets bindings of its own', '{{ include "part" with { name: "x" | upper, other: 1 } }}{{ name }}', '<X>N'],
    ['names files relative to itself', '{{ include "sub/a" }}', 'abN'],
    ['may be computed', '{{ include path }}', '<N>'],
    ['reports where the inner fault is', '{{ include "bad" }}', 'error: bad at 2:1: unknown filter `nope`'],
    ['reports a missing file', 'a {{ include "gone" }}', 'error: main at 1:3: failed to read included template gone'],
    ['needs a text', '{{ include 5 }}', 'error: main at 1:1: include path must be a string'],
    ['refuses circles', '{{ include "x" }}', 'error: y at 1:1: circular include detected: main → x → y → x'],
    ['refuses to include itself', '{{ include "main" }}', 'error: main at 1:1: circular include detected: main → main'],
  ])('an include %s', (_rule, template, text) => {
    expect(render(template, '{"name": "N", "path": "part"}', files)).toBe(text);
  });

  test('no more than 32 levels', () => {
    const chain = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`/t/f${index}`, `{{ include "f${index + 1}" }}`]));
    expect(render('{{ include "f0" }}', '{}', chain)).toBe('error: f31 at 1:1: includes are nested deeper than 32 levels');
  });
});

describe('template builtins', () => {
  const root = sharedDirectory();

  function file(name: string, text: string): string {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  test('render reads a file and fills it in', async () => {
    const path = file('greeting.prompt', 'Hello, {{ name }}!');
    const { out } = await runText(`print(render("${path}", {name: "Ada"})); print(render_prompt("${path}"))`);
    expect(out).toBe('Hello, Ada!Hello, {{name}}!');
  });

  test('a missing file is a thrown text', async () => {
    const { out } = await runText(`try { render("/no/such") } catch (e) { print(e) }`);
    expect(out).toBe('Failed to read template /no/such: No such file or directory (os error 2)');
  });

  test('faults of a string have no name in front', async () => {
    const { out } = await runText(`try { render_string("{{ a | b }}") } catch (e) { print(e) }`);
    expect(out).toBe('at 1:1: unknown filter `b`');
  });
});
