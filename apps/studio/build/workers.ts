/**
 * `new URL('./some-worker.ts', import.meta.url)` names the script of a worker: it becomes a file of its own, which
 * shares parts with the others.
 */
import path from 'node:path';
import type { StudioFile } from '@nebula/server/studio';
import type { OutputAsset, OutputChunk, Plugin } from 'rolldown';

const WORKER = /new URL\(\s*(['"])(\.{1,2}\/[^'"]*worker\.[jt]s)\1,\s*import\.meta\.url,?\s*\)/g;

export class Workers {
  readonly #found = new Set<string>();
  readonly #compiling: string;

  /** `compiling`: the worker that may use `eval`. */
  constructor(compiling: string) {
    this.#compiling = compiling;
  }

  kindOf(built: OutputChunk | OutputAsset): StudioFile['worker'] {
    if (built.type !== 'chunk' || built.facadeModuleId === null || !this.#found.has(built.facadeModuleId))
      return undefined;
    return built.facadeModuleId === this.#compiling ? 'eval' : 'strict';
  }

  plugin(): Plugin {
    const found = this.#found;
    return {
      name: 'workers',
      transform: {
        filter: { code: /new URL\([^)]*worker\.[jt]s/ },
        handler(code, id) {
          return code.replaceAll(WORKER, (_, _quote, target: string) => {
            const file = path.resolve(path.dirname(id), target);
            found.add(file);
            const name = path.basename(file).replace(/\.[jt]s$/, '');
            const reference = this.emitFile({ type: 'chunk', id: file, name });
            return `new URL(import.meta.ROLLUP_FILE_URL_${reference})`;
          });
        },
      },
    };
  }
}
