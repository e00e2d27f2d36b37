import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { nebula, projectFolder, startNebula } from './support/nebula-process.ts';

/** Every step leaves a line in a file, so that what was done twice is seen. */
const CONFIG = `
import { appendFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
export default {
  actions: [
    {
      id: 'step',
      version: '1',
      effect: 'idempotent',
      async run(_, { did, ms = 0 }) {
        await setTimeout(ms);
        appendFileSync('done.txt', did + '\\n');
        return did;
      },
    },
  ],
};
`;

const SAGA = `
id: saga
nodes:
  book: { action: step@1, with: { did: book }, compensate: { action: step@1, with: { did: unbook } } }
  items:
    needs: [book]
    forEach: { in: "[1, 2, 3, 4, 5, 6]", parallel: true, maxConcurrency: 2 }
    do:
      nodes:
        nap: { action: core.sleep@1, with: { duration: 300ms } }
        pack:
          needs: [nap]
          action: step@1
          with: { did: "pack{{ $item }}" }
          compensate: { action: step@1, with: { did: "unpack{{ $item }}", ms: 300 } }
  boom: { needs: [items], action: core.fail@1, with: { code: FULL, message: no seats } }
`;

const done = (cwd: string): string[] => readFileSync(path.join(cwd, 'done.txt'), 'utf8').trim().split('\n');

describe('kill -9', () => {
  test('[CLI-117] in the middle of a loop, and again while it is undone', async () => {
    const cwd = projectFolder({ 'saga.yaml': SAGA, 'nebula.config.mjs': CONFIG });
    const first = startNebula(['run', 'saga.yaml'], { cwd });
    await first.until('items/1/pack completed');
    first.child.kill('SIGKILL');
    await first.ended;
    const second = startNebula(['resume'], { cwd });
    await second.until(/undo items\/\d\/pack completed/);
    second.child.kill('SIGKILL');
    await second.ended;
    const { code, stdout } = await nebula(['resume'], { cwd });
    expect(code).toBe(1);
    expect(stdout).toContain('error FULL at boom: no seats');
    const lines = done(cwd);
    // The attempt that ran when the process died is repeated; finished nodes are not.
    const distinct = [...new Set(lines)];
    expect(lines.length - distinct.length).toBeLessThanOrEqual(4);
    expect(distinct.filter((line) => line.startsWith('pack')).sort()).toEqual(
      [1, 2, 3, 4, 5, 6].map((n) => `pack${n}`),
    );
    const undone = distinct.filter((line) => line.startsWith('un'));
    expect(undone.at(-1)).toBe('unbook');
    expect([...undone].sort()).toEqual(['unbook', ...[1, 2, 3, 4, 5, 6].map((n) => `unpack${n}`)]);
    const { stdout: plan } = await nebula(['executions', 'list', '--json'], { cwd });
    const [row] = JSON.parse(plan).items;
    const { stdout: undo } = await nebula(['executions', 'undo-plan', row.executionId, '--json'], { cwd });
    expect(JSON.parse(undo)).toMatchObject({ status: 'failed', toUndo: [] });
    expect(JSON.parse(undo).undone.at(-1)).toBe('book');
  });

  test('[CLI-116] resume ID continues the child executions of the run, at any depth', async () => {
    const child = (id: string, next: string) =>
      `id: ${id}\nnodes: { down: { workflow: { id: ${next}, mode: child } } }\noutput: "{{ $down }}"\n`;
    const cwd = projectFolder({
      'main.yaml': child('main', 'middle'),
      'middle.yaml': child('middle', 'leaf'),
      'leaf.yaml': 'id: leaf\nnodes: { nap: { action: core.sleep@1, with: { duration: 3s } } }\noutput: deep\n',
    });
    const first = startNebula(['run', 'main.yaml'], { cwd });
    await first.until('down workflow middle as');
    const id = /run started.*(exe_\w+)/.exec(first.stdout())?.[1] as string;
    const list = async () => JSON.parse((await nebula(['executions', 'list', '--json'], { cwd })).stdout).items;
    await expect.poll(async () => (await list()).length, { timeout: 20_000 }).toBe(3);
    first.child.kill('SIGKILL');
    await first.ended;
    const { code, stdout, stderr } = await nebula(['resume', id, '--json'], { cwd });
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout).output).toBe('deep');
    expect((await list()).map(({ status }: { status: string }) => status)).toEqual([
      'completed',
      'completed',
      'completed',
    ]);
  });
});
