/** Reports files of the project's code that change under a running server, which keeps the code that it has loaded. */
import { type FSWatcher, watch } from 'node:fs';
import path from 'node:path';
import { codeFiles } from '../project-code.ts';

/** Editors write a file in several steps. */
const QUIET_MS = 150;

/** The configuration itself is watched elsewhere. Returns a function that stops it. */
export function watchCode(configFile: string | undefined, onChange: (files: readonly string[]) => void): () => void {
  const files = new Set(codeFiles(configFile).filter((file) => file !== configFile));
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const tell = (): void => {
    onChange([...changed].sort());
    changed.clear();
  };
  const watchers: FSWatcher[] = [];
  for (const folder of new Set([...files].map((file) => path.dirname(file)))) {
    const watcher = watch(folder, (_, name) => {
      const file = path.join(folder, name ?? '');
      if (!files.has(file)) return;
      changed.add(file);
      clearTimeout(timer);
      timer = setTimeout(tell, QUIET_MS);
    });
    // The folder is gone; its changes are not reported.
    watcher.on('error', () => watcher.close());
    watchers.push(watcher);
  }
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}
