/** Grants of a workflow file on the machine of the user who runs it. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { say } from './support/served.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'nebula-grants-')));
  writeFileSync(
    path.join(folder, 'who.yaml'),
    'id: who\nconfig: { capabilities: { shell: [id] } }\nnodes: { a: { action: shell.run, with: { program: id, args: [-u] } } }\n',
  );
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = (...argv: string[]) => say(folder, ['run', 'who.yaml', ...argv]);

test('[CLI-322] the first run of a file prints its grants, later runs do not', async () => {
  const first = await run();
  expect([first.code, first.err]).toEqual([0, expect.stringContaining('who is granted on this machine: shell id\n')]);
  expect((await run()).err).not.toContain('granted');
  writeFileSync(path.join(folder, 'who.yaml'), 'id: who\nnodes: { a: { action: core.noop } }\n');
  expect((await run()).err).not.toContain('granted');
});

test('[CLI-323] the configuration sets the ceiling of runs without a server', async () => {
  writeFileSync(path.join(folder, 'nebula.config.yaml'), 'projects: { default: { ceiling: { network: ["*"] } } }\n');
  const denied = await run();
  expect(denied.code).toBe(1);
  expect(denied.err).toContain('who is granted on this machine: nothing\n');
  expect(denied.err).toContain('over the ceiling of the project, and not granted: shell id\n');
  expect(denied.out).toContain('CAPABILITY_DENIED');
  writeFileSync(
    path.join(folder, 'nebula.config.yaml'),
    'projects: { default: { ceiling: {} } }\ncapabilities: { shell: [id] }\n',
  );
  expect((await run('-q')).code).toBe(0);
  writeFileSync(path.join(folder, 'nebula.config.yaml'), 'server: { preset: selfhost }\n');
  expect((await run('-q')).code).toBe(1);
  writeFileSync(path.join(folder, 'nebula.config.yaml'), 'projects: { default: { ceiling: { disk: [x] } } }\n');
  expect((await run('-q')).err).toContain("projects.default.ceiling.disk: unknown key 'disk'");
});

test('[CLI-411] validate warns of capabilities beyond the ceiling', async () => {
  const validate = (...argv: string[]) => say(folder, ['validate', 'who.yaml', ...argv]);
  expect((await validate()).out).not.toContain('OVER_CEILING');
  writeFileSync(path.join(folder, 'nebula.config.yaml'), 'projects: { default: { ceiling: { network: ["*"] } } }\n');
  const warned = await validate();
  expect([warned.code, warned.out]).toEqual([
    0,
    expect.stringMatching(/who\.yaml:2:\d+ .*OVER_CEILING .*'id' in shell/),
  ]);
  expect((await validate('--strict')).code).toBe(2);
  expect((await say(folder, ['projects', 'set', 'default', '--allow', 'shell=id'])).out).toContain(
    'grants at most network * · shell id',
  );
  expect((await validate()).out).not.toContain('OVER_CEILING');
});
