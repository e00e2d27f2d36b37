import { expect, it } from 'vitest';
import { checkInstalled } from '../checks/installed.ts';
import { openRepository } from '../checks/repository.ts';
import { makeWorkspace } from './workspace.ts';

it('reports a package that was added since the last install', () => {
  using workspace = makeWorkspace({ 'packages/canvas/package.json': '{ "name": "@nebula/canvas" }' });
  expect(checkInstalled(workspace.root, openRepository(workspace.root)).problems).toEqual([
    '@nebula/canvas is not in node_modules: run npm install',
  ]);
});
