import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { openProject } from '../src/project.ts';
import { commandWriter } from '../src/report-runs.ts';
import { shellWord } from '../src/views/words.ts';
import { memoryIo } from './support/screen-text.ts';

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'nebula-project-')));
  mkdirSync(path.join(root, 'a/workflows'), { recursive: true });
  mkdirSync(path.join(root, 'b'), { recursive: true });
});

function write(name: string, text: string): void {
  writeFileSync(path.join(root, name), text);
}

const open = (cwd: string, options: Parameters<typeof openProject>[1] = {}, env: Record<string, string> = {}) =>
  openProject(memoryIo({ cwd: path.join(root, cwd), env }), options);

describe('the project', () => {
  test('[CLI-30] the nearest configuration above the workflow, then the data folder, then the current folder', async () => {
    write('a/nebula.config.mjs', 'export default { concurrency: 7 };');
    write('b/nebula.config.mjs', 'export default { concurrency: 9 };');
    expect(await open('a/workflows')).toMatchObject({ dir: path.join(root, 'a'), config: { concurrency: 7 } });
    expect(await open('b', { file: '../a/workflows/x.yaml' })).toMatchObject({ config: { concurrency: 7 } });
    expect(await open('b', { dataDir: '../a/.nebula' })).toMatchObject({ config: { concurrency: 7 } });
    expect(await open('b')).toMatchObject({ config: { concurrency: 9 } });
    expect(await open('b', { file: path.join(root, 'x.yaml') })).toMatchObject({ config: { concurrency: 9 } });
  });

  test('[CLI-590] --data-dir and NEBULA_DATA_DIR find the same configuration', async () => {
    write('a/nebula.config.mjs', 'export default { concurrency: 7 };');
    write('b/nebula.config.mjs', 'export default { concurrency: 9 };');
    const byOption = await open('b', { dataDir: '../a/.nebula' });
    const byVariable = await open('b', {}, { NEBULA_DATA_DIR: '../a/.nebula' });
    expect(byVariable).toEqual({ ...byOption, needsDataDirOption: false });
    expect(byVariable.config).toEqual({ concurrency: 7 });
    expect(await open('b', { dataDir: '.nebula' }, { NEBULA_DATA_DIR: '../a/.nebula' })).toMatchObject({
      config: { concurrency: 9 },
      needsDataDirOption: true,
    });
    expect(await open('b', {}, { NEBULA_DATA_DIR: '' })).toMatchObject({ config: { concurrency: 9 } });
    expect(await open('b', {}, { NEBULA_DATA_DIR: path.join(root, 'elsewhere/.nebula') })).toMatchObject({
      config: { concurrency: 9 },
    });
  });

  test('[CLI-31] where runs are kept', async () => {
    expect((await open('a')).dataDir).toBe(path.join(root, 'a/.nebula'));
    write('a/package.json', '{}');
    expect((await open('a/workflows')).dataDir).toBe(path.join(root, 'a/.nebula'));
    write('a/nebula.config.mjs', "export default { dataDir: 'var/runs' };");
    expect((await open('a/workflows')).dataDir).toBe(path.join(root, 'a/var/runs'));
    expect((await open('a/workflows', {}, { NEBULA_DATA_DIR: 'here' })).dataDir).toBe(
      path.join(root, 'a/workflows/here'),
    );
    expect((await open('a', { dataDir: 'd' }, { NEBULA_DATA_DIR: 'here' })).dataDir).toBe(path.join(root, 'a/d'));
  });

  test('[CLI-32] a configuration that cannot be used names its file', async () => {
    write('a/nebula.config.mjs', 'export default {');
    await expect(open('a')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('nebula.config.mjs'),
    });
    write('b/nebula.config.mjs', 'export const x = 1;');
    await expect(open('b')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      hint: expect.stringContaining('export default'),
    });
    mkdirSync(path.join(root, 'c'));
    write('c/nebula.config.mjs', 'export default { concurency: 1 };');
    await expect(open('c')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      hint: expect.stringContaining('concurrency'),
    });
  });

  test('[CLI-34] printed commands name --data-dir exactly when it is needed', async () => {
    write('a/package.json', '{}');
    write('b/nebula.config.mjs', 'export default {};');
    const command = async (...args: Parameters<typeof open>) =>
      commandWriter({ program: 'nebula', project: await open(...args) }, 'exe_1')('resume');
    expect(await command('a')).toBe('nebula resume exe_1');
    expect(await command('a', { dataDir: '.nebula' })).toBe('nebula resume exe_1');
    expect(await command('a', { dataDir: 'other' })).toBe(
      `nebula resume exe_1 --data-dir ${path.join(root, 'a/other')}`,
    );
    expect(await command('a', { file: '../b/x.yaml' })).toBe(
      `nebula resume exe_1 --data-dir ${path.join(root, 'b/.nebula')}`,
    );
    expect(await command('a', {}, { NEBULA_DATA_DIR: 'env' })).toBe('nebula resume exe_1');
  });

  test('[CLI-34] folders with odd names can be pasted into a shell', () => {
    expect(shellWord('/plain/path-1.x')).toBe('/plain/path-1.x');
    expect(shellWord("/it's here")).toBe("'/it'\\''s here'");
  });
});
