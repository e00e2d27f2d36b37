/** A write grant must not become authority over the project itself. */
import { existsSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { ReservedFiles } from '../src/compose/reserved-files.ts';
import { nebula, projectFolder, startNebula } from './support/nebula-process.ts';

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
  expect((await write('out/notes.txt')).code).toBe(0);
});

describe('[CLI-431] the folders of workflow files', () => {
  const why = (workflows: readonly string[] | undefined, ...files: string[]) => {
    dir = projectFolder({});
    const reserved = new ReservedFiles({ dir, config: workflows === undefined ? {} : { server: { workflows } } });
    return files.filter((file) => reserved.why(path.resolve(dir as string, file), 'write') !== undefined);
  };

  test('cannot be written, whatever the pattern picks up in them', () => {
    const files = ['workflows/a.txt', 'workflows/.h/a.yaml', 'Workflows/a.yaml', 'a.yaml', 'out/a.json'];
    expect(why(undefined, ...files)).toEqual(files.slice(0, 3));
    const beside = ['main/helper.yaml', 'main/helper.json', 'main/sub/a.txt', 'out/a.json'];
    expect(why(['main/main.yaml'], ...beside)).toEqual(beside.slice(0, 2));
    expect(why(['main/*/main.yaml'], ...beside)).toEqual(beside.slice(0, 3));
    expect(why(['../shared/*.yaml'], '../shared/a.json', '../other/a.json')).toEqual(['../shared/a.json']);
  });

  test('that are the project leave room for other files', () => {
    expect(why(['*.yaml'], 'a.yaml', 'b.json', 'c.txt', 'out/a.yaml')).toEqual(['a.yaml', 'b.json']);
    expect(why(['**/*.yaml'], 'a.yaml', 'out/b.json', 'out/c.txt')).toEqual(['a.yaml', 'out/b.json']);
    expect(why(['{a,b}/*.yaml'], 'a/x.json', 'out/c.txt')).toEqual(['a/x.json']);
  });

  test('are those behind a link, too', () => {
    dir = projectFolder({ 'elsewhere/a.yaml': PEEK, 'data/b.yaml': PEEK, 'workflows/c.yaml': PEEK });
    symlinkSync('../elsewhere', path.join(dir, 'workflows/linked'));
    symlinkSync('../data/b.yaml', path.join(dir, 'workflows/b.yaml'));
    const reserved = new ReservedFiles({ dir, config: { server: { workflows: ['workflows/linked/*.yaml'] } } });
    reserved.setFiles([path.join(dir, 'workflows/b.yaml')]);
    for (const file of ['elsewhere/new.yaml', 'data/b.yaml']) {
      expect(reserved.why(path.join(realpathSync(dir), file), 'write'), file).toBeDefined();
    }
  });
});

test('[CLI-360] the file with the key of secrets is neither read nor written, under any name', () => {
  dir = projectFolder({ 'keys/key': 'the key' });
  symlinkSync('keys', path.join(dir, 'mounted'));
  const reserved = new ReservedFiles({ dir, config: {} }, { NEBULA_SECRETS_KEY_FILE: path.join(dir, 'mounted/key') });
  for (const file of ['keys/key', 'mounted/key']) {
    for (const access of ['read', 'write'] as const) {
      expect(reserved.why(path.join(dir, file), access)).toBe('it is the key of secrets');
    }
  }
});

test('[CLI-431] a server that gets other patterns reserves their folders at once', async () => {
  const config = (folder: string) => `server: { port: 0, workflows: ["${folder}/*.yaml"] }\n`;
  dir = projectFolder({ 'nebula.config.yaml': config('flows'), 'flows/write.yaml': WRITE, 'later/write.yaml': WRITE });
  const cwd = dir;
  const server = startNebula(['serve', '--json'], { cwd });
  const write = async (file: string) => {
    const { stdout } = await nebula(['start', 'write', '--set', `path=${file}`, '--json'], { cwd });
    return (JSON.parse(stdout) as { error: { code: string } | null }).error?.code ?? 'written';
  };
  await server.until('server.started');
  expect(await write('flows/helper.json')).toBe('CAPABILITY_DENIED');
  expect(await write('later/a.json')).toBe('written');
  writeFileSync(path.join(dir, 'nebula.config.yaml'), config('later'));
  await server.until('later/write.yaml');
  expect(await write('later/helper.json')).toBe('CAPABILITY_DENIED');
  server.child.kill('SIGTERM');
  await server.ended;
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
