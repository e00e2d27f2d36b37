import { cpSync, existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectFolder } from './support/nebula-process.ts';
import { Served, say } from './support/served.ts';

const FILES = {
  'add.yaml': `
id: add
nodes:
  big: { action: core.set@1, with: { value: "{{ 'x'.repeat(100000) }}" } }
  ok: { needs: [big], wait: { approval: { title: "Go on?" } } }
  sum: { needs: [ok], action: core.set@1, with: { value: "{{ $big.length + 1 }}" } }
output: "{{ $sum }}"
`,
};

let served: Served;

beforeAll(async () => {
  served = await Served.open(FILES);
});

afterAll(async () => {
  await served.close();
});

const locations = [
  ['at a server', () => ({ cwd: served.cwd, env: { NEBULA_SERVER: served.url } })],
  ['beside a server, on its data folder', () => ({ cwd: served.cwd, env: {} })],
  ['on a data folder', () => ({ cwd: projectFolder(FILES), env: {} })],
] as const;

describe.each(locations)('a backup %s', (name, location) => {
  test('[CLI-603] its help names the check of a backup', async () => {
    expect((await say(projectFolder({}), ['backup', '--help'])).out).toContain('backup verify monday.tar');
  });

  test('[CLI-500, CLI-501, CLI-502] is made, verified and restored, and its runs continue', async () => {
    const { cwd, env } = location();
    const nebula = (...argv: string[]) => say(cwd, argv, { env });
    const { executionId } = JSON.parse((await nebula('run', 'add.yaml', '--json')).out);
    await say(cwd, ['secrets', 'set', 'bank'], { env, stdin: 'a value of a secret' });
    const file = path.join(cwd, `${name}.tar`);
    const made = await nebula('backup', file);
    expect([made.code, made.err]).toEqual([0, '']);
    expect(made.out).toContain('is a complete backup of 20');
    expect(made.out).toContain('running; 1 workflow');
    expect(made.out).toContain('their key is not in the backup');
    expect(readdirSync(cwd).filter((entry) => entry.endsWith('.partial'))).toEqual([]);
    const verified = JSON.parse((await nebula('backup', 'verify', file, '--json')).out);
    expect(verified).toMatchObject({
      manifest: { workflows: 1, key: null, blobs: { count: expect.any(Number) } },
      missing: [],
    });
    const folder = path.join(cwd, `restored ${name}`);
    const restored = await say(cwd, ['restore', file, '--data-dir', folder]);
    expect([restored.code, restored.out]).toEqual([
      0,
      expect.stringContaining('continue when an engine starts here, and not before'),
    ]);
    expect(restored.out).toContain(`nebula resume --data-dir '${folder}'`);
    expect(existsSync(path.join(folder, 'secrets.key'))).toBe(false);
    const there = (...argv: string[]) => say(cwd, [...argv, '--data-dir', folder]);
    const before = JSON.parse((await there('executions', 'show', executionId, '--json')).out);
    expect(before).toMatchObject({ status: 'running', nodes: expect.anything() });
    await there('executions', 'approve', executionId, 'ok', '--by', 'ann');
    const ended = JSON.parse((await there('resume', executionId, '--json')).out);
    expect(JSON.stringify(ended)).toContain('100001');
    const again = await say(cwd, ['restore', file, '--data-dir', folder]);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('DATA_DIR_NOT_EMPTY')]);
  });
});

