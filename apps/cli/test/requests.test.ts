import { describe, expect, test } from 'vitest';
import { MemoryProject } from './support/memory-project.ts';
import { memoryOutput } from './support/screen-text.ts';

const SIGNAL = {
  id: 'sig',
  nodes: { w: { wait: { signal: 'go', key: 'k' } }, after: { action: 'note@1', with: { n: 1 }, needs: ['w'] } },
};
const BESIDE = { id: 'two', nodes: { a: { wait: { signal: 'go' } }, b: { wait: { signal: 'stop' } } } };

describe('the engine that acts on a request', () => {
  test('[CLI-214] without an engine, cancel stops and undoes the run in this process', async () => {
    const project = new MemoryProject();
    const { json } = await project.run({
      id: 'saga',
      nodes: {
        book: { action: 'note@1', with: { did: 1 }, compensate: { action: 'note@1', with: { undid: 1 } } },
        ok: { needs: ['book'], wait: { signal: 'go' } },
      },
    });
    const said = await project.nebula(['executions', 'cancel', json.executionId]);
    expect([said.code, said.out]).toEqual([0, `⊗ cancelled  ${json.executionId}\n`]);
    expect(project.notes).toEqual([{ did: 1 }, { undid: 1 }]);
  });

  test('[CLI-214] several runs are cancelled here, and counted', async () => {
    const project = new MemoryProject();
    for (let at = 0; at < 2; at++) await project.run(SIGNAL);
    const said = await project.nebula(['executions', 'cancel', '--workflow', 'sig', '--yes']);
    expect([said.code, said.out]).toEqual([0, '2 runs: 2 cancelled\n']);
  });

  test('[CLI-214] without an engine, pause takes effect at once, and nothing else happens', async () => {
    const project = new MemoryProject();
    const { json } = await project.run(SIGNAL);
    await project.nebula(['executions', 'signal', json.executionId, 'other']);
    const said = await project.nebula(['executions', 'pause', json.executionId]);
    expect(said.out).toContain(`⏸ paused  ${json.executionId}`);
    expect((await project.json('executions', 'show', json.executionId)).status).toBe('paused');
    expect(project.notes).toEqual([]);
  });

  test('[CLI-214] without an engine, resume continues the run here, to its end; --no-run only records the request', async () => {
    const project = new MemoryProject();
    const { json } = await project.run(SIGNAL);
    await project.nebula(['executions', 'pause', json.executionId]);
    await project.nebula(['executions', 'signal', json.executionId, 'go', '--key', 'k']);
    const left = await project.nebula(['executions', 'resume', json.executionId, '--no-run']);
    expect(left.out).toContain(`Request for ${json.executionId} recorded`);
    expect(project.notes).toEqual([]);
    const said = await project.nebula(['executions', 'resume', json.executionId]);
    expect(said.code, said.err).toBe(0);
    expect(project.notes).toEqual([{ n: 1 }]);
  });

  test('[CLI-214] beside an engine, that one acts', async () => {
    const project = new MemoryProject();
    const { json } = await project.run(SIGNAL);
    await project.besideEngine(async () => {
      const said = await project.nebula(['executions', 'cancel', json.executionId, '--json']);
      expect(JSON.parse(said.out)).toEqual({ executionId: json.executionId, requested: true, status: 'cancelled' });
    });
  });

  test('[CLI-210] cancel --node cancels one node, and the run continues', async () => {
    const project = new MemoryProject();
    const { json } = await project.run(BESIDE);
    const id = json.executionId;
    const wrong = await project.nebula(['executions', 'cancel', id, '--node', 'c']);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('error UNKNOWN_NODE')]);
    const said = await project.nebula(['executions', 'cancel', id, '--node', 'a', '--json']);
    expect(said.code).toBe(4);
    expect(JSON.parse(said.out)).toMatchObject({
      status: 'running',
      nodes: { a: { status: 'cancelled' }, b: { status: 'waiting' } },
    });
    await project.besideEngine(async () => {
      const beside = await project.nebula(['executions', 'cancel', id, '--node', 'b']);
      expect(beside.out).toContain(`Request for ${id} recorded`);
    });
  });

  test('[CLI-215] a fork beside an engine is refused, with an alternative', async () => {
    const project = new MemoryProject();
    const { json } = await project.run({ id: 'w', nodes: { a: { action: 'note@1', with: { n: 1 } } } });
    await project.besideEngine(async () => {
      const said = await project.nebula(['executions', 'replay', json.executionId, 'a', '--fork']);
      expect(said.code).toBe(2);
      expect(said.err).toContain('error STORE_LOCKED: cannot fork while another engine owns the data folder');
      expect(said.err).toContain(`nebula executions replay ${json.executionId} a`);
      expect((await project.nebula(['executions', 'replay', json.executionId, 'a'])).code).toBe(0);
    });
  });
});

