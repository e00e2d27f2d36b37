/** A write grant must not become authority over the project itself. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { nebula, projectFolder } from './support/nebula-process.ts';

const CONFIG = `
import { defineAction, defineConfig } from '@nebula/sdk';
export default defineConfig({
  actions: [
    defineAction({
      id: 'own.peek',
      version: '1',
      effect: 'pure',
      run: () => ({ key: process.env.NEBULA_SECRETS_KEY ?? 'none', next: process.env.NEBULA_SECRETS_NEXT_KEY ?? 'none' }),
    }),
  ],
});
`;

const WRITE = `
id: write
input: { type: object, properties: { path: { type: string } } }
config: { capabilities: { files: { read: ["*"], write: ["*"] } } }
nodes:
  write: { action: file.write@1, with: { path: "{{ $input.path }}", content: "id: planted" } }
`;

const PEEK = `
id: peek
nodes:
  peek: { action: own.peek@1 }
`;

let dir: string | undefined;
afterEach(() => {
  if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
});

test('[CLI-360] neither workflow files, nor the configuration, nor the data folder can be written', async () => {
  dir = projectFolder({ 'nebula.config.ts': CONFIG, 'write.yaml': WRITE, 'workflows/a.yaml': PEEK });
  const write = (file: string) =>
    nebula(['run', 'write.yaml', '--set', `path=${file}`, '--json'], { cwd: dir as string });
  for (const file of ['workflows/planted.yaml', 'workflows/deep/planted.json', 'nebula.config.ts', '.nebula/token']) {
    const { stdout, code } = await write(file);
    expect([file, code]).toEqual([file, 1]);
    expect(stdout).toContain('CAPABILITY_DENIED');
    expect(existsSync(path.join(dir, file)) ? readFileSync(path.join(dir, file), 'utf8') : '').not.toContain('planted');
  }
  expect((await write('workflows/notes.txt')).code).toBe(0);
});

test('[CLI-361] an action does not find the key of secrets in its environment', async () => {
  dir = projectFolder({ 'nebula.config.ts': CONFIG, 'peek.yaml': PEEK });
  const key = Buffer.alloc(32, 7).toString('base64');
  const { stdout } = await nebula(['run', 'peek.yaml', '--json'], {
    cwd: dir,
    env: { NEBULA_SECRETS_KEY: key, NEBULA_SECRETS_NEXT_KEY: key },
  });
  expect(JSON.parse(stdout)).toMatchObject({ output: { peek: { key: 'none', next: 'none' } } });
});
