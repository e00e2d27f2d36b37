import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { MemoryProject } from './support/memory-project.ts';
import { memoryOutput } from './support/screen-text.ts';

const SAGA = {
  id: 'saga',
  nodes: {
    book: { action: 'note@1', with: { did: 'book' }, compensate: { action: 'note@1', with: { undid: 'book' } } },
    items: {
      needs: ['book'],
      forEach: { in: ['a', 'b'] },
      do: {
        nodes: {
          pack: {
            action: 'note@1',
            with: { did: '{{ $item }}' },
            compensate: { action: 'note@1', with: { undid: '{{ $item }}' } },
          },
        },
      },
    },
    ok: { needs: ['items'], wait: { signal: 'go', key: 'k' } },
    end: { needs: ['ok'], action: 'core.fail@1', with: { code: 'FULL', message: 'no seats' } },
  },
};

const ASK = { id: 'ask', nodes: { ok: { wait: { approval: { title: 'Pay?', who: ['ann', 'bob'] } } } } };
const SIGNAL = { id: 'sig', nodes: { w: { wait: { signal: 'go' } } } };

describe('waits', () => {
  test('[CLI-105, CLI-106] a parked run says what it waits for, and a signal moves it on', async () => {
    const project = new MemoryProject();
    const { code, json, err } = await project.run(SAGA);
    expect(code, err).toBe(4);
    const id = json.executionId;
    expect(err).toContain('It waits for signal go (key k).');
    expect(err).toContain(`nebula executions signal ${id} go --key k`);
    expect(err).toContain(`nebula resume ${id}`);
    const wrong = await project.nebula(['executions', 'signal', id, 'go']);
    expect(wrong.out).toContain('the run waits for it with --key k');
    const early = await project.nebula(['executions', 'signal', id, 'later']);
    expect(early.out).toContain('nothing waits for it yet');
    expect(await project.json('executions', 'signal', id, 'go', '--key', 'k', '--payload', '{"n": 1}')).toMatchObject({
      requested: true,
      awaited: true,
    });
    expect((await project.nebula(['resume', id])).code).toBe(1);
    const ended = await project.json('executions', 'show', id);
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'FULL' } });
    expect((await project.nebula(['executions', 'signal', id, 'go'])).err).toContain('error ALREADY_FINISHED');
    expect((await project.nebula(['executions', 'signal', 'go'])).err).toContain('error USAGE');
  });

  test.each([
    ['an approval', { approval: { title: 'Pay?' }, deadline: '3d' }, 'nebula executions approve'],
    ['a signal', { signal: 'go', deadline: '2m' }, 'nebula executions signal'],
    ['an hour', { for: '1h' }, 'nebula resume'],
  ])('[CLI-310] a run that waits for %s exits with 4, whatever the deadline', async (_, wait, hint) => {
    const project = new MemoryProject();
    const { code, err } = await project.run({ id: 'far', nodes: { w: { wait } } });
    expect(code, err).toBe(4);
    expect(err).toContain(hint);
  });

  test('[CLI-310] a deadline within a minute is sat out', async () => {
    const project = new MemoryProject();
    const { code, json } = await project.run({
      id: 'near',
      nodes: { w: { wait: { signal: 'go', deadline: '50ms' } } },
    });
    expect([code, json.error?.code]).toEqual([1, 'TIMEOUT']);
  });

  test('[CLI-311] iterations that have ended can be shown and asked about', async () => {
    const project = new MemoryProject();
    const body = { nodes: { p: { set: { x: '{{ $item }}' } }, q: { needs: ['p'], when: '$item > 1', set: { y: 1 } } } };
    const { json } = await project.run({ id: 'loop', nodes: { each: { forEach: { in: [1, 2] }, do: body } } });
    const id = json.executionId;
    const shown = await project.nebula(['executions', 'show', id, '--all']);
    expect(shown.out).toMatch(/Iterations that have ended[\s\S]*each\/0\/q +skipped[\s\S]*each\/1\/p +completed/);
    expect((await project.nebula(['executions', 'show', id])).out).not.toContain('each/1/p');
    const all = (await project.json('executions', 'show', id, '--all')) as unknown as { ended: object };
    expect(all.ended).toMatchObject({ 'each/0/q': { status: 'skipped' }, 'each/1/q': { status: 'completed' } });
    expect((await project.nebula(['executions', 'explain', id, 'each/1/p'])).out).toContain('each/1/p is completed');
    expect((await project.nebula(['executions', 'explain', id, 'each/7/p'])).err).toContain('UNKNOWN_NODE');
  });

  test('[CLI-107] approve and reject act for a named user, who must be allowed to answer', async () => {
    const project = new MemoryProject();
    const first = await project.run(ASK);
    expect(first.code).toBe(4);
    expect(first.err).toContain(`nebula executions approve ${first.json.executionId} ok --by ann`);
    const foreign = await project.nebula(['executions', 'approve', first.json.executionId, 'ok', '--by', 'eve']);
    expect([foreign.code, foreign.err]).toEqual([2, expect.stringContaining('error NOT_ALLOWED')]);
    const said = await project.json('executions', 'approve', first.json.executionId, 'ok', '--comment', 'fine');
    expect(said).toMatchObject({ approved: true, by: 'ann', requested: true });
    expect((await project.nebula(['resume', first.json.executionId])).code).toBe(0);
    const second = await project.run(ASK);
    const no = ['executions', 'reject', second.json.executionId, 'ok', '--by', 'bob', '--comment', 'too much'];
    expect((await project.nebula(no)).out).toContain('Recorded: ok is rejected by bob');
    const rejected = await project.nebula(['resume', second.json.executionId]);
    expect(rejected.out).toContain('error REJECTED at ok');
    expect((await project.nebula(no)).err).toContain('error ALREADY_FINISHED');
  });

  test('[CLI-118] callback makes the call for which a node waits, and no other', async () => {
    const project = new MemoryProject();
    const { json, err } = await project.run({ id: 'call', nodes: { reply: { wait: { callback: true } } } });
    expect(err).toContain(`nebula executions callback ${json.executionId} reply --payload JSON`);
    await project.nebula(['executions', 'callback', json.executionId, 'reply', '--payload', '7']);
    expect((await project.nebula(['resume', json.executionId, '--json'])).code).toBe(0);
    expect((await project.json('executions', 'show', json.executionId)).output).toMatchObject({
      reply: { payload: 7 },
    });
    const other = await project.run(SIGNAL);
    const refused = await project.nebula(['executions', 'callback', other.json.executionId, 'w']);
    expect(refused.err).toContain("error NOT_WAITING: 'w' does not wait for a call");
  });

  test('[CLI-104] piped output has every event as a line, and commands below a wait', async () => {
    const project = new MemoryProject();
    const { out } = await project.nebula(['run', '-'], { stdin: JSON.stringify(SAGA) });
    expect(out).toContain('● items opened: 2 items');
    expect(out).toContain('✓ items/1/pack completed');
    expect(out).toMatch(/⏸ ok waits for signal go \(key k\)\n {12}nebula executions signal exe_\w+ go --key k\n/);
    const id = /exe_\w+/.exec(out)?.[0] as string;
    await project.nebula(['executions', 'signal', id, 'go', '--key', 'k']);
    const { out: rest } = await project.nebula(['resume', id]);
    expect(rest).toContain('completed nodes are undone, last first; then it ends as failed');
    expect(rest).toMatch(/undo items\/1\/pack completed[\s\S]*undo items\/0\/pack completed[\s\S]*undo book completed/);
  });
});

