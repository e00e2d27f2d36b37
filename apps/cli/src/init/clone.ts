/**
 * A new project names versions of Nebula's packages. The command of a clone of the repository also links its own packages
 * into the project, as `npm link` would: `npm install` finds the versions there and keeps the links.
 */
import { existsSync, lstatSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGES } from './template.ts';

/** Returns undefined if the command is installed. */
function cloneFolders(): readonly string[] | undefined {
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  const folders = ['packages', 'apps'].map((folder) => path.join(root, folder));
  return folders.every((folder) => existsSync(folder)) ? folders : undefined;
}

/** Returns the names of the packages that were linked. */
export function linkClone(project: string, makeFolders: (folder: string) => void): string[] {
  const folders = cloneFolders();
  if (folders === undefined) return [];
  return PACKAGES.filter((name) => {
    const [, shortName] = name.split('/') as [string, string];
    const target = folders.map((folder) => path.join(folder, shortName)).find((folder) => existsSync(folder));
    const link = path.join(project, 'node_modules', name);
    if (target === undefined || lstatSync(link, { throwIfNoEntry: false }) !== undefined) return false;
    makeFolders(path.dirname(link));
    symlinkSync(target, link, 'junction');
    return true;
  });
}
