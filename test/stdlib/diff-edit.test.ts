import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linesOf, type ScriptRow } from '../runtime/run-text.ts';

/** Text of a few lines out of few words, so that lines repeat; with and without an end of the last line. */
const text = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c', '', '- d', '+ e', '@@ x'), { maxLength: 12 }), fc.boolean())
  .map(([lines, hasEnd]) => lines.join('\n') + (hasEnd && lines.length > 0 ? '\n' : ''));

describe('std/diff', () => {
  test('any change can be written down, read and made again', async () => {
    const pairs = fc.sample(fc.tuple(text, text, fc.integer({ min: 0, max: 3 })), { seed: 7, numRuns: 300 });
    const script = `import "std/diff"
for [old, new, context] in json_parse(${JSON.stringify(JSON.stringify(pairs)).replaceAll('$', '\\$')}) {
  let steps = diff_lists(old.split("\\n"), new.split("\\n"))
  let before = steps.filter({ step -> step.kind != "insert" }).map({ step -> step.value }).join("\\n")
  let after = steps.filter({ step -> step.kind != "delete" }).map({ step -> step.value }).join("\\n")
  let diff = unified_diff(old, new, {context: context})
  if before != old || after != new || apply_unified_diff(old, diff) != new {
    println(json_stringify([old, new, context, diff]))
  }
}`;
    expect(await linesOf(script)).toEqual([]);
  });

  test('no way is shorter', async () => {
    const lists = fc.sample(fc.tuple(fc.array(fc.nat(3), { maxLength: 7 }), fc.array(fc.nat(3), { maxLength: 7 })), {
      seed: 3,
      numRuns: 200,
    });
    const script = `import "std/diff"
println(json_stringify(json_parse(${JSON.stringify(JSON.stringify(lists))}).map({ lists ->
  diff_lists(lists[0], lists[1]).filter({ step -> step.kind == "equal" }).count()
})))`;
    const [found] = await linesOf(script);
    expect(JSON.parse(found ?? '')).toEqual(lists.map(([a, b]) => longestCommon(a, b)));
  });
});

/** Length of the longest common subsequence, by the plain recursion. */
function longestCommon(a: readonly number[], b: readonly number[]): number {
  if (a.length === 0 || b.length === 0) return 0;
  if (a[0] === b[0]) return 1 + longestCommon(a.slice(1), b.slice(1));
  return Math.max(longestCommon(a.slice(1), b), longestCommon(a, b.slice(1)));
}

const DIFF: readonly ScriptRow[] = [
  [
    'hunks with context, and a line end that went',
    String.raw`print(unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9", {from: "old", to: "new", context: 1}))`,
    [
      '--- old',
      '+++ new',
      '@@ -4,3 +4,3 @@',
      ' 4',
      '-5',
      '+five',
      ' 6',
      '@@ -8,2 +8,2 @@',
      ' 8',
      '-9',
      '+9',
      '\\ No newline at end of file',
    ],
  ],
  ['no change is no text', 'println(len(unified_diff("a", "a")))', ['0']],
  [
    'files of a change',
    String.raw`let files = parse_unified_diff("diff --git a/x b/x\n--- a/src/x.ts\t2026\n+++ b/src/x.ts\n@@ -1 +1 @@ fn\n-a\n+b\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+c\n")
println(files.map({ file -> [file.old_path, file.new_path, len(file.hunks)] }))`,
    ['[[src/x.ts, src/x.ts, 1], [nil, new, 1]]'],
  ],
  [
    'a hunk is found where its lines have moved to',
    String.raw`print(apply_unified_diff("new head\na\nb\n", unified_diff("a\nb\n", "a\nB\n")))`,
    ['new head', 'a', 'B'],
  ],
  [
    'a hunk that fits nowhere',
    String.raw`println(try { apply_unified_diff("x\n", unified_diff("a\n", "b\n")) } catch (e) { e })`,
    ['apply_unified_diff: hunk 1 (line 1) does not fit the text'],
  ],
  [
    'a hunk that is cut off',
    String.raw`println(try { parse_unified_diff("@@ -1,2 +1,2 @@\n a\n") } catch (e) { e })`,
    ['parse_unified_diff: the hunk @@ -1,2 +1,2 @@ is not complete'],
  ],
  [
    'lines, words and likeness',
    String.raw`println(diff_lines("a\nb", "a\nc").map({ line -> "${'$'}{line.kind} ${'$'}{line.text} ${'$'}{line.old_line} ${'$'}{line.new_line}" }))
println(diff_words("a b c", "a x c").map({ part -> part.kind }))
println(diff_stat("a\nb", "a\nc\nd"))
println([similarity("a\nb", "a\nc"), similarity("", "")])`,
    ['[equal a 1 1, delete b 2 nil, insert c nil 2]', '[equal, delete, insert, equal]', '{added: 2, removed: 1}', '[0.5, 1.0]'],
  ],
];

