import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { MemoryProject } from './support/memory-project.ts';

const order = (expression: string, first = 3) => ({
  id: 'order',
  nodes: {
    a: { action: 'core.set', with: { value: { n: first } } },
    b: { needs: ['a'], action: 'note@1', with: { n: `{{ ${expression} }}` } },
  },
});

/** Writes the mended file and returns its path. */
function mended(first?: number): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'mended-')), 'order.json');
  writeFileSync(file, JSON.stringify(order('$a.n', first)));
  return file;
}

async function failed(): Promise<{ project: MemoryProject; id: string }> {
  const project = new MemoryProject();
  const { json } = await project.run(order('$a.wrong'));
  return { project, id: json.executionId };
}

describe('a failed run and a mended file', () => {
  test('[CLI-481] migrate shows the changes, moves the run, and takes it back', async () => {
    const { project, id } = await failed();
    const file = mended();
    const dry = await project.nebula(['executions', 'migrate', id, '--to', file, '--dry-run']);
    expect([dry.code, dry.err]).toEqual([0, '']);
    expect(dry.out).toMatch(/v1 → v2 {2}1 node changed[\s\S]*~ b +with +failed/);
    const moved = await project.nebula(['executions', 'migrate', id]);
    expect(moved.out).toContain(`✓ ${id} is in version 2 now`);
    expect(await project.json('executions', 'show', id)).toMatchObject({ version: 2 });
    const back = await project.nebula(['executions', 'migrate', id, '--back']);
    expect(back.out).toBe(`✓ ${id} is back in version 1\n`);
    expect(project.notes).toEqual([]);
  });

  test('[CLI-481] a missing decision is shown in a table, and decided by an option', async () => {
    const { project, id } = await failed();
    const file = mended(5);
    const said = await project.nebula(['executions', 'migrate', id, '--to', file]);
    expect(said.code).toBe(2);
    expect(said.err).toMatch(/~ a +with +completed +--keep or --again[\s\S]*error DECISION_NEEDED/);
    await project.nebula(['executions', 'migrate', id, '--again', 'a']);
    await project.nebula(['executions', 'retry', id]);
    expect(project.notes).toEqual([{ n: 5 }]);
  });

  test('[CLI-596] a refused dry run has the exit code of the refusal, for one run and for many', async () => {
    const { project, id } = await failed();
    const { json: other } = await project.run(order('$a.wrong'));
    const dry = (...args: string[]) => project.nebula(['executions', 'migrate', ...args, '--dry-run']);
    const same = await dry(id);
    expect([same.code, same.out]).toEqual([2, expect.stringContaining('refused SAME_VERSION')]);
    await project.nebula(['workflows', 'register', mended(5)]);
    const refused = await dry('--workflow', 'order');
    expect(refused.code).toBe(2);
    expect(refused.out).toMatch(new RegExp(`${id} +v1 → v2 +refused +DECISION_NEEDED: `));
    const fine = await dry(id, other.executionId, '--again', 'a');
    expect([fine.code, fine.err]).toEqual([0, '']);
    expect(fine.out).toMatch(new RegExp(`${id} +v1 → v2 +can move +2 nodes changed\n[\\s\\S]*No run was changed`));
    expect(await project.json('executions', 'show', id)).toMatchObject({ version: 1 });
  });

  test('[CLI-597, VIEW-47] the journal, the timeline and the live lines have the decisions of a migration', async () => {
    const { project, id } = await failed();
    await project.nebula(['executions', 'migrate', id, '--to', mended(5), '--again', 'a']);
    const journal = await project.nebula(['executions', 'journal', id]);
    expect(journal.out).toMatch(/run\.migrated .*decisions=again:a/);
    const timeline = await project.nebula(['executions', 'timeline', id, '--events']);
    expect(timeline.out).toMatch(/WorkflowMigrated .*to version 2; decided: again a; a, b run again/);
  });

  test('[CLI-482] retry says that a newer version exists; --latest and --to continue with it', async () => {
    const { project, id } = await failed();
    const file = mended();
    const same = await project.nebula(['executions', 'retry', id, '--latest']);
    expect(same.err).toContain('error SAME_VERSION');
    expect(same.err).toContain('give the changed file: --to FILE');
    await project.nebula(['workflows', 'register', file]);
    const plain = await project.nebula(['executions', 'retry', id]);
    expect(plain.code).toBe(1);
    expect(plain.err).toContain('note the run stays in version 1 of order; version 2 is registered:');
    const latest = await project.nebula(['executions', 'retry', id, '--latest']);
    expect([latest.code, project.notes]).toEqual([0, [{ n: 3 }]]);
  });

  test('[CLI-482] retry --to registers the file', async () => {
    const { project, id } = await failed();
    const file = mended();
    const said = await project.nebula(['executions', 'retry', id, '--to', file]);
    expect([said.code, project.notes]).toEqual([0, [{ n: 3 }]]);
  });

  test('[CLI-483] all failed runs of a version are moved at once', async () => {
    const { project, id } = await failed();
    const { json: other } = await project.run(order('$a.wrong'));
    const file = mended();
    await project.nebula(['workflows', 'register', file]);
    const args = ['executions', 'migrate', '--workflow', 'order', '--from', '1', '--yes'];
    expect((await project.nebula(args)).out).toContain('migrate: 2 runs');
    await project.nebula(['executions', 'retry', id, other.executionId, '--yes']);
    expect(project.notes).toEqual([{ n: 3 }, { n: 3 }]);
    expect((await project.nebula(args)).out).toContain('no run to migrate; 2 matching runs cannot be requested');
  });
});

describe('an edited file and the runs of before', () => {
  test('[CLI-484] test --against-runs tells the first difference of each run, and runs nothing', async () => {
    const { project, id } = await failed();
    const file = mended();
    const same = path.join(path.dirname(file), 'same.json');
    writeFileSync(same, JSON.stringify(order('$a.wrong')));
    const before = await project.nebula(['test', same, '--against-runs']);
    expect([before.code, before.out]).toMatchObject([0, expect.stringContaining(`✓ ${id}  ✗ failed`)]);
    expect(before.out).toContain('order: 1 run, decided as recorded');
    const after = await project.nebula(['test', file, '--against-runs', '5']);
    expect(after.code).toBe(1);
    expect(after.out).toMatch(
      /✗ exe_[\s\S]*frame 2: node.failed of 'b' would be missing[\s\S]*order: 1 run, 1 run would differ/,
    );
    const { out } = await project.nebula(['test', file, '--against-runs', '--json']);
    expect(JSON.parse(out)).toMatchObject({
      passed: false,
      files: [{ workflowId: 'order', runs: [{ executionId: id, same: false, difference: { node: 'b' } }] }],
    });
    expect(project.notes).toEqual([]);
  });

  test('[CLI-484] without a file or with a wrong number it says how to write it', async () => {
    const project = new MemoryProject();
    expect((await project.nebula(['test', '--against-runs'])).err).toContain('needs the workflow files');
    expect((await project.nebula(['test', mended(), '--against-runs', 'x'])).err).toContain(
      'x is not a number of runs',
    );
  });
});
