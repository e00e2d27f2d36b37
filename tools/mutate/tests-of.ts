/** The tests that may notice a change of a source file, the nearest first. */
import { existsSync } from 'node:fs';
import path from 'node:path';

/** The packages whose tests run the code of a package, beyond its own. Drivers run under the engine of the server. */
const DEPENDENTS: Readonly<Record<string, readonly string[]>> = {
  'packages/core': ['packages/engine', 'packages/testing', 'sim/smoke.test.ts'],
  'packages/ports': ['packages/drivers', 'packages/engine'],
  'packages/engine': ['packages/testing', 'sim/smoke.test.ts', 'apps/server'],
  'packages/drivers': ['packages/testing', 'apps/server'],
  'packages/sdk': ['packages/testing', 'packages/actions'],
  'packages/client': ['apps/server'],
  'apps/server': ['apps/cli'],
};

/** Each step is a list of paths for vitest; a later step runs only if all earlier ones pass. */
export function testsOf(root: string, file: string): readonly (readonly string[])[] {
  const [group = '', name = '', , ...rest] = file.split('/');
  const own = `${group}/${name}`;
  const steps: string[][] = [];
  // `packages/core/src/run/undo/undo.ts` is tested in `packages/core/test/run/undo`, then in `packages/core/test/run`.
  for (let depth = rest.length - 1; depth >= 0; depth--) {
    const folder = `${[own, 'test', ...rest.slice(0, depth)].join('/')}/`;
    if (existsSync(path.join(root, folder))) steps.push([folder]);
  }
  const dependents = (DEPENDENTS[own] ?? []).map((each) => (each.endsWith('.ts') ? each : `${each}/test/`));
  if (dependents.length > 0) steps.push(dependents);
  return steps;
}

/** The steps inside of the package's folder of tests, or that folder if the source has none of its own there. */
export function nearTestsOf(root: string, file: string): readonly (readonly string[])[] {
  const steps = testsOf(root, file);
  const own = steps.filter(([folder = '']) => /\/test\/.+\/$/.test(folder));
  return own.length > 0 ? own : steps.slice(0, 1);
}