describe('pause', () => {
  test('[CLI-108] a paused run continues only when it is named', async () => {
    const project = new MemoryProject();
    const after = { needs: ['w'], action: 'note@1', with: { did: 'after' } };
    const { json } = await project.run({ ...SIGNAL, nodes: { ...SIGNAL.nodes, after } });
    const id = json.executionId;
    await project.nebula(['executions', 'pause', id, '--reason', 'lunch']);
    await project.nebula(['executions', 'signal', id, 'go']);
    const all = await project.nebula(['resume']);
    expect([all.code, all.out]).toEqual([4, expect.stringContaining('It is paused: lunch.')]);
    expect((await project.nebula(['executions', 'list'])).out).toContain('⏸ paused');
    expect((await project.nebula(['executions', 'show', id])).out).toContain('paused (lunch)');
    expect((await project.nebula(['resume', id])).code).toBe(0);
    const over = await project.nebula(['executions', 'pause', id]);
    expect([over.code, over.err]).toEqual([2, expect.stringContaining('error ALREADY_FINISHED')]);
  });

  test('[CLI-108] beside an engine: executions pause, executions resume', async () => {
    const project = new MemoryProject();
    const { json } = await project.run(SIGNAL);
    const id = json.executionId;
    await project.besideEngine(async () => {
      expect((await project.nebula(['executions', 'resume', id])).err).toContain('error NOT_PAUSED');
      expect((await project.nebula(['executions', 'pause', id])).out).toContain('⏸ paused');
      expect((await project.nebula(['executions', 'resume', id])).out).toContain('continues');
    });
  });
});

