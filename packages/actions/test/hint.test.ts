/** The hint of a refusal can be pasted into the workflow. */
import type { Action, Json } from '@nebula/core';
import { ActionError, defineAction } from '@nebula/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { fileRead, fileWrite, httpRequest, shellRun } from '../src/index.ts';
import { openProject, type Project } from './running.ts';

let project: Project;
beforeEach(async () => {
  project = await openProject();
});
afterEach(() => project.close());

const url = (address: string, entry: string) => [httpRequest, { url: address }, { network: [entry] }] as const;
const read = (path: string) => [fileRead, { path }, { files: { read: [path] } }] as const;
const program = (name: string) => [shellRun, { program: name }, { shell: [name] }] as const;

const refused: (readonly [action: Action, input: Json, capabilities: Json])[] = [
  url('https://api.example.com/x', 'api.example.com'),
  url('http://localhost:8080/', 'localhost:8080'),
  url('http://[::1]:99/', '[::1]:99'),
  url('https://10.0.0.1/', '10.0.0.1'),
  read('data/in.csv'),
  read('with space.txt'),
  read('*.txt'),
  read('-x'),
  read('true'),
  read('12'),
  read('a: b'),
  read('#a'),
  [fileWrite, { path: 'out/x', content: '' }, { files: { write: ['out/x'] } }],
  program('git'),
  program('./build.sh'),
  [shellRun, { command: 'ls' }, { shell: ['sh'] }],
];

test('[SDK-58] an ActionError names its parameter, and so does the error of the run', async () => {
  for (const parameter of ['url', ['items', 0, 'sku']]) {
    const action = defineAction({
      id: 'my.picky',
      version: '1',
      effect: 'pure',
      async run() {
        throw new ActionError('no', { parameter, details: { card: 1 } });
      },
    });
    expect(await project.error(action, {})).toMatchObject({ details: { card: 1, parameter } });
  }
});

test.each(refused.map(([action, input, capabilities]) => ({ id: action.id, action, input, capabilities })))(
  '[SBX-21] the hint for $id $input is the YAML that grants it',
  async ({ action, input, capabilities }) => {
    const { code, message } = await project.error(action, input, { granted: {} });
    expect(code).toBe('CAPABILITY_DENIED');
    expect(parse(message.slice(message.indexOf('config:')))).toEqual({ config: { capabilities } });
  },
);
