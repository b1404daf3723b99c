import { describe, expect, test } from 'vitest';
import { WatchedPaths, type WatchState } from '../../src/agent/tools/watched-paths.ts';
import { FakeFiles } from '../../src/platform/fake-files.ts';

/** Files in memory whose time a test moves, and a watcher that speaks when a test says so. */
function world() {
  let now = 1;
  const files = new FakeFiles({ now: () => now });
  const heard: { readonly onReady: () => void; readonly onChange: () => void }[] = [];
  let looks = 0;
  const counting = {
    stat: (path: string) => {
      looks++;
      return files.stat(path);
    },
    list: (path: string) => files.list(path),
  };
  return {
    files,
    write: (path: string, text: string) => {
      now++;
      files.write(path, text);
    },
    looks: () => looks,
    speak: heard,
    watching: (paths: string[], before?: WatchState) =>
      new WatchedPaths(
        {
          files: counting,
          watcher: {
            watch: (_paths, watch) => {
              heard.push(watch);
              return () => undefined;
            },
          },
        },
        paths,
        before,
      ),
  };
}

describe('the paths that a daemon watches', () => {
  test('names what came, went or changed, in whole folders too', () => {
    const { files, write, watching } = world();
    files.mkdir('/w/deep');
    for (const name of ['a', 'b', 'deep/c']) write(`/w/${name}`, '1');
    const watched = watching(['/w']);
    expect(watched.takeChanged()).toEqual([]);
    write('/w/a', '22');
    files.unlink('/w/b');
    write('/w/deep/new', '1');
    expect(watched.takeChanged().filter((path) => files.stat(path)?.isDirectory !== true)).toEqual(['/w/a', '/w/b', '/w/deep/new']);
    expect(watched.takeChanged()).toEqual([]);
  });

  test('does not look into what nobody edits by hand', () => {
    const { files, write, watching } = world();
    for (const name of ['node_modules', '.git', '.harn']) files.mkdir(`/w/${name}`);
    const watched = watching(['/w']);
    for (const name of ['node_modules', '.git', '.harn']) write(`/w/${name}/x`, '1');
    expect(watched.takeChanged()).toEqual([]);
  });

  test('an older state counts: what changed since it is changed', () => {
    const { write, watching } = world();
    write('/tmp/a', '1');
    expect(watching(['/tmp/a'], { '/tmp/a': { mtime_ms: 0, size: 9 } }).takeChanged()).toEqual(['/tmp/a']);
  });

  test('looks once more when the watcher is ready, then only at its word', () => {
    const { write, watching, looks, speak } = world();
    write('/tmp/a', '1');
    const watched = watching(['/tmp/a']);
    let calls = 0;
    watched.follow(() => calls++);
    write('/tmp/a', '22'); // before the watcher listens
    speak[0]?.onReady();
    expect(watched.takeChanged()).toEqual(['/tmp/a']);
    const before = looks();
    expect(watched.takeChanged()).toEqual([]);
    expect(looks()).toBe(before);
    write('/tmp/a', '333');
    speak[0]?.onChange();
    expect([watched.takeChanged(), calls]).toEqual([['/tmp/a'], 2]);
  });

  test('goes on looking for a path that does not exist, and after the watcher was left', () => {
    const { write, watching, speak } = world();
    const watched = watching(['/tmp/a']);
    const stop = watched.follow(() => undefined);
    speak[0]?.onReady();
    expect(watched.takeChanged()).toEqual([]);
    write('/tmp/a', '1'); // without a word
    expect(watched.takeChanged()).toEqual(['/tmp/a']);
    stop();
    write('/tmp/a', '22');
    expect(watched.takeChanged()).toEqual(['/tmp/a']);
  });
});