describe('undoing and doing again', () => {
  test('[CLI-111] undo-plan lists the compensations in order, with their parameters', async () => {
    const project = new MemoryProject();
    const { json } = await project.run(SAGA);
    const id = json.executionId;
    const { out } = await project.nebula(['executions', 'undo-plan', id]);
    expect(out.split('\n').slice(1, 5)).toEqual([
      '   UNDOES        BY      WITH',
      '1  items/1/pack  note@1  {"undid":"b"}',
      '2  items/0/pack  note@1  {"undid":"a"}',
      '3  book          note@1  {"undid":"book"}',
    ]);
    expect((await project.nebula(['executions', 'cancel', id])).out).toContain(`⊗ cancelled  ${id}`);
    expect(project.notes.slice(3)).toEqual([{ undid: 'b' }, { undid: 'a' }, { undid: 'book' }]);
    expect(await project.json('executions', 'undo-plan', id)).toMatchObject({
      toUndo: [],
      undone: ['items/1/pack', 'items/0/pack', 'book'],
    });
    expect((await project.nebula(['executions', 'show', id])).out).toContain('↺ undone, last first');
  });

  test('[CLI-110] cancel --no-compensate undoes nothing', async () => {
    const project = new MemoryProject();
    const { json } = await project.run(SAGA);
    expect((await project.nebula(['executions', 'cancel', json.executionId, '--no-compensate'])).code).toBe(0);
    expect((await project.json('executions', 'show', json.executionId)).status).toBe('cancelled');
    expect(project.notes).toHaveLength(3);
  });

  test('[CLI-109] replay: in the run, with another input, in a new run', async () => {
    const project = new MemoryProject();
    const { json } = await project.run({
      id: 'w',
      nodes: {
        a: { action: 'note@1', with: { n: 1 } },
        b: { action: 'note@1', needs: ['a'], with: { of: '{{ $a }}' } },
      },
      output: '{{ $b }}',
    });
    const id = json.executionId;
    expect((await project.nebula(['executions', 'replay', id, 'a', '--input', '{"n": 2}', '-q'])).code).toBe(0);
    expect((await project.json('executions', 'show', id)).output).toEqual({ of: { n: 2 } });
    const forked = await project.json('executions', 'replay', id, 'a', '--input', '{"n": 3}', '--fork');
    expect(forked).toMatchObject({ status: 'completed', output: { of: { n: 3 } } });
    expect(forked.executionId).not.toBe(id);
    expect((await project.json('executions', 'show', id)).output).toEqual({ of: { n: 2 } });
    const unknown = await project.nebula(['executions', 'replay', id, 'c']);
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('error UNKNOWN_NODE')]);
    const running = await project.run(SIGNAL);
    expect((await project.nebula(['executions', 'replay', running.json.executionId, 'w'])).err).toContain(
      'STILL_RUNNING',
    );
  });
});

