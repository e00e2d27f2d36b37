import { describe, expect, it } from 'vitest';
import { checkArrows } from '../checks/arrows.ts';
import { repositoryOf } from '../checks/repository.ts';

const manifest = (name: string, more: object = {}) =>
  JSON.stringify({ name, exports: { '.': './src/index.ts' }, ...more });
const needs = (...names: string[]) => ({ dependencies: Object.fromEntries(names.map((name) => [name, '1.0.0'])) });

/** A workspace in which everything is right. */
const WORKSPACE: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ name: 'root', devDependencies: { vitest: '5', '@types/pg': '8' } }),
  'packages/core/package.json': manifest('@nebula/core', {
    ...needs('yaml'),
    exports: { '.': './src/index.ts', './authoring': './src/a.ts' },
  }),
  'packages/core/src/index.ts': "import { parse } from 'yaml';\nexport { a } from './a.ts';",
  'packages/core/src/a.ts': 'export const a = 1;',
  'packages/core/test/a.test.ts':
    "import { it } from 'vitest';\nimport { a } from '../src/a.ts';\nimport { x } from '@nebula/drivers/memory';",
  'packages/ports/package.json': manifest('@nebula/ports', {
    ...needs('@nebula/core'),
    exports: { '.': './src/index.ts', './conformance': './conformance/store.ts' },
  }),
  'packages/ports/src/index.ts': "export type { A } from '@nebula/core';",
  'packages/ports/conformance/store.ts': "import { it } from 'vitest';\nimport { a } from '@nebula/core';",
  'packages/engine/package.json': manifest('@nebula/engine', needs('@nebula/core', '@nebula/ports')),
  'packages/engine/src/index.ts': "import '@nebula/core';\nimport '@nebula/ports';",
  'packages/drivers/package.json': manifest('@nebula/drivers', {
    ...needs('@nebula/core', '@nebula/ports'),
    exports: { './memory': './src/memory/index.ts' },
  }),
  'packages/drivers/src/memory/index.ts': "import '@nebula/ports';\nimport type { Pool } from 'pg';",
  'packages/sdk/package.json': manifest('@nebula/sdk', needs('@nebula/core', '@nebula/ports')),
  'packages/sdk/src/index.ts':
    "import type { A } from '@nebula/core';\nimport '@nebula/core/authoring';\nimport type { Store } from '@nebula/ports';",
  'packages/actions/package.json': manifest('@nebula/actions', needs('@nebula/core', '@nebula/sdk')),
  'packages/actions/src/index.ts': "import { readFile } from 'node:fs/promises';\nimport '@nebula/sdk';",
  'apps/cli/package.json': JSON.stringify({ name: '@nebula/cli', ...needs('@nebula/engine', '@nebula/drivers') }),
  'apps/cli/src/main.ts': "import '@nebula/engine';\nimport '@nebula/drivers/memory';",
  'e2e/crash.test.ts': "import { it } from 'vitest';\nimport '@nebula/engine';\nimport './kill.ts';",
  'e2e/kill.ts': 'export const kill = 9;',
};

function problemsWith(changes: Readonly<Record<string, string>>): readonly string[] {
  return checkArrows(repositoryOf({ ...WORKSPACE, ...changes })).problems;
}

