/** Commands about workflows that people edit, at a server and on a data folder. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectFolder } from './support/nebula-process.ts';
import { Served, say } from './support/served.ts';

const TEXT = '# mine\nid: add\nname: Sum of two\nnodes: { sum: { action: core.set@1, with: { value: 1 } } } # why\n';
const FILES = { 'add.yaml': TEXT, 'other.yaml': 'id: other\nnodes: { a: { action: core.noop@1 } }\n' };

let served: Served;
beforeAll(async () => {
  served = await Served.open(FILES);
});
afterAll(() => served.close());

const locations = [
  ['at a server', () => ({ cwd: served.cwd, env: { NEBULA_SERVER: served.url } })],
  ['on a data folder', () => ({ cwd: projectFolder(FILES), env: {} })],
] as const;

describe.each(locations)('workflows %s', (_, location) => {
  test('[CLI-700, CLI-706] texts are stored, printed and compared', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    await nebula('workflows', 'register', 'add.yaml', 'other.yaml');
    expect(await nebula('workflows', 'show', 'add', '--source')).toEqual({ code: 0, out: TEXT, err: '' });
    const source = JSON.parse((await nebula('workflows', 'show', 'add', '--source', '--json')).out);
    expect(source).toEqual({ text: TEXT, format: 'yaml', filename: 'add.yaml' });
    expect((await nebula('workflows', 'compare', 'add.yaml')).out).toBe('add.yaml and v1 of add are equal\n');
    writeFileSync(
      path.join(cwd, 'changed.yaml'),
      'id: add\nnodes: { total: { action: core.set@1, with: { value: 1 } }, last: { needs: [total], action: core.noop@1 } }\n',
    );
    expect((await nebula('workflows', 'compare', 'changed.yaml', 'v1')).out).toBe(
      '~ name\n~ node total (was sum)\n+ node last\n+ edge total → last\n',
    );
    writeFileSync(path.join(cwd, 'unknown.yaml'), 'id: nothing\nnodes: { a: { action: core.noop@1 } }\n');
    expect(await nebula('workflows', 'compare', 'unknown.yaml')).toMatchObject({ code: 2 });
    expect((await nebula('workflows', 'layout', 'add')).out).toBe('no node of add was moved by hand\n');
    expect((await nebula('workflows', 'layout', 'add', '--reset')).out).toContain('automatic again');
  });

  test('[CLI-705] archived workflows are hidden until they are back', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    const ids = async (...more: string[]): Promise<string[]> =>
      JSON.parse((await nebula('workflows', 'list', '--json', ...more)).out).items.map(
        (one: { workflowId: string }) => one.workflowId,
      );
    await nebula('workflows', 'register', 'add.yaml', 'other.yaml');
    expect(await ids('--search', 'SUM of')).toEqual(['add']);
    expect((await nebula('workflows', 'archive', 'add')).out).toBe('✓ add is archived; open runs continue\n');
    expect([await ids(), await ids('--archived')]).toEqual([['other'], ['add']]);
    expect((await nebula('workflows', 'show', 'add')).out).toContain('archived');
    expect((await nebula('workflows', 'unarchive', 'add')).out).toBe('✓ add is back; it is not active\n');
    expect(await ids()).toEqual(['add', 'other']);
    expect((await nebula('workflows', 'archive', 'ad')).err).toContain('UNKNOWN_WORKFLOW');
  });

  test('[CLI-707] drafts are saved, listed, printed and removed', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    await nebula('run', 'other.yaml');
    expect((await nebula('drafts', 'list')).out).toBe('you have no drafts here\n');
    expect((await nebula('drafts', 'save', 'idea', 'add.yaml')).out).toBe('✓ saved your draft of idea\n');
    expect((await nebula('drafts', 'list')).out).toMatch(/idea +nothing +yaml/);
    expect((await nebula('drafts', 'show', 'idea')).out).toBe(TEXT);
    expect((await nebula('drafts', 'remove', 'idea')).out).toBe('✓ your draft of idea is gone\n');
    expect(await nebula('drafts', 'show', 'idea')).toMatchObject({
      code: 2,
      err: expect.stringContaining('UNKNOWN_DRAFT'),
    });
  });
});