describe('many runs at once', () => {
  test('[CLI-112] several ids or a filter: shown, asked, done', async () => {
    const project = new MemoryProject();
    const ids = [];
    for (let at = 0; at < 3; at++) ids.push((await project.run(SIGNAL)).json.executionId);
    const filter = ['executions', 'cancel', '--workflow', 'sig', '--status', 'running'];
    const unasked = await project.nebula(filter);
    expect([unasked.code, unasked.err]).toEqual([
      2,
      expect.stringContaining('error NOT_CONFIRMED: this would cancel 3 runs'),
    ]);
    const declined = await project.nebula(filter, { answer: 'n' });
    expect(declined.out).toContain('nothing was changed');
    for (const id of ids) expect(declined.out).toContain(id);
    const two = await project.nebula(['executions', 'signal', ids[0] as string, ids[1] as string, 'go'], {
      answer: 'y',
    });
    expect(two.out).toContain('signal go to: 2 runs');
    await project.nebula(['resume', '-q']);
    const rest = await project.nebula([...filter, '--yes', '--json']);
    expect(JSON.parse(rest.out)).toEqual({
      items: [{ executionId: ids[2], requested: true, status: 'cancelled' }],
    });
    expect((await project.nebula(['executions', 'delete', '--workflow', 'sig', '--yes'])).out).toBe('delete: 3 runs\n');
    expect((await project.nebula(filter)).out).toBe('no run matches\n');
    const both = await project.nebula(['executions', 'pause', 'exe_1', '--status', 'running']);
    expect([both.code, both.err]).toEqual([2, expect.stringContaining('error USAGE')]);
    expect((await project.nebula(['executions', 'delete'])).err).toContain('error USAGE: delete which runs?');
  });

  test('[CLI-112] retry of all failed runs continues them here; others are skipped', async () => {
    const project = new MemoryProject();
    project.isShaky = true;
    const shaky = { id: 'shaky', nodes: { a: { action: 'shaky@1' } } };
    for (let at = 0; at < 2; at++) expect((await project.run(shaky)).code).toBe(1);
    project.isShaky = false;
    expect((await project.run(shaky)).code).toBe(0);
    const retried = await project.nebula(['executions', 'retry', '--workflow', 'shaky', '-q'], { answer: 'yes' });
    expect([retried.code, retried.out]).toEqual([0, expect.stringContaining('2 runs continued: 2 completed')]);
  });
});

