/**
 * The files of a project that no grant reaches: whoever may write the configuration, or a workflow file that a server
 * picks up, could grant themselves everything.
 */
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { isConfigName, workflowPatterns } from '../project.ts';
import type { Project } from '../services.ts';

export function reservedFiles({ dir, config }: Pick<Project, 'dir' | 'config'>): (file: string) => string | undefined {
  const roots = new Set([path.resolve(dir), realpathSync(dir)]);
  const patterns = workflowPatterns(config);
  return (file) => {
    for (const root of roots) {
      const name = path.relative(root, file);
      if (isConfigName(name)) return 'it is the configuration';
      if (patterns.some((pattern) => path.matchesGlob(name, path.normalize(pattern)))) return 'it is a workflow file';
    }
    return undefined;
  };
}
