import type { FSWatcher } from 'chokidar';
import type { FileWatcher } from './platform.ts';

/**
 * Changes of files through chokidar, which is loaded when somebody first watches. It does not keep the process alive, and it
 * need not notice that a path comes into being that did not exist.
 */
export const nodeWatcher: FileWatcher = {
  watch(paths, { onReady, onChange }) {
    let watcher: FSWatcher | undefined;
    let isOver = false;
    import('chokidar').then(
      ({ watch }) => {
        if (isOver) return;
        watcher = watch([...paths], { ignoreInitial: true, persistent: false });
        watcher.on('ready', onReady).on('all', onChange).on('error', onChange);
      },
      () => undefined, // whoever asked goes on looking
    );
    return () => {
      isOver = true;
      void watcher?.close();
    };
  },
};
