/**
 * Files that Nebula, Node and the tools of a project load as code or configuration, by their names. A workflow that
 * writes such a file would get the rights of the program that loads it next, so no grant writes one.
 */
import { sep } from 'node:path';
import { isInside } from '../pattern.ts';

const CONFIGURATION = /^nebula\.config\./;
const DATA_FOLDER = '.nebula';
const CODE = /\.([cm]?[jt]sx?|node|wasm)$/;
const TEST = /\.test\.(ya?ml|json)$/;
/** Files that say which code is loaded, and how. */
const PACKAGE = /^(package|package-lock|npm-shrinkwrap|[jt]sconfig(\..*)?)\.json$/;

/**
 * Returns why no grant gives this access to an absolute path; undefined if one may. `root` is the project folder.
 * Names are compared without case, because some file systems ignore it.
 */
export function codeReservation(path: string, root: string, access: 'read' | 'write'): string | undefined {
  const folders = path.toLowerCase().split(sep);
  const name = folders.pop() ?? '';
  // A configuration may contain passwords, and the data folder of another project has its token.
  if (CONFIGURATION.test(name)) return 'it is a configuration';
  if (folders.includes(DATA_FOLDER)) return 'it is in a data folder';
  if (access === 'read') return undefined;
  if (CODE.test(name)) return 'it is code';
  if (TEST.test(name)) return 'it is a test';
  if (PACKAGE.test(name)) return 'it says which code is loaded';
  for (const folder of ['node_modules', '.git']) {
    if (name === folder || folders.includes(folder)) return `${folder} contains code`;
  }
  // Hidden files are the settings of tools: .npmrc, .env, .github, .vscode.
  const isHidden = isInside(path, root) && path.slice(root.length).includes(`${sep}.`);
  return isHidden ? 'it is hidden' : undefined;
}
