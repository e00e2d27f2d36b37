import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { MemoryProject } from './support/memory-project.ts';
import { nebula, projectFolder, startNebula } from './support/nebula-process.ts';

const ORDER = {
  id: 'order',
  nodes: {
    fetch: { action: 'note@1', with: { total: '{{ $input.total }}' } },
    charge: { needs: ['fetch'], action: 'note@1', with: { amount: '{{ $fetch.total }}' } },
    ship: { needs: ['charge'], action: 'note@1', with: { paid: '{{ $charge.amount }}' } },
    mend: { action: 'note@1', with: { error: '{{ $nodes.charge.error.code }}' } },
  },
  edges: [{ from: 'charge', to: 'mend', on: 'error' }],
};

/** `note` returns its input. */
async function tried(project: MemoryProject, ...more: string[]) {
  const said = await project.nebula(['try', '-', '--json', ...more], { stdin: JSON.stringify(ORDER) });
  return { ...said, json: JSON.parse(said.out === '' ? '{}' : said.out) };
}

describe('nebula try', () => {
  test('[CLI-750] runs a part of a file with pins, and registers nothing', async () => {
    const project = new MemoryProject();
    const { code, json } = await tried(project, '--until', 'charge', '--pin', 'fetch={"total": 7}');
    expect([code, json.status, project.notes]).toEqual([0, 'completed', [{ amount: 7 }]]);
    expect(json).toMatchObject({ version: 0, trigger: { type: 'test', until: 'charge', pins: ['fetch'] } });
    expect(json.nodes.ship).toMatchObject({ status: 'skipped', skipped: 'test' });
    expect(await project.json('workflows', 'list')).toMatchObject({ items: [] });
    expect((await project.nebula(['executions', 'show', json.executionId])).out).toContain('order test · completed');
    expect((await project.nebula(['executions', 'list'])).out).toMatch(/order test +test/);
    const why = await project.nebula(['executions', 'explain', json.executionId, 'ship']);
    expect(why.out).toContain('it takes no part in this test run');
  });

  test('[CLI-750] takes the results of another run', async () => {
    const project = new MemoryProject();
    const { json } = await tried(project, '--set', 'total=3');
    project.notes.length = 0;
    const again = await tried(project, '--only', 'ship', '--from', json.executionId);
    expect([again.code, again.json.status, project.notes]).toEqual([0, 'completed', [{ paid: 3 }]]);
  });

  test('[CLI-751] pins errors, and reads pins from a file', async () => {
    const project = new MemoryProject(projectFolder({ 'pins.json': '{"fetch": {"output": {"total": 1}}}' }));
    const { json } = await tried(project, '--pins', '@pins.json', '--pin-error', 'charge=NO_FUNDS: too poor');
    expect(json.nodes.charge.error).toMatchObject({ code: 'NO_FUNDS', message: 'too poor' });
    expect(project.notes).toEqual([{ error: 'NO_FUNDS' }]);
  });

  test('[CLI-752] a mistake is named, with a suggestion', async () => {
    const project = new MemoryProject();
    const unknown = await tried(project, '--pin', 'chrage=1');
    expect(unknown.code).not.toBe(0);
    expect(unknown.json).toMatchObject({ error: { code: 'TEST_INVALID', hint: "Did you mean 'charge'?" } });
    const missing = await project.nebula(['try', '-', '--only', 'ship'], { stdin: JSON.stringify(ORDER) });
    expect(missing.err).toContain("'ship' alone needs the outputs of 'charge', 'fetch'");
    for (const bad of [
      ['--pin', 'x'],
      ['--pin-error', '=y'],
      ['--pins', '[]'],
    ]) {
      const said = await project.nebula(['try', '-', ...bad], { stdin: JSON.stringify(ORDER) });
      expect([said.code, said.err.split('\n')[0]]).toEqual([2, expect.stringContaining(bad[0] as string)]);
    }
    expect(project.notes).toEqual([]);
  });

  test('[CLI-753] survives kill -9, and continues with its pins', async () => {
    const cwd = projectFolder({
      'nap.yaml': [
        'id: nap',
        'nodes:',
        '  first: { action: core.fail }',
        '  nap: { needs: first, action: core.sleep@1, with: { duration: 500ms } }',
        '  last: { needs: nap, action: core.set, with: { value: "{{ $first.n }}" } }',
        '  after: { needs: last, action: core.fail }',
      ].join('\n'),
    });
    const first = startNebula(['try', 'nap.yaml', '--until', 'last', '--pin', 'first={"n": 7}'], { cwd });
    await first.until('nap started');
    first.child.kill('SIGKILL');
    await first.ended;
    const { code, stdout } = await nebula(['resume', '--json'], { cwd });
    expect(code, stdout).toBe(0);
    const { items } = JSON.parse(stdout) as { items: { status: string; output: unknown }[] };
    expect(items.map(({ status, output }) => [status, output])).toEqual([['completed', 7]]);
  });
});

describe('before a change', () => {
  test('[CLI-754] outputs lists what a run gave; rehearse says what an edit would change', async () => {
    const cwd = projectFolder({ 'order.json': JSON.stringify(ORDER) });
    const project = new MemoryProject(cwd);
    const file = path.join(cwd, 'order.json');
    const run = JSON.parse((await project.nebula(['run', file, '--set', 'total=3', '--json'])).out);
    const outputs = await project.nebula(['executions', 'outputs', run.executionId]);
    expect(outputs.out).toMatch(/NODE +STATUS +OUTPUT\nfetch +completed/);
    expect(await project.json('executions', 'outputs', run.executionId)).toMatchObject({
      items: [{ node: 'fetch' }, {}, {}, {}],
    });
    const same = await project.nebula(['workflows', 'rehearse', file]);
    expect([same.code, same.out]).toEqual([0, expect.stringContaining('1 run: 1 same, 0 would differ')]);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('"amount":"{{ $fetch.total }}"', '"amount":"{{ $fetch.total }}","extra":1'));
    project.notes.length = 0;
    const differs = await project.nebula(['workflows', 'rehearse', file]);
    expect(differs.code).toBe(1);
    expect(differs.out).toMatch(/✗ exe_\w+[\s\S]+'charge' would get another input/);
    expect(project.notes).toEqual([]);
    expect((await project.nebula(['executions', 'outputs', 'exe_none'])).err).toContain('UNKNOWN_EXECUTION');
  });
});
