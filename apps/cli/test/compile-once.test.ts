/** A file is compiled once, by the check that comes before the data folder is opened. */
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { OperationId } from '@nebula/client/contract';
import { announcedAction, NebulaError } from '@nebula/core';
import { describe, expect, test } from 'vitest';
import { composeServices } from '../src/compose/services.ts';
import { WorkflowFiles } from '../src/serve/workflow-files.ts';
import { projectFolder } from './support/nebula-process.ts';
import { memoryIo } from './support/screen-text.ts';
import { say } from './support/served.ts';

/** Compiling a node that runs `counted` reads the credentials of its action once. */
const FILES = {
  'compiled.mjs': 'export const compiled = { nodes: 0 };\n',
  'nebula.config.mjs': `import { compiled } from './compiled.mjs';
const counted = { id: 'counted', version: '1', effect: 'pure', run: () => null };
Object.defineProperty(counted, 'credentials', { enumerable: true, get() { compiled.nodes++; } });
export default { actions: [counted] };
`,
  'small.yaml': 'id: small\nconfig: { capabilities: { shell: [id] } }\nnodes: { a: { action: counted } }\n',
  'large.yaml': `id: large\ndescription: ${'long '.repeat(5_000)}\nnodes: { a: { action: counted } }\n`,
  'wrong.yaml': 'id: wrong\nnodes: { a: { action: counted, with: "{{ $nodes.b.output }}" } }\n',
};

async function counterIn(cwd: string): Promise<{ nodes: number }> {
  return (await import(pathToFileURL(path.join(cwd, 'compiled.mjs')).href)).compiled;
}

/** How many nodes the command compiles. */
async function compiledBy(cwd: string, ...argv: string[]): Promise<number> {
  const counter = await counterIn(cwd);
  counter.nodes = 0;
  expect(await say(cwd, argv)).toMatchObject({ code: 0 });
  return counter.nodes;
}

describe('one compilation', () => {
  test('[CLI-450] run compiles a file once, whatever its size', async () => {
    const cwd = projectFolder(FILES);
    expect(await compiledBy(cwd, 'validate', 'small.yaml')).toBe(1);
    // The first run asks for the grants, registers and starts.
    expect(await compiledBy(cwd, 'run', 'small.yaml')).toBe(1);
    expect(await compiledBy(cwd, 'run', 'small.yaml', '--quiet')).toBe(1);
    expect(await compiledBy(cwd, 'run', 'large.yaml', '--quiet')).toBe(1);
  });

  test('[CLI-450] a file with errors is compiled once, and no data folder is created', async () => {
    const cwd = projectFolder(FILES);
    const counter = await counterIn(cwd);
    const { code, err } = await say(cwd, ['run', 'wrong.yaml']);
    expect([code, err, counter.nodes]).toEqual([2, expect.stringContaining('wrong.yaml has 1 error'), 1]);
    expect(existsSync(path.join(cwd, '.nebula'))).toBe(false);
  });

  test('[CLI-624] a workflow that cannot be deactivated is tried again', async () => {
    const cwd = projectFolder(FILES);
    const io = memoryIo({ cwd, env: {} });
    const services = composeServices(io);
    const project = await services.openProject({});
    const server = await services.openServer(project, { port: 0, onLog: () => undefined, onRequest: () => undefined });
    try {
      let failures = 1;
      const api = Object.create(server.api) as typeof server.api;
      const call = (operation: OperationId, input?: object): Promise<unknown> => {
        if (operation === 'deactivateWorkflow' && failures-- > 0)
          return Promise.reject(new NebulaError('STORE_BUSY', 'the store is busy'));
        return server.api.call(operation, input as never);
      };
      Object.defineProperty(api, 'call', { value: call });
      const context = { io, services: { ...services, checks: async () => server.engine.checks }, program: 'nebula' };
      const files = new WorkflowFiles(context, project, { api, origins: server.origins }, io.out.colors);
      await files.registerChanged(['small.yaml']);
      rmSync(path.join(cwd, 'small.yaml'));
      expect(await files.registerChanged(['small.yaml'])).toMatchObject([
        {
          kind: 'broken',
          file: 'small.yaml',
          message: 'it was removed, and small cannot be deactivated: the store is busy',
        },
      ]);
      expect(await files.registerChanged(['small.yaml'])).toMatchObject([
        { kind: 'gone', file: 'small.yaml', workflowId: 'small', isDeactivated: true },
      ]);
      expect(await files.registerChanged(['small.yaml'])).toEqual([]);
    } finally {
      await server.close();
    }
  });

  test('[CLI-450] serve compiles a file once, and once more when actions were announced', async () => {
    const cwd = projectFolder(FILES);
    const counter = await counterIn(cwd);
    const io = memoryIo({ cwd, env: {} });
    const services = composeServices(io);
    const project = await services.openProject({});
    const server = await services.openServer(project, { port: 0, onLog: () => undefined, onRequest: () => undefined });
    try {
      const context = { io, services: { ...services, checks: async () => server.engine.checks }, program: 'nebula' };
      const files = new WorkflowFiles(context, project, server, io.out.colors);
      await files.registerChanged(['small.yaml']);
      await files.registerChanged(['small.yaml']);
      await server.api.call('startExecution', { body: { workflowId: 'small' } });
      expect(counter.nodes).toBe(1);
      server.engine.announce([announcedAction({ id: 'far', version: '1' })]);
      await files.registerChanged(['small.yaml']);
      expect(counter.nodes).toBe(2);
    } finally {
      await server.close();
    }
  });
});
