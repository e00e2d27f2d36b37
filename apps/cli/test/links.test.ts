import { describe, expect, test } from 'vitest';
import { MemoryProject } from './support/memory-project.ts';

const CHILD = { id: 'inner', nodes: { w: { wait: { signal: 'go' } } } };
const MAIN = { id: 'main', nodes: { out: { workflow: { id: 'inner', mode: 'child' } } } };
/** `use` holds the key until it gets a signal. */
const KEYED = {
  id: 'keyed',
  nodes: {
    use: {
      concurrency: { key: 'bank', limit: 1 },
      forEach: { in: [1] },
      do: { nodes: { w: { wait: { signal: 'go' } } } },
    },
  },
};

interface Listed {
  readonly executionId: string;
  readonly parked: boolean;
}

describe('runs that wait for others', () => {
  test('[CLI-216, CLI-217] for an execution of their own', async () => {
    const project = new MemoryProject();
    await project.run(CHILD);
    const { json, code } = await project.run(MAIN);
    expect(code).toBe(4);
    const [child] = json.children ?? [];
    expect(child).toMatchObject({ node: 'out', workflowId: 'inner', status: 'running' });
    const childId = child?.executionId as string;
    const { items: executions } = JSON.parse((await project.nebula(['executions', 'list', '--json'])).out);
    const row = (id: string) => executions.find((one: { executionId: string }) => one.executionId === id);
    expect(row(json.executionId)).toMatchObject({
      parked: true,
      waits: [{ node: 'out', text: `for ${childId}`, executionId: childId }],
    });
    expect(row(childId)).toMatchObject({ parked: true, waits: [{ node: 'w', text: 'for signal go' }] });
    const { out } = await project.nebula(['executions', 'explain', json.executionId]);
    expect(out).toContain(`runs  out → inner  ${childId}  ● running`);
    expect((await project.nebula(['executions', 'explain', childId])).out).toContain(
      `for   out of  ${json.executionId}`,
    );
    expect(await project.json('executions', 'explain', json.executionId, 'out')).toMatchObject({
      children: [{ node: 'out', executionId: childId, status: 'running' }],
    });
    expect(await project.json('resume', childId)).toMatchObject({
      parent: { executionId: json.executionId, node: 'out' },
    });
  });

  test('[CLI-216, CLI-218] for a permit that another run holds', async () => {
    const project = new MemoryProject();
    const holder = (await project.run(KEYED)).json.executionId;
    await project.besideEngine(async (engine) => {
      const waits = await engine.start('keyed', 1);
      const last = await engine.start('keyed', 1);
      await expect.poll(async () => (await engine.document(last))?.nodes.use?.status).toBe('waiting');
      const said = await project.nebula(['executions', 'explain', last]);
      expect(said.out.replace(/\s+/g, ' ')).toMatch(
        new RegExp(`use: It is held by use of ${holder} \\(for [^)]+\\); 1 other waits before it\\.`),
      );
      expect(await project.json('executions', 'explain', waits, 'use')).toMatchObject({
        causes: [
          { code: 'concurrency', value: { key: 'bank', limit: 1 } },
          {
            code: 'held-by',
            link: { executionId: holder, node: 'use' },
            value: { before: 0, since: expect.any(Number) },
          },
        ],
      });
      const list = await project.nebula(['executions', 'list']);
      expect(list.out).toMatch(
        new RegExp(`${waits} +● running .*\n +↳ use waits for a permit of bank \\(limit 1\\)\n`),
      );
      expect(list.out).toMatch(new RegExp(`${holder} +⏸ parked .*\n +↳ use/0/w waits for signal go\n`));
      expect((await project.nebula(['executions', 'show', waits])).out).toContain(
        'waits for a permit of bank (limit 1)',
      );
    });
  });

  test('[CLI-410] a run that its own time limit ends within a minute is not parked', async () => {
    const project = new MemoryProject();
    // `run` would wait for its end, so an engine beside the commands starts the runs that wait.
    const flow = (id: string, timeout: string) =>
      project.run({ id, nodes: { w: { when: '$input.hold', wait: { signal: 'go' } } }, config: { timeout } });
    await flow('near', '40s');
    await flow('far', '2m');
    await project.besideEngine(async (engine) => {
      const start = (id: string) => engine.start(id, 1, { input: { hold: true } });
      const [near, far] = [await start('near'), await start('far')];
      for (const id of [near, far])
        await expect.poll(async () => (await engine.document(id))?.nodes.w?.status).toBe('waiting');
      const { items } = JSON.parse((await project.nebula(['executions', 'list', '--json'])).out);
      const parked = new Map(items.map((one: Listed) => [one.executionId, one.parked]));
      expect([parked.get(near), parked.get(far)]).toEqual([false, true]);
      expect([await engine.isQuiescent(near), await engine.isQuiescent(far)]).toEqual([false, true]);
    });
  });

  test('[CLI-225] a run that waits for a permit that is never released is parked, and names the holder', async () => {
    const project = new MemoryProject();
    const holder = (await project.run(KEYED)).json.executionId;
    const { code, err, json } = await project.run(KEYED);
    expect(code).toBe(4);
    expect(err.replace(/\s+/g, ' ')).toMatch(
      new RegExp(
        `use It has waited for \\S+ for a permit of bank \\(limit 1\\)\\. It is held by use of ${holder} \\(for [^)]+\\)\\.`,
      ),
    );
    await project.nebula(['executions', 'signal', holder, 'go']);
    await project.nebula(['executions', 'signal', json.executionId, 'go']);
    const all = await project.nebula(['resume', '-q']);
    expect([all.code, all.out]).toEqual([0, expect.stringContaining('2 runs continued: 2 completed')]);
  });

  test('[CLI-225] places that change hands do not make a run parked', async () => {
    const project = new MemoryProject();
    const items = { in: '{{ range(0, 40) }}', parallel: true, maxConcurrency: 40 };
    const body = {
      nodes: { n: { action: 'note@1', with: { n: '{{ $item }}' }, concurrency: { key: 'one', limit: 1 } } },
    };
    const { code, err } = await project.run({ id: 'many', nodes: { all: { forEach: items, do: body } } });
    expect(code, err).toBe(0);
    expect(project.notes).toHaveLength(40);
  });
});
