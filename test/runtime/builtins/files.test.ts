import { createFakePlatform } from '../../../src/platform/fake-platform.ts';
import { expressionTable } from '../expression-table.ts';

const MISSING = 'No such file or directory (os error 2)';

expressionTable(
  'files',
  [
    ['read_file("/w/a.txt")', 'one\ntwo\n'],
    ['read_file("/none")', `error: Failed to read file /none: ${MISSING}`],
    [
      '[read_file_result("/w/a.txt"), read_file_result("/none")]',
      `[Result.Ok(one\ntwo\n), Result.Err(Failed to read file /none: ${MISSING})]`,
    ],
    ['read_lines("/w/a.txt")', '[one, two]'],
    ['[write_file("/w/b.txt", 5), append_file("/w/b.txt", "!"), read_file("/w/b.txt")]', '[nil, nil, 5!]'],
    ['write_file("/no/dir/x", "")', `error: Failed to write file /no/dir/x: ${MISSING}`],
    ['[write_file_bytes("/w/c", bytes_from_hex("00ff")), read_file_bytes("/w/c")]', '[nil, b"00ff"]'],
    ['[copy_file("/w/a.txt", "/w/d"), move_file("/w/d", "/w/e"), file_exists("/w/d"), file_exists("/w/e")]', '[nil, nil, false, true]'],
    ['copy_file("/none", "/w/x")', `error: Failed to copy /none to /w/x: ${MISSING}`],
    ['[delete_file("/w/e"), file_exists("/w/e")]', '[nil, false]'],
    ['delete_file("/none")', `error: Failed to delete file /none: ${MISSING}`],
    ['[mkdir("/w/n/m"), mkdir("/w/n/m"), list_dir("/w/n")]', '[nil, nil, [m]]'],
    ['[delete_file("/w/n"), file_exists("/w/n/m")]', '[nil, false]'],
    ['list_dir("/none")', `error: Failed to list directory /none: ${MISSING}`],
    ['stat("/none")', `error: Failed to stat /none: ${MISSING}`],
    ['[stat("/w/a.txt").size, stat("/w/a.txt").is_file, stat("/w").is_dir]', '[8, true, true]'],
    ['walk_dir("/t").map({ e -> "${e.depth}${e.path}${e.is_dir}" })', '[0/ttrue, 1/t/subtrue, 2/t/sub/y.mdfalse, 1/t/x.mdfalse]'],
    ['walk_dir("/t", {max_depth: 1}).count()', '3'],
    ['walk_dir()', 'error: walk_dir: root path is required'],
    ['[glob("*.md", "/t"), glob("**/*.md", "/t")]', '[[/t/x.md], [/t/sub/y.md, /t/x.md]]'],
    ['exec()', 'error: exec: command is required'],
    ['exec("/none/at/all")', `error: exec failed: /none/at/all: ${MISSING}`],
    ['exec_at("/none", "pwd")', `error: exec failed: folder /none: ${MISSING}`],
  ],
  { platform: createFakePlatform({ files: { '/w/a.txt': 'one\ntwo\n', '/t/x.md': '', '/t/sub/y.md': '' } }) },
);

expressionTable('paths', [
  ['[path_join("a", "b"), path_join("a/", "/b", "c"), path_join("a")]', '[a/b, /b/c, a]'],
  ['[dirname("a/b.c"), dirname("a") + "|", basename("a/b.c"), extname("a/b.c"), extname("a") + "|"]', '[a, |, b.c, .c, |]'],
  [
    '[path_extension("a.tar.gz"), path_stem("a/b.c"), path_with_extension("a/b.c", "d"), path_with_stem("a/b.c", "x")]',
    '[.gz, b, a/b.d, a/x.c]',
  ],
  [
    String.raw`[path_normalize("a\\b/../c/."), path_to_posix("a\\b"), path_is_absolute("/a"), path_is_relative("/a")]`,
    '[a/c, a/b, true, false]',
  ],
  ['[path_parts("").segments, path_segments("")]', '[[], []]'],
  ['[path_segments("a/./b/c"), path_parent("/a/b"), path_relative_to("/a/b/c", "/a")]', '[[a, b, c], /a, b/c]'],
]);