describe('arrows between packages', () => {
  it('accepts a workspace in order', () => {
    expect(problemsWith({})).toEqual([]);
  });

  it('[SIM-22] the reference interpreter imports types only, except from its own folder', () => {
    const model = (text: string) => ({
      'sim/model/graph.ts': 'export const g = 1;',
      'sim/model/core-run.ts': "import { a } from '@nebula/core';",
      'sim/model/compare.ts': "import './core-run.ts';\nimport './interpreter.ts';",
      'sim/oracle.ts': 'export type O = 1;\nexport const o = 1;',
      'sim/model/interpreter.ts': text,
    });
    expect(
      problemsWith(
        model("import type { A } from '@nebula/core';\nimport './graph.ts';\nimport type { O } from '../oracle.ts';"),
      ),
    ).toEqual([]);
    expect(
      problemsWith(model("import { a } from '@nebula/core';\nimport './core-run.ts';\nimport '../oracle.ts';")),
    ).toEqual([
      'sim/model/interpreter.ts:1 the model may import types of @nebula/core only',
      'sim/model/interpreter.ts:2 ./core-run.ts is not part of the model: it may import types only',
      'sim/model/interpreter.ts:3 ../oracle.ts is not part of the model: it may import types only',
    ]);
  });

  it('lets a part with dependencies of its own reach the rest of the root', () => {
    const apart = {
      'bench/session.ts': 'export const a = 1;',
      'bench/peers/package.json': manifest('peers', { exports: {}, ...needs('bullmq') }),
    };
    expect(problemsWith({ ...apart, 'bench/peers/run.ts': "import 'bullmq';\nimport '../session.ts';" })).toEqual([]);
    expect(problemsWith({ ...apart, 'bench/peers/run.ts': "import 'pg-boss';" })).toEqual([
      'bench/peers/run.ts:1 pg-boss is not declared in bench/peers/package.json',
    ]);
    expect(problemsWith({ ...apart, 'bench/run.ts': "import 'bullmq';" })).toHaveLength(1);
  });

  it('lets tests, and nothing else, use what tests share', () => {
    const shared = { 'tools/test-support/browser.ts': 'export const b = 1;', 'tools/test.ts': 'export const t = 1;' };
    const importing = (file: string, target: string) =>
      problemsWith({ ...shared, [file]: `import '../../../tools/${target}';` });
    expect(importing('packages/core/test/b.test.ts', 'test-support/browser.ts')).toEqual([]);
    expect(importing('packages/core/src/b.ts', 'test-support/browser.ts')).toHaveLength(1);
    expect(importing('packages/core/test/b.test.ts', 'test.ts')).toHaveLength(1);
  });

  it.each([
    ['core', 'ports'],
    ['ports', 'engine'],
    ['engine', 'drivers/memory'],
    ['drivers', 'engine'],
    ['sdk', 'engine'],
    ['actions', 'ports'],
  ])('%s may not import %s', (from, to) => {
    const name = `@nebula/${to.split('/')[0]}`;
    const found = problemsWith({
      [`packages/${from}/package.json`]: manifest(`@nebula/${from}`, needs(name)),
      [`packages/${from}/src/index.ts`]: `import '@nebula/${to}';`,
    });
    expect(found).toContain(`packages/${from}/src/index.ts:1 ${from} may not import ${to.split('/')[0]}`);
  });

  it('lets the sdk load the light part of the core only', () => {
    expect(problemsWith({ 'packages/sdk/src/index.ts': "import { a } from '@nebula/core';" })).toEqual([
      'packages/sdk/src/index.ts:1 sdk may import values of core through ./authoring only',
    ]);
  });

  it('[PKG-10] keeps the names of runs for the engine and the test kit', () => {
    const runs = {
      'packages/core/package.json': manifest('@nebula/core', {
        ...needs('yaml'),
        exports: { '.': './src/index.ts', './authoring': './src/a.ts', './run': './src/a.ts' },
      }),
      'apps/cli/package.json': JSON.stringify({
        name: '@nebula/cli',
        ...needs('@nebula/core', '@nebula/engine', '@nebula/drivers'),
      }),
    };
    const [run, types] = ["import '@nebula/core/run';", "import type { RunState } from '@nebula/core/run';"];
    expect(problemsWith({ ...runs, 'packages/engine/src/turn.ts': run })).toEqual([]);
    for (const file of ['packages/ports/src/more.ts', 'packages/drivers/src/more.ts', 'apps/cli/src/more.ts']) {
      for (const text of [run, types])
        expect(problemsWith({ ...runs, [file]: text })).toEqual([
          `${file}:1 @nebula/core/run is for engine and testing only`,
        ]);
    }
  });

  it.each([
    "import { x } from '@nebula/engine';",
    "import type { x } from '@nebula/engine';",
    "export { x } from '@nebula/engine';",
    "export * from '@nebula/engine';",
    "const x = await import('@nebula/engine');",
    'const x = await import(`@nebula/engine`);',
    "type X = import('@nebula/engine').X;",
    "const x = require('@nebula/engine');",
  ])('sees %s', (text) => {
    expect(problemsWith({ 'packages/ports/src/index.ts': text }).join()).toContain('ports may not import engine');
  });

  it('lets the sdk have types of the ports only', () => {
    const found = (text: string) => problemsWith({ 'packages/sdk/src/index.ts': text });
    expect(found("import { FINISHED } from '@nebula/ports';")).toHaveLength(1);
    expect(found("import { type Store } from '@nebula/ports';")).toHaveLength(1);
    expect(found("export type { Store } from '@nebula/ports';")).toEqual([]);
  });

  it('[PKG-1] lets the test kit have the engine and the drivers, and the sdk neither of them nor the test kit', () => {
    const kit = {
      'packages/testing/package.json': manifest(
        '@nebula/testing',
        needs('@nebula/core', '@nebula/sdk', '@nebula/engine', '@nebula/drivers'),
      ),
      'packages/testing/src/index.ts':
        "import '@nebula/engine';\nimport '@nebula/drivers/memory';\nimport '@nebula/sdk';",
    };
    expect(problemsWith(kit)).toEqual([]);
    expect(problemsWith({ ...kit, 'packages/testing/src/more.ts': "import '@nebula/actions';" })).toContain(
      'packages/testing/src/more.ts:1 testing may not import actions',
    );
    for (const name of ['testing', 'engine', 'drivers/memory']) {
      expect(problemsWith({ ...kit, 'packages/sdk/src/a.ts': `import '@nebula/${name}';` })).toContain(
        `packages/sdk/src/a.ts:1 sdk may not import ${name.split('/')[0]}`,
      );
    }
  });

  it('[PKG-2] keeps the layers of the core apart: definition and expression, plan, run and verify', () => {
    const layers = {
      'packages/core/src/plan/plan.ts': "import '../definition/model.ts';\nimport '../a.ts';",
      'packages/core/src/definition/model.ts': "import '../expression/parse.ts';",
      'packages/core/src/expression/parse.ts': 'export const parse = 1;',
      'packages/core/src/run/decide/decide.ts':
        "import '../plan/plan.ts';\nimport type { M } from '../definition/model.ts';",
      'packages/core/src/verify/verify.ts': "import '../plan/plan.ts';",
      'packages/core/src/compile.ts': "import './plan/plan.ts';\nimport './verify/verify.ts';",
    };
    expect(problemsWith(layers)).toEqual([]);
    const upwards = (file: string, target: string) =>
      problemsWith({ ...layers, [`packages/core/src/${file}`]: `import '${target}';` });
    expect(upwards('plan/b.ts', '../run/decide.ts')).toEqual([
      'packages/core/src/plan/b.ts:1 core/plan may not import core/run',
    ]);
    expect(upwards('plan/kinds/b.ts', '../../verify/verify.ts')).toEqual([
      'packages/core/src/plan/kinds/b.ts:1 core/plan may not import core/verify',
    ]);
    expect(upwards('run/b.ts', '../definition/model.ts')).toEqual([
      'packages/core/src/run/b.ts:1 core/run may import types of core/definition only: use import type',
    ]);
    expect(upwards('heap.ts', './plan/plan.ts')).toEqual([
      'packages/core/src/heap.ts:1 heap.ts may not import the folder plan of core',
    ]);
    expect(upwards('studio/b.ts', '../plan/plan.ts').join()).toContain('core/studio has no line');
  });

  it('lets only apps import an app', () => {
    expect(problemsWith({ 'e2e/kill.ts': "import '@nebula/cli';" })).toEqual([
      'e2e/kill.ts:1 imports @nebula/cli: only apps import an app',
    ]);
    const server = { 'apps/server/package.json': JSON.stringify({ name: '@nebula/server', ...needs('@nebula/cli') }) };
    const found = problemsWith({ ...server, 'apps/server/src/a.ts': "import '@nebula/cli';" });
    expect(found.filter((problem) => problem.includes('only apps'))).toEqual([]);
  });

  it('lets no package import itself by name', () => {
    expect(problemsWith({ 'packages/core/src/a.ts': "import '@nebula/core';" })).toEqual([
      'packages/core/src/a.ts:1 core may not import core',
    ]);
  });

  it('needs a root', () => {
    expect(checkArrows(repositoryOf({})).problems).toEqual(['package.json is missing']);
  });

  it('asks for a line about a new package', () => {
    const found = problemsWith({
      'packages/orbit/package.json': manifest('@nebula/orbit', needs('@nebula/core')),
      'packages/orbit/src/index.ts': "import '@nebula/core';",
    });
    expect(found.join()).toContain('orbit has no line in tools/checks/arrows.ts');
  });

  it('enters packages by their exports only', () => {
    expect(problemsWith({ 'packages/core/test/b.test.ts': "import '@nebula/core/src/a.ts';" })).toEqual([
      'packages/core/test/b.test.ts:1 @nebula/core/src/a.ts is not in the exports of @nebula/core',
    ]);
    expect(problemsWith({ 'packages/engine/src/b.ts': "import '../../core/src/a.ts';" })).toEqual([
      'packages/engine/src/b.ts:1 reaches into @nebula/core: import it by its name',
    ]);
    expect(problemsWith({ 'e2e/kill.ts': "import '../packages/core/src/a.ts';" })).toHaveLength(1);
    expect(problemsWith({ 'e2e/kill.ts': "import '../../elsewhere/a.ts';" })).toHaveLength(1);
  });

  it('keeps tests out of sources', () => {
    expect(problemsWith({ 'packages/core/src/b.ts': "import '../test/a.test.ts';" })).toHaveLength(1);
    expect(problemsWith({ 'packages/ports/src/b.ts': "import '../conformance/store.ts';" })).toHaveLength(1);
  });

  it('asks for every npm package to be declared where it is imported', () => {
    expect(problemsWith({ 'packages/engine/src/b.ts': "import 'yaml';" })).toEqual([
      'packages/engine/src/b.ts:1 yaml is not declared in packages/engine/package.json',
    ]);
    expect(problemsWith({ 'packages/core/src/b.ts': "import 'vitest';" })).toHaveLength(1);
    expect(problemsWith({ 'packages/core/test/b.test.ts': "import 'left-pad';" })).toHaveLength(1);
    expect(problemsWith({ 'packages/drivers/src/memory/index.ts': "import { Pool } from 'pg';" })).toHaveLength(1);
    expect(problemsWith({ 'apps/cli/src/main.ts': "import '@nebula/core';" })).toHaveLength(1);
  });

  it('shows the path of an import cycle, once', () => {
    const found = problemsWith({
      'packages/engine/src/a.ts': "import './b.ts';",
      'packages/engine/src/b.ts': "import type { C } from './deep/c.ts';",
      'packages/engine/src/deep/c.ts': "export { a } from '../a.ts';",
    });
    expect(found).toEqual([
      'import cycle: packages/engine/src/a.ts → packages/engine/src/b.ts ─type→ packages/engine/src/deep/c.ts → packages/engine/src/a.ts',
    ]);
  });

  it('finds exports that are not there, and files that cannot be read', () => {
    expect(
      problemsWith({ 'packages/core/package.json': manifest('@nebula/core', { exports: { '.': './no.ts' } }) }).join(),
    ).toContain('which is not a file');
    expect(problemsWith({ 'e2e/kill.ts': 'const = ;' }).join()).toContain('e2e/kill.ts cannot be parsed');
  });
});