describe('workflows in files beside', () => {
  const folder = (files: Record<string, string>): string => {
    const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'nebula-beside-')));
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(dir, name), text);
    return dir;
  };
  const MAIN = `
id: main
nodes:
  in: { workflow: { id: inner, input: { n: 1 } } }
  out: { needs: [in], workflow: { id: outer, mode: child } }
output: { in: "{{ $nodes.in.output }}", out: "{{ $nodes.out.output }}" }
`;
  const INNER =
    'id: inner\nnodes: { one: { action: core.set@1, with: { value: "{{ $input.n }}" } } }\noutput: "{{ $one }}"\n';
  const OUTER = 'id: outer\nnodes: { two: { workflow: { id: inner, input: { n: 2 } } } }\noutput: "{{ $two }}"\n';

  test('[CLI-114] are found by name and by id, and registered before the main one', async () => {
    const project = new MemoryProject(folder({ 'main.yaml': MAIN, 'inner.yml': INNER, 'other-name.yaml': OUTER }));
    const { code, out, err } = await project.nebula(['run', 'main.yaml', '--json']);
    expect(code, err).toBe(0);
    expect(JSON.parse(out).output).toEqual({ in: 1, out: 2 });
    const { out: drawn } = await project.nebula(['graph', 'main.yaml']);
    expect(drawn).toContain('▣ workflow inner');
    expect(drawn).toContain('│ one ');
    expect((await project.nebula(['validate', 'main.yaml'])).code).toBe(0);
  });

  test('[CLI-114] registering an old text again makes it the newest; registered workflows are found without a file', async () => {
    const dir = folder({ 'main.yaml': MAIN, 'inner.yaml': INNER, 'outer.yaml': OUTER });
    const project = new MemoryProject(dir);
    const output = async () => JSON.parse((await project.nebula(['run', 'main.yaml', '--json'])).out).output;
    expect(await output()).toEqual({ in: 1, out: 2 });
    writeFileSync(path.join(dir, 'inner.yaml'), INNER.replace('"{{ $one }}"', '"{{ $one * 10 }}"'));
    expect(await output()).toEqual({ in: 10, out: 20 });
    writeFileSync(path.join(dir, 'inner.yaml'), INNER);
    expect(await output()).toMatchObject({ in: 1 });
    const elsewhere = await project.nebula(['run', '-', '--json'], {
      stdin: '{id: solo, nodes: {x: {workflow: {id: outer}}}}',
    });
    expect(elsewhere.code, elsewhere.err).toBe(0);
  });

  test('[CLI-115] a missing or invalid one is reported with its file and position', async () => {
    const dir = folder({
      'main.yaml': MAIN.replace('id: outer', 'id: outr'),
      'inner.yaml': INNER,
      'outer.yaml': OUTER,
    });
    const project = new MemoryProject(dir);
    const missing = await project.nebula(['run', 'main.yaml']);
    expect(missing.code).toBe(2);
    expect(missing.err).toContain("main.yaml:5:39  error UNKNOWN_WORKFLOW  there is no workflow 'outr'");
    expect(missing.err).toContain("did you mean 'outer'?");
    writeFileSync(path.join(dir, 'main.yaml'), MAIN);
    writeFileSync(path.join(dir, 'inner.yaml'), INNER.replace('core.set@1', 'core.sat@1'));
    const broken = await project.nebula(['validate', 'main.yaml']);
    expect(broken.code).toBe(2);
    expect(broken.out).toContain("inner.yaml:2:25  error UNKNOWN_ACTION  there is no action 'core.sat'");
    writeFileSync(path.join(dir, 'inner.yaml'), 'id: [');
    const unreadable = await project.nebula(['run', 'main.yaml', '--json']);
    expect(JSON.parse(unreadable.out).error).toMatchObject({ code: 'WORKFLOW_INVALID' });
    expect(unreadable.err).toMatch(/inner\.yaml:1:\d+ {2}error YAML_SYNTAX/);
    expect(unreadable.err).not.toContain('UNKNOWN_WORKFLOW');
  });

  test('[CLI-114] workflows may start each other as children', async () => {
    const again = (id: string, next: string) =>
      `id: ${id}\nnodes: { down: { when: $input.n > 0, workflow: { id: ${next}, mode: child, input: { n: "{{ $input.n - 1 }}" } } } }\n`;
    const project = new MemoryProject(
      folder({ 'ping.yaml': again('ping', 'pong'), 'pong.yaml': again('pong', 'ping') }),
    );
    expect((await project.nebula(['run', 'ping.yaml', '--set', 'n=3'])).code).toBe(0);
    const { out } = await project.nebula(['executions', 'list']);
    expect(out.match(/ completed /g)).toHaveLength(4);
  });

  test('[CLI-116, CLI-113] with a parked child the run is parked, both are reported, and resume continues both', async () => {
    const child = 'id: outer\nnodes: { w: { wait: { signal: go } } }\n';
    const project = new MemoryProject(folder({ 'main.yaml': MAIN, 'inner.yaml': INNER, 'outer.yaml': child }));
    const { code, out } = await project.nebula(['run', 'main.yaml']);
    expect(code).toBe(4);
    const [id, childId] = [...new Set(out.match(/exe_\w+/g))] as [string, string];
    expect(out).toContain(`It waits for what ${childId} waits for:`);
    expect(out).toContain(`nebula executions signal ${childId} go`);
    const shown = await project.json('executions', 'show', id);
    expect(shown.children).toMatchObject([{ node: 'out', executionId: childId, status: 'running' }]);
    expect((await project.json('executions', 'show', childId)).parent).toEqual({ executionId: id, node: 'out' });
    expect((await project.nebula(['executions', 'show', id])).out).toContain(`out → outer  ${childId}  ● running`);
    expect((await project.nebula(['executions', 'show', childId])).out).toContain(`for   out of  ${id}`);
    await project.nebula(['executions', 'signal', childId, 'go']);
    const resumed = await project.nebula(['resume', id]);
    expect(resumed.code, resumed.err).toBe(0);
    expect((await project.json('executions', 'show', childId)).status).toBe('completed');
  });

  test('[CLI-140] a cancelled run, and one whose time is up, end with their parked children', async () => {
    const child = 'id: outer\nnodes: { w: { wait: { signal: go } } }\n';
    const files = { 'main.yaml': MAIN, 'inner.yaml': INNER, 'outer.yaml': child };
    const late = `${MAIN.replace('id: main', 'id: late')}config: { timeout: 300ms }\n`;
    const project = new MemoryProject(folder({ ...files, 'late.yaml': late }));
    const { out } = await project.nebula(['run', 'main.yaml']);
    const [id, childId] = [...new Set(out.match(/exe_\w+/g))] as [string, string];
    await project.nebula(['executions', 'cancel', id]);
    const resumed = await project.nebula(['resume', id]);
    expect(resumed.code, resumed.out).toBe(3);
    expect((await project.json('executions', 'show', childId)).status).toBe('cancelled');
    const timed = await project.nebula(['run', 'late.yaml']);
    expect([timed.code, timed.out]).toEqual([3, expect.stringContaining('timed-out')]);
  });
});

