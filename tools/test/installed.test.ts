import { expect, it } from 'vitest';
import { checkInstalled } from '../checks/installed.ts';
import { openRepository } from '../checks/repository.ts';
import { makeWorkspace } from './workspace.ts';

it('reports a package that was added since the last install', () => {
  using workspace = makeWorkspace({ 'packages/orbit/package.json': '{ "name": "@nebula/orbit" }' });
  expect(checkInstalled(workspace.root, openRepository(workspace.root)).problems).toEqual([
    '@nebula/orbit is not in node_modules: run npm install',
  ]);
});
