/** `import url from './picture.svg'` gives the address of the file, which is emitted with a hash. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'rolldown';

export function fileImports(): Plugin {
  return {
    name: 'file-imports',
    load: {
      filter: { id: /\.(?:svg|png|woff2)$/ },
      handler(id) {
        this.addWatchFile(id);
        const reference = this.emitFile({ type: 'asset', name: path.basename(id), source: readFileSync(id) });
        return { code: `export default import.meta.ROLLUP_FILE_URL_${reference};`, moduleType: 'js' };
      },
    },
  };
}
