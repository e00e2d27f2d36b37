/** The target nodes of a branch. Accepts drafts, in which any value may have any type. */
import type { DocumentPath } from '../problem.ts';
import { isJsonObject } from '../value.ts';

export interface BranchTarget {
  readonly id: string;
  /** Path inside the branch. */
  readonly path: DocumentPath;
}

export function branchTargets(branch: unknown): BranchTarget[] {
  if (!isJsonObject(branch)) return [];
  const found: BranchTarget[] = [];
  const add = (targets: unknown, path: DocumentPath): void => {
    if (typeof targets === 'string') found.push({ id: targets, path });
    else if (Array.isArray(targets)) {
      for (const [index, id] of targets.entries())
        if (typeof id === 'string') found.push({ id, path: [...path, index] });
    }
  };
  const { cases } = branch;
  if (Array.isArray(cases)) {
    for (const [index, one] of cases.entries()) if (isJsonObject(one)) add(one.to, ['cases', index, 'to']);
  } else if (isJsonObject(cases)) {
    for (const key of Object.keys(cases)) add(cases[key], ['cases', key]);
  }
  add(branch.default, ['default']);
  return found;
}