describe('backups on a data folder', () => {
  let cwd: string;
  let file: string;

  beforeAll(async () => {
    cwd = projectFolder(FILES);
    await say(cwd, ['run', 'add.yaml', '--json']);
    await say(cwd, ['secrets', 'set', 'bank'], { stdin: 'a value of a secret' });
    file = path.join(cwd, 'good.tar');
    await say(cwd, ['backup', 'good.tar']);
  });

  test('[CLI-503] with --with-key the restored secrets can be opened, and the command says what that means', async () => {
    const made = await say(cwd, ['backup', 'key.tar', '--with-key']);
    expect(made.out).toContain('anyone who has this file has the secrets');
    await say(cwd, ['restore', 'key.tar', '--data-dir', 'keyed']);
    expect(readFileSync(path.join(cwd, 'keyed/secrets.key'), 'utf8')).toBe(
      readFileSync(path.join(cwd, '.nebula/secrets.key'), 'utf8'),
    );
    const refused = await served.nebula(['backup', 'key.tar', '--with-key']);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('not sent over HTTP')]);
  });

  test('[CLI-504] a folder as target gives the file a name of its time; nothing is overwritten', async () => {
    const made = await say(cwd, ['backup', '.', '--json']);
    expect(path.basename(JSON.parse(made.out).file)).toMatch(/^nebula-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.tar$/);
    for (const target of ['good.tar', 'nowhere/']) {
      const refused = await say(cwd, ['backup', target]);
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('error USAGE')]);
    }
    const nowhere = await say(cwd, ['backup', 'nowhere/b.tar']);
    expect([nowhere.code, nowhere.err]).toEqual([2, expect.stringContaining('cannot be written')]);
    const none = await say(projectFolder({}), ['backup', 'b.tar']);
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('DATA_DIR_MISSING')]);
  });

  test('[CLI-505] bad input is refused with its own code, and a failed restore leaves nothing', async () => {
    const cut = path.join(cwd, 'cut.tar');
    cpSync(file, cut);
    truncateSync(cut, 20_000);
    writeFileSync(path.join(cwd, 'empty.tar'), '');
    const cases = [
      ['cut.tar', 'BACKUP_INCOMPLETE'],
      ['empty.tar', 'BACKUP_INVALID'],
      ['add.yaml', 'BACKUP_INVALID'],
      ['.nebula/nebula.db', 'BACKUP_INVALID'],
      ['nowhere.tar', 'BACKUP_INVALID'],
      ['.', 'BACKUP_INVALID'],
    ] as const;
    for (const [input, code] of cases) {
      for (const words of [
        ['backup', 'verify', input],
        ['restore', input, '--data-dir', 'broken'],
      ]) {
        const refused = await say(cwd, words);
        expect([refused.code, refused.err], input).toEqual([2, expect.stringContaining(`error ${code}`)]);
      }
      expect(existsSync(path.join(cwd, 'broken')), input).toBe(false);
    }
  });

  test('[CLI-505] a backup of a newer schema is refused', async () => {
    const newer = projectFolder(FILES);
    cpSync(path.join(cwd, '.nebula'), path.join(newer, '.nebula'), { recursive: true });
    await say(newer, ['backup', 'old.tar']);
    const tar = readFileSync(path.join(newer, 'old.tar'));
    // The schema version is at byte 60 of the database, which is the second file. The hash is made to fit.
    const { createHash } = await import('node:crypto');
    const manifest = JSON.parse(String(tar).slice(String(tar).lastIndexOf('{\n  "product"')).split('\0')[0] ?? '');
    const at = 512 + 512 + 512;
    tar.writeUInt32BE(99, at + 60);
    const sha256 = createHash('sha256')
      .update(tar.subarray(at, at + manifest.database.bytes))
      .digest('hex');
    const from = tar.lastIndexOf(manifest.database.sha256);
    tar.write(sha256, from);
    writeFileSync(path.join(newer, 'newer.tar'), tar);
    const refused = await say(newer, ['restore', 'newer.tar', '--data-dir', 'there']);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('error STORE_TOO_NEW')]);
    expect(existsSync(path.join(newer, 'there'))).toBe(false);
  });

  test('[CLI-506] a value that is gone already is named, and the backup is kept', async () => {
    const damaged = projectFolder(FILES);
    cpSync(path.join(cwd, '.nebula'), path.join(damaged, '.nebula'), { recursive: true });
    const [run = ''] = readdirSync(path.join(damaged, '.nebula/blobs'));
    const [blob = ''] = readdirSync(path.join(damaged, '.nebula/blobs', run));
    writeFileSync(path.join(damaged, '.nebula/blobs', run, blob), 'other');
    const made = await say(damaged, ['backup', 'b.tar']);
    expect([made.code, made.out]).toEqual([1, expect.stringContaining(`${run} ${blob}`)]);
    expect((await say(damaged, ['backup', 'verify', 'b.tar'])).code).toBe(1);
    const restored = await say(damaged, ['restore', 'b.tar', '--data-dir', 'there']);
    expect([restored.code, restored.out]).toEqual([0, expect.stringContaining('BLOB_MISSING')]);
  });

  test('[CLI-507] no engine starts on an interrupted restore', async () => {
    const folder = path.join(cwd, 'interrupted');
    await say(cwd, ['restore', 'good.tar', '--data-dir', folder]);
    // As a restore leaves it that is killed before the database gets its name.
    cpSync(path.join(folder, 'nebula.db'), path.join(folder, 'nebula.db.restoring'));
    writeFileSync(path.join(folder, 'nebula.db'), '');
    const refused = await say(cwd, ['resume', '--data-dir', folder]);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('STORE_EMPTY')]);
    const again = await say(cwd, ['restore', 'good.tar', '--data-dir', folder]);
    expect(again.err).toContain('has an interrupted restore');
  });
});