describe('the live tree', () => {
  test('[CLI-102, CLI-103] on a terminal, to the end', async () => {
    const project = new MemoryProject();
    const out = memoryOutput({ live: true, columns: 100, rows: 30 });
    const stdin = JSON.stringify({
      ...SAGA,
      nodes: { ...SAGA.nodes, ok: { needs: ['items'], wait: { for: '150ms' } } },
    });
    const { code } = await project.nebula(['run', '-'], { stdin, out });
    expect(code).toBe(1);
    const last = out.text().split('\x1b[?2026h').at(-1) ?? '';
    expect(last).toMatch(/✓ items +.*\n/);
    expect(last).toMatch(/↺ undone, last first.*\n.*✓ items\/1\/pack.*\n.*✓ items\/0\/pack.*\n.*✓ book/);
    expect(out.text()).toContain('waits until');
  });
});

test('[CLI-407] the iterations of a loop are listed page by page', async () => {
  const project = new MemoryProject();
  const { json } = await project.run({
    id: 'looping',
    nodes: { items: { forEach: { in: ['a', 'b', 'c'] }, do: { nodes: { pack: { action: 'note@1' } } } } },
  });
  const list = (...more: string[]) => project.nebula(['executions', 'iterations', json.executionId, 'items', ...more]);
  const first = await list('--limit', '2');
  expect(first.out, first.err).toMatch(
    /^ITERATION +STATUS +TOOK +ERROR\n +0 +completed.*\n +1 +completed.*\nmore: --cursor 1\n$/,
  );
  const rest = JSON.parse((await list('--cursor', '1', '--json')).out);
  expect(rest).toMatchObject({ items: [{ iteration: 2, status: 'completed' }], next: null });
  const unknown = await project.nebula(['executions', 'iterations', json.executionId, 'item']);
  expect(unknown.err).toMatch(/UNKNOWN_NODE.*\n.*did you mean .?items/);
});
