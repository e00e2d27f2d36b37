import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { NebulaClient } from '@nebula/client';
import { describe, expect, test } from 'vitest';
import { stackOfFailure } from '../src/attempts.ts';
import { MemoryProject } from './support/memory-project.ts';
import { projectFolder } from './support/nebula-process.ts';

const trying = {
  id: 'trying',
  nodes: {
    first: { action: 'note@1', with: { order: 7, text: 'x'.repeat(500) } },
    shaky: { action: 'shaky@1', needs: ['first'], retry: { attempts: 2, initial: '1ms' } },
    hold: { needs: ['first'], wait: { for: '1ms' } },
  },
};

const FRAME = / {4}at .*memory-project\.ts:\d+:\d+/;

describe('one node of a run', () => {
  test('[CLI-472] its attempts, input, and output or error', async () => {
    const project = new MemoryProject();
    project.isShaky = true;
    const { json, code } = await project.run(trying);
    expect(code).toBe(1);
    const show = (node: string, ...more: string[]) =>
      project.nebula(['executions', 'show', json.executionId, node, ...more]);

    const failed = await show('shaky');
    expect(failed.code, failed.err).toBe(0);
    expect(failed.out).toMatch(/^✗ shaky {2}failed in /);
    expect(failed.out).toMatch(
      /ATTEMPT +STARTED +TOOK +END +ERROR\n +1 .* failed +SHAKY: not now\n +2 .* failed +SHAKY: not now\n/,
    );
    expect(failed.out).toMatch(/error SHAKY: not now\n {4}at .*memory-project\.ts:\d+:\d+/);

    const done = await show('first');
    expect(done.out).toMatch(/^✓ first {2}completed/);
    expect(done.out).toMatch(/\ninput\n\{\n {2}order: 7,|\ninput\n\{\n {2}"order": 7,/);
    expect(done.out).toContain('--full shows');
    expect(done.out).toContain('\noutput\n');
    expect((await show('first', '--full')).out).toContain('x'.repeat(500));

    const document = JSON.parse((await show('shaky', '--json')).out);
    expect(document).toMatchObject({
      path: 'shaky',
      node: { status: 'failed' },
      attempts: [{ attempt: 1 }, { attempt: 2 }],
    });
    expect(document.attempts[1].stack).toMatch(FRAME);

    expect((await show('hold')).out).toMatch(/^. hold {2}/);
    expect((await show('shak')).err).toMatch(/UNKNOWN_NODE.*\n.*did you mean .?shaky/);
  });

  test('[CLI-472] a failed action is reported with its stack', async () => {
    const project = new MemoryProject();
    project.isShaky = true;
    const stdin = JSON.stringify(trying);
    const run = await project.nebula(['run', '-'], { stdin });
    expect(run.out).toMatch(/error SHAKY at shaky: not now\n {4}at .*memory-project\.ts/);
    const { json } = await project.run(trying);
    for (const argv of [
      ['show', json.executionId],
      ['explain', json.executionId],
      ['explain', json.executionId, 'shaky'],
    ]) {
      expect((await project.nebula(['executions', ...argv])).out, argv.join(' ')).toMatch(FRAME);
    }
    expect((await project.nebula(['executions', 'explain', json.executionId, 'first'])).out).not.toMatch(FRAME);
    const logs = await project.nebula(['executions', 'logs', json.executionId, '--level', 'debug']);
    expect(logs.out).toMatch(FRAME);
    expect(logs.out).not.toContain('stack=');
  });

  test('[CLI-591] a node of an iteration that has ended has its input and output, also after a migration', async () => {
    const project = new MemoryProject();
    const looping = (last: string) => ({
      id: 'looping',
      nodes: {
        lines: {
          forEach: { in: ['a', 'b'] },
          do: { nodes: { pack: { action: 'core.set@1', with: { value: 'box {{ $item }}' } } } },
        },
        last: { needs: ['lines'], action: 'core.set@1', with: { value: `{{ ${last} }}` } },
      },
    });
    const { json } = await project.run(looping('$lines[0] * 2'));
    expect(json).toMatchObject({ error: { code: 'EXPRESSION_TYPE' } });
    const show = (node: string) => project.nebula(['executions', 'show', json.executionId, node]);
    const { out, err } = await show('lines/1/pack');
    expect(out, err).toMatch(/^✓ lines\/1\/pack {2}completed in .*\n\nATTEMPT.*\n +1 .*completed\n\ninput\n/);
    expect(out).toMatch(/\ninput\n\{ "value": "box b" \}\n\noutput\n"box b"\n$/);
    const retried = await project.nebula(['executions', 'retry', json.executionId, '--to', '-'], {
      stdin: JSON.stringify(looping('$lines.length')),
    });
    expect(retried.code, retried.err).toBe(0);
    expect((await show('lines/1/pack')).out).toBe(out);
    const explained = await project.nebula(['executions', 'explain', json.executionId, 'lines/1/pack']);
    expect(explained.out).toMatch(/is completed\n.*It completed with attempt 1\.\n/);
    expect((await show('lines/1/pakc')).err).toContain('UNKNOWN_NODE');
    expect((await show('lines/2/pack')).err).toContain('UNKNOWN_NODE');
  });
});

test('[CLI-548] the stack of a failed run is read from the log of its node, and from nothing else', async () => {
  const asked: unknown[] = [];
  const lines = [
    { attempt: 1, message: 'Error: one\n    at a (a.ts:1:1)', fields: { stack: true } },
    { attempt: 2, message: 'Error: two\n    at b (b.ts:1:1)', fields: { stack: true } },
    { attempt: 2, message: 'later' },
  ];
  const api = new NebulaClient({
    url: '',
    async json(operation, { query }) {
      if (operation !== 'listLogs') throw new Error(operation);
      asked.push(query);
      const at = Number(query?.['after'] ?? 0);
      return { items: [lines[at]], next: at < 2 ? String(at + 1) : null };
    },
    bytes: () => Promise.reject(new Error('bytes')),
    download: () => Promise.reject(new Error('download')),
    follow: () => {
      throw new Error('follow');
    },
  });
  const error = { code: 'X', kind: 'USER', message: 'two', node: 'n' } as const;
  const stack = (attempts: number) => stackOfFailure(api, { executionId: 'exe_1', error, nodes: { n: { attempts } } });
  expect(await stack(2)).toBe('Error: two\n    at b (b.ts:1:1)');
  expect(asked).toHaveLength(3);
  expect(asked[0]).toMatchObject({ node: 'n', level: 'debug' });
  // The third attempt has none: it timed out.
  expect(await stack(3)).toBeUndefined();
});

describe('a loop that fails', () => {
  const text = (value: string) =>
    ['id: each', 'nodes:', '  lines:', '    forEach: { in: [1, x, 3], parallel: true }', '    do:', '      nodes:']
      .concat(`        twice: { action: core.set@1, with: { value: "{{ ${value} }}" } }`, '')
      .join('\n');

  test('[CLI-592] points to the failed iteration, and to a retry with the corrected file', async () => {
    const cwd = projectFolder({ 'flows/each.yaml': text('$item * 2') });
    const project = new MemoryProject(cwd);
    const run = await project.nebula(['run', 'flows/each.yaml']);
    const id = /exe_\w+/.exec(run.out)?.[0] ?? '';
    const inside = `nebula executions show ${id} lines/1/twice`;
    const retry = `nebula executions retry ${id} --to`;
    expect(run.out).toContain(`${retry} flows/each.yaml`);
    expect(run.out).not.toMatch(/executions retry exe_\w+$/m);

    const node = await project.nebula(['executions', 'show', id, 'lines']);
    expect(node.out).toMatch(/^✗ lines {2}failed in .* {2}1 of 3 iterations, 1 failed, 2 cancelled\n/);
    expect(node.out).toContain('error EXPRESSION_TYPE at lines/1/twice: ');
    expect(node.out).toContain(`next  ${inside}\n`);
    const explained = await project.nebula(['executions', 'explain', id, 'lines']);
    expect(explained.out).toContain("It failed in iteration 1, at 'lines/1/twice'.");
    expect(explained.out).toContain(`→ ${inside}\n`);
    expect(explained.out).not.toContain('retries');
    const whole = await project.nebula(['executions', 'explain', id]);
    // The workflow is not among the files of this folder, so the command leaves its file open.
    expect(whole.out).toContain(`→ ${inside}\n  → ${retry} FILE\n`);

    for (const command of [inside, `nebula executions explain ${id} lines/1/twice`]) {
      const copied = await project.nebula(command.split(' ').slice(1));
      expect([copied.code, copied.err], command).toEqual([0, '']);
    }
    writeFileSync(path.join(cwd, 'flows/each.yaml'), text('$item'));
    const mended = await project.nebula([
      'executions',
      'retry',
      id,
      '--to',
      'flows/each.yaml',
      '--again',
      'lines/twice',
    ]);
    expect([mended.code, mended.err]).toEqual([0, expect.not.stringContaining('error')]);
  });

  test('[CLI-593] counts its iterations, and the header the nodes that ended', async () => {
    const project = new MemoryProject(
      projectFolder({ 'each.yaml': `${text('$item * 2')}  after: { needs: [lines], action: core.noop@1 }\n` }),
    );
    const { out } = await project.nebula(['run', 'each.yaml']);
    const id = /exe_\w+/.exec(out)?.[0] ?? '';
    const shown = (await project.nebula(['executions', 'show', id])).out;
    expect(shown).toMatch(/^✗ each v1 · failed · .* · 1\/2 · exe_/);
    expect(shown).toMatch(/✗ lines +\S+ +1 of 3 iterations, 1 failed, 2 cancelled/);
    const { out: listed } = await project.nebula(['executions', 'iterations', id, 'lines', '--json']);
    expect(JSON.parse(listed).items.map(({ status }: { status: string }) => status)).toEqual([
      'cancelled',
      'failed',
      'cancelled',
    ]);
  });
});

describe('an expression that fails', () => {
  const text = [
    'id: broken',
    'nodes:',
    '  order: { action: core.set@1, with: { value: { total: 7 } } }',
    '  charge:',
    '    needs: [order]',
    '    action: note@1',
    '    with:',
    '      amount: "{{ $order.totl * 2 }} EUR"',
    '',
  ].join('\n');

  test('[CLI-473] is shown with its line in the file, a caret and a hint', async () => {
    const cwd = projectFolder({ 'flows/broken.yaml': text });
    const project = new MemoryProject(cwd);
    const run = await project.nebula(['run', 'flows/broken.yaml']);
    const excerpt = [
      'flows/broken.yaml:8:25',
      '',
      '  7 │     with:',
      '  8 │       amount: "{{ $order.totl * 2 }} EUR"',
      '    │                         ^^^^^',
    ].join('\n');
    expect(run.out, run.err).toContain(`error EXPRESSION_REFERENCE at charge: with: `);
    expect(run.out).toContain(excerpt);
    expect(run.out).toMatch(/hint: .*did you mean .?total/);
  });

  const GIVER = '  a: { action: core.set@1, with: { value: { total: 7 } } }';
  const main = (...lines: string[]) =>
    ['id: main', 'nodes:', GIVER, '  b: { action: core.noop@1 }', ...lines, ''].join('\n');
  const part = [
    'id: part',
    'nodes:',
    GIVER,
    '  c: { needs: [a], action: core.set@1, with: { value: "{{ $a.totl }}" } }',
    '',
  ].join('\n');

  test.each([
    ['an edge', 'main.yaml', main('edges:', '  - { from: a, to: b, when: $a.totl > 3 }')],
    ['the output', 'main.yaml', main('output: { sum: "{{ $nodes.a.output.totl }}" }')],
    ['an inlined workflow', 'part.yaml', main('  call: { needs: [b], workflow: { id: part } }')],
    ['a child', 'part.yaml', main('  call: { needs: [b], workflow: { id: part, mode: child } }')],
    [
      'a workflow that inlines another',
      'main.yaml',
      main(
        '  d: { workflow: { id: good } }',
        '  c: { needs: [a], action: core.set@1, with: { value: "{{ $a.totl }}" } }',
      ),
    ],
  ])('[CLI-543] of %s is shown in its file', async (_, file, text) => {
    const files = {
      'main.yaml': text,
      'part.yaml': part,
      'good.yaml': 'id: good\nnodes: { a: { action: core.noop@1 } }\n',
    };
    const project = new MemoryProject(projectFolder(files));
    const { out, err } = await project.nebula(['run', 'main.yaml']);
    const before = (file === 'part.yaml' ? part : text).split('.totl')[0] ?? '';
    const [line, column] = [before.split('\n').length, before.length - before.lastIndexOf('\n')];
    expect(out, err).toContain(`\n${file}:${line}:${column}\n`);
    expect(out).toMatch(/│ +\^{5}\n +hint: did you mean "total"/);
  });

  const LONG = 'a'.repeat(20_000);
  // Takes more operations than a pattern may take.
  const SLOW = '(?:[ab][bc]?){300}$';
  test.each([
    [
      'the pattern of an edge',
      SLOW,
      '',
      ['edges:', `  - { from: a, to: b, on: result, match: { long: { regex: "${SLOW}" } } }`],
    ],
    [
      'the pattern of a branch',
      SLOW,
      '',
      [`  c: { needs: [a], branch: { cases: [{ match: { long: { regex: "${SLOW}" } }, to: b }] } }`],
    ],
    [
      'a wait',
      '"{{ $a.long.slice(0, 3) }}"',
      'wait.for',
      ['  c: { needs: [a], wait: { for: "{{ $a.long.slice(0, 3) }}" } }'],
    ],
    ['a date', '$a.name', 'wait.until', ['  c: { needs: [a], wait: { until: $a.name } }']],
    ['a setting', '"{{ $a.name }}"', 'timeout', ['  c: { needs: [a], action: core.noop@1, timeout: "{{ $a.name }}" }']],
    [
      'a parameter that does not fit',
      '"{{ $a.name }}"',
      'INPUT_INVALID at c',
      ['  c: { needs: [a], action: core.log@1, with: { message: hi, fields: "{{ $a.name }}" } }'],
    ],
  ])('[CLI-621] of %s is shown in its file', async (_, wrong, key, lines) => {
    const giver = `  a: { action: core.set@1, with: { value: { name: Ada, long: ${LONG} } } }`;
    const text = ['id: main', 'nodes:', giver, '  b: { action: core.noop@1 }', ...lines, ''].join('\n');
    const project = new MemoryProject(projectFolder({ 'main.yaml': text }));
    const { out, err } = await project.nebula(['run', 'main.yaml']);
    const before = text.slice(0, text.lastIndexOf(wrong));
    const [line, column] = [before.split('\n').length, before.length - before.lastIndexOf('\n')];
    expect(out, err).toContain(`\nmain.yaml:${line}:${column}\n`);
    expect(out).toContain(`${'^'.repeat(Math.min(wrong.length, 10))}`);
    expect(out).toContain(key);
  });

  test('[CLI-621] of a request is shown at its URL', async () => {
    const server = createServer((_, response) => response.writeHead(404).end('no such order'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      const request = '  get: { action: http.request@1, with: { url: "http://127.0.0.1:PORT/orders/7" } }';
      for (const [at, message] of [
        [
          String(port),
          `error HTTP_404 at get: GET http://127.0.0.1:${port}/orders/7 responded with 404 Not Found: no such order`,
        ],
        ['2', 'error ECONNREFUSED at get: GET http://127.0.0.1:2/orders/7 failed: connect ECONNREFUSED 127.0.0.1:2'],
      ] as const) {
        const granted = `config: { capabilities: { network: ["127.0.0.1:${at}"] } }`;
        const text = `id: main\nnodes:\n${request.replace('PORT', at)}\n${granted}\n`;
        const project = new MemoryProject(projectFolder({ 'main.yaml': text }));
        const { out, err } = await project.nebula(['run', 'main.yaml']);
        expect(out, err).toContain(`${message}\nmain.yaml:3:47\n\n`);
        expect(out).toMatch(/│ {47}\^{20,}\n/);
      }
    } finally {
      server.close();
    }
  });

  test('[CLI-622] of the key of a start is shown in its file', async () => {
    const lines = [
      'id: main',
      'config:',
      '  start:',
      '    key: $input.order.id',
      'nodes: { a: { action: core.noop@1 } }',
      '',
    ];
    const project = new MemoryProject(projectFolder({ 'flows/main.yaml': lines.join('\n') }));
    const { code, err } = await project.nebula(['run', 'flows/main.yaml', '--set', 'orders=7']);
    expect([code, err]).toEqual([2, expect.stringContaining('error START_KEY_INVALID: config.start.key: ')]);
    expect(err).toMatch(/^flows\/main.yaml:4:\d+\n\n.*\n +4 │ {5}key: \$input\.order\.id\n +│ +\^+\n/);
  });

  test('[CLI-473] is shown in the stored definition when the file is not there, or has changed', async () => {
    const cwd = projectFolder({ 'broken.yaml': text });
    const project = new MemoryProject(cwd);
    const { out } = await project.nebula(['run', 'broken.yaml', '--json']);
    const { executionId } = JSON.parse(out) as { executionId: string };
    for (const argv of [
      ['show', executionId],
      ['show', executionId, 'charge'],
      ['explain', executionId, 'charge'],
    ]) {
      expect((await project.nebula(['executions', ...argv])).out, argv.join(' ')).toContain('broken.yaml:8:25');
    }
    writeFileSync(path.join(cwd, 'broken.yaml'), text.replace('EUR', 'USD'));
    const { out: changed } = await project.nebula(['executions', 'explain', executionId, 'charge']);
    expect(changed).toMatch(/broken v1:\d+:\d+\n\n.*\n.*"amount": "\{\{ \$order\.totl \* 2 \}\} EUR"\n.*\^\^\^/);
  });
});