const EDIT: readonly ScriptRow[] = [
  ['one place is replaced', 'println(replace_once("a b", "b", "c"))', ['a c']],
  [
    'no place, and several',
    'println(try { replace_once("a", "b", "c") } catch (e) { e })\nprintln(try { replace_once("a a", "a", "c") } catch (e) { e })',
    [
      'replace_once: the text to replace was not found',
      'replace_once: the text to replace stands in 2 places; add lines around it until it is unique',
    ],
  ],
  [
    'white space is a near miss',
    String.raw`println(try { replace_once("x\n  call()\n", "call()\nend", "c") } catch (e) { e })`,
    ['replace_once: the text to replace was not found; line 2 differs from its first line in nothing but white space'],
  ],
  ['around an anchor', 'println(insert_before("a b", "b", "x ") + "|" + insert_after("a b", "a", " y"))', ['a x b|a y b']],
  [
    'edits are all made or none',
    'println(apply_edits("a b b", [{old: "a", new: "1"}, {old: "b", new: "2", all: true}]))\nprintln(try { apply_edits("a", [{old: "a", new: "b"}, {old: "z", new: ""}]) } catch (e) { e })',
    ['1 2 2', 'apply_edits: edit 2 of 2: replace_once: the text to replace was not found'],
  ],
  [
    'blocks of a model',
    String.raw`println(parse_edit_blocks("Do:\n<<<<<<< SEARCH\na\n=======\nb\nc\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nd\n=======\n>>>>>>> REPLACE").map({ block -> json_stringify(block) }))`,
    [String.raw`[{"new":"b\nc\n","old":"a\n"}, {"new":"","old":"d\n"}]`],
  ],
  [
    'lines by number',
    String.raw`print(replace_lines("a\nb\nc\n", 2, 3, "x") + insert_lines("a\n", 1, "b") + delete_lines("a\nb\n", 1, 1))
println(try { replace_lines("a", 2, 2, "") } catch (e) { e })
println(read_range("a\nb\nc", 2, 9))
println(number_lines("a\nb", 9))`,
    [
      'a',
      'x',
      'a',
      'b',
      'b',
      'replace_lines: lines 2 to 2 are not in a text of 1 lines',
      '[{line: 2, text: b}, {line: 3, text: c}]',
      ' 9  a',
      '10  b',
    ],
  ],
  [
    'a file',
    'let file = path_join(temp_dir(), uuid())\nwrite_file(file, "a b")\nprintln(edit_file(file, [{old: "a", new: "c"}]).changed)\nprintln(read_file(file))\nprintln(edit_file(file, []).changed)\ndelete_file(file)',
    ['true', 'c b', 'false'],
  ],
];

test.each(DIFF)('std/diff: %s', async (_rule, script, lines) => {
  expect(await linesOf(`import "std/diff"\n${script}`)).toEqual(lines);
});

test.each(EDIT)('std/edit: %s', async (_rule, script, lines) => {
  expect(await linesOf(`import "std/edit"\n${script}`)).toEqual(lines);
});