describe('signals for any waiting run', () => {
  test('[CLI-211] one run takes it, or it is kept until one comes', async () => {
    const project = new MemoryProject();
    const { json } = await project.run(SIGNAL);
    const other = await project.nebula(['signal', 'go', '--keep', '2h']);
    expect(other.out).toMatch(
      /no run waits for signal go yet\nThe signal is buffered for the next run that waits for it, until .* \(in 2h\)\n$/,
    );
    const taken = await project.nebula(['signal', 'go', '--key', 'k', '--payload', '{"n": 2}']);
    expect(taken.out).toContain(`signal go (key k) sent to ${json.executionId}`);
    expect((await project.nebula(['resume', json.executionId])).code).toBe(0);
    expect(await project.json('signal', 'go', '--key', 'k')).toMatchObject({
      signal: 'go',
      key: 'k',
      executionId: null,
      keptUntil: expect.stringMatching(/Z$/),
    });
    // Kept: the next run that waits for it has it already.
    expect((await project.run(SIGNAL)).code).toBe(0);
    for (const keep of ['soon', '0s']) expect((await project.nebula(['signal', 'go', '--keep', keep])).code).toBe(2);
  });
});

describe('starts that are one start', () => {
  const stdin = (definition: unknown) => ({ stdin: JSON.stringify(definition) });

  test('[CLI-212] the same idempotency key is the same run', async () => {
    const project = new MemoryProject();
    const words = ['run', '-', '--idempotency-key', 'order-7'];
    const first = await project.nebula([...words, '--json'], stdin(SIGNAL));
    expect(first.code).toBe(4);
    const { executionId: id } = JSON.parse(first.out);
    const again = await project.nebula(words, stdin(SIGNAL));
    expect(again.code).toBe(4);
    expect(again.out).toMatch(
      new RegExp(`^● already running  ${id}\nstarted .*; same idempotency key, so no new run\n`),
    );
    await project.nebula(['executions', 'signal', id, 'go', '--key', 'k']);
    expect((await project.nebula([...words, '-q'], stdin(SIGNAL))).code).toBe(0);
    const done = await project.nebula([...words, '--json'], stdin(SIGNAL));
    expect(JSON.parse(done.out)).toMatchObject({ executionId: id, status: 'completed' });
    expect(done.err).toContain(`✓ already completed  ${id}`);
    expect(project.notes).toEqual([{ n: 1 }]);
    expect((await project.nebula(['run', '-', '--idempotency-key', ''], stdin(SIGNAL))).code).toBe(2);
  });

  test('[CLI-213] a running singleton is continued, and no empty tree is left', async () => {
    const project = new MemoryProject();
    const single = { ...SIGNAL, config: { start: { policy: 'singleton', key: '$input.order' } } };
    const words = ['run', '-', '--set', 'order=7'];
    const first = await project.nebula([...words, '--json'], stdin(single));
    const { executionId: id } = JSON.parse(first.out);
    const out = memoryOutput({ live: true, columns: 100, rows: 30 });
    expect((await project.nebula(words, { ...stdin(single), out })).code).toBe(4);
    expect(out.text().replace('\x1b[J', '').split('\n')[0]).toBe(`● already running  ${id}`);
    const other = await project.run(single, '--set', 'order=8');
    expect(other.json.executionId).not.toBe(id);
    expect(await project.json('executions', 'list')).toMatchObject({ items: [{}, {}] });
  });
});
