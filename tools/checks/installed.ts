/** `node_modules` knows every package of the repository: after a pull that adds one, imports of it fail in odd ways. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Repository, Verdict } from './repository.ts';

export function checkInstalled(root: string, repository: Repository): Verdict {
  const names = repository.files
    .filter((file) => /^(packages|apps)\/[^/]+\/package\.json$/.test(file))
    .map((file) => (JSON.parse(repository.text(file)) as { name: string }).name);
  const missing = names.filter((name) => !existsSync(path.join(root, 'node_modules', name)));
  return {
    problems: missing.map((name) => `${name} is not in node_modules: run npm install`),
    summary: `${names.length} packages`,
  };
}
