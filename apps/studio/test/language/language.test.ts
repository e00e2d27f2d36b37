import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ActionInfo, catalogOf, findAction } from '../../src/language/catalog.ts';
import { checkText, nodeOf } from '../../src/language/checking.ts';
import { completeAt, type LanguageFacts } from '../../src/language/completion.ts';
import type { CompletionItem } from '../../src/language/completion-item.ts';
import { hoverAt, pathAt, previewsOf } from '../../src/language/hovering.ts';
import type { RunValues } from '../../src/language/run-values.ts';
import { LanguageClient } from '../../src/language/worker/language-client.ts';
import { LanguageService } from '../../src/language/worker/language-service.ts';
import type { FromWorker, ToWorker } from '../../src/language/worker/messages.ts';
import { dataOf } from './documents.ts';

const ORDER = readFileSync(path.resolve(import.meta.dirname, '../../../../examples/order.yaml'), 'utf8');

function action(id: string, input: object = {}, output: object = {}): ActionInfo {
  return {
    id,
    version: '1.0',
    title: `Title of ${id}`,
    description: `What ${id} does.`,
    input: { type: 'object', ...input },
    output: { type: 'object', ...output },
    effect: 'pure',
    capabilities: [],
    credentials: null,
    runs: 'server',
  };
}

const ACTIONS: readonly ActionInfo[] = [
  action(
    'http.request',
    {
      required: ['url'],
      properties: {
        url: { type: 'string', description: 'The address.' },
        method: { enum: ['GET', 'POST'] },
        follow: { type: 'boolean' },
      },
    },
    {
      properties: { status: { type: 'integer' }, body: { type: 'object', properties: { total: { type: 'number' } } } },
    },
  ),
  action('core.log', { properties: { message: {} } }),
];

const RUN: RunValues = {
  executionId: 'exe_1',
  workflowId: 'w',
  version: 1,
  startedAt: '2026-01-01T00:00:00.000Z',
  input: { name: 'Ada', items: [{ price: 2 }, { price: 3 }] },
  trigger: { kind: 'manual' },
  variables: {},
  nodes: {
    fetch: { status: 'completed', output: { status: 200, body: { total: 5 } }, input: {}, error: null, attempts: 1 },
  },
};

/** `|` in the text is the cursor. */
function complete(marked: string, facts: Partial<LanguageFacts> = {}): readonly CompletionItem[] {
  const offset = marked.indexOf('|');
  const text = marked.slice(0, offset) + marked.slice(offset + 1);
  const data = facts.data ?? {};
  return completeAt(text, offset, { actions: ACTIONS, workflowIds: ['other'], ...facts, data })?.items ?? [];
}

const labels = (items: readonly CompletionItem[]): string[] => items.map(({ label }) => label);

describe('checks', () => {
  test('[EDT-40] problems have their range and their node; the graph stays readable with errors in it', () => {
    const text =
      'id: x\nnodes:\n  a:\n    action: nope@1\n  loop:\n    forEach: { in: $input }\n    do:\n      nodes:\n        b: { action: core.log@1, needs: [zzz] }\n';
    const check = checkText(text, catalogOf(ACTIONS));
    expect(check.isValid).toBe(false);
    const unknown = check.problems.find(({ code }) => code === 'UNKNOWN_ACTION');
    expect(unknown).toMatchObject({ node: 'a', severity: 'error' });
    expect(text.slice(unknown?.from, unknown?.to)).toBe('nope@1');
    expect(check.problems.find(({ code }) => code === 'UNKNOWN_NODE')).toMatchObject({ node: 'loop/b' });
    expect(Object.keys(check.definition?.nodes ?? {})).toEqual(['a', 'loop']);
  });

  test('[EDT-40] valid text has levels, broken text no definition', () => {
    const text = 'id: x\nnodes:\n  a: { action: core.log@1 }\n  b: { needs: [a], action: core.log@1 }\n';
    expect(checkText(text, catalogOf(ACTIONS))).toMatchObject({ isValid: true, levels: { a: 0, b: 1 } });
    const broken = checkText('id: [', catalogOf([]));
    expect(broken.definition).toBeUndefined();
    expect(broken.problems.length).toBeGreaterThan(0);
    expect(nodeOf(['config', 'retry'])).toBeUndefined();
  });

  test('[EDT-40] a workflow that is run must be known', () => {
    const text = 'id: x\nnodes:\n  a: { workflow: { id: other } }\n';
    expect(checkText(text, catalogOf([])).isValid).toBe(false);
    const other = { id: 'other', nodes: { b: { set: {} } } };
    expect(checkText(text, catalogOf([]), { other }).problems).toEqual([]);
  });

  test('[EDT-41] a reference names the newest action of its major version', () => {
    const versions = ['1.0', '2.0', '1.3', '1.10'].map((version) => ({ ...action('a.b'), version }));
    expect(findAction(versions, 'a.b@1')?.version).toBe('1.10');
    expect(findAction(versions, 'a.b')?.version).toBe('2.0');
    expect(findAction(versions, 'c')).toBeUndefined();
  });
});

describe('completion', () => {
  test('[EDT-42] keys of the language by place, without those that are there', () => {
    expect(labels(complete('id: x\n|'))).toEqual(expect.arrayContaining(['nodes', 'input', 'config']));
    expect(labels(complete('id: x\n|'))).not.toContain('id');
    expect(labels(complete('nodes:\n  a:\n    action: core.log@1\n    ti|'))).toContain('timeout');
    expect(labels(complete('nodes:\n  a:\n    action: core.log@1\n    |'))).not.toContain('wait');
    expect(labels(complete('nodes:\n  a:\n    retry: { attempts: 3, |'))).toEqual(
      expect.arrayContaining(['delay', 'on']),
    );
    expect(labels(complete('nodes:\n  l:\n    do:\n      nodes:\n        b:\n          |'))).toContain('emit');
    expect(labels(complete('triggers:\n  - |'))).toEqual(expect.arrayContaining(['webhook', 'schedule']));
    expect(labels(complete('triggers:\n  - webhook:\n      pa|'))).toContain('path');
    expect(labels(complete('input:\n  properties:\n    a:\n      |'))).toContain('type');
    expect(complete('id: x\nconfi|').find(({ label }) => label === 'config')?.doc).toMatch(/workflow runs/);
  });

  test('[EDT-42] values: choices, actions with their docs, ids of nodes of the same graph', () => {
    expect(labels(complete('nodes:\n  a:\n    onError: |'))).toEqual(['halt', 'ignore', 'branch']);
    expect(labels(complete('config: { mode: |'))).toEqual(['parallel', 'levels', 'sequential']);
    expect(complete('nodes:\n  a:\n    action: ht|')).toContainEqual(
      expect.objectContaining({ label: 'http.request@1', detail: 'Title of http.request' }),
    );
    const data = dataOf('nodes: { a: { set: {} }, b: { set: {} }, c: { set: {} } }');
    expect(labels(complete('nodes:\n  a: { set: {} }\n  b:\n    needs: [a, |', { data }))).toEqual(['a', 'c']);
    expect(labels(complete('nodes:\n  a: { set: {} }\n  b: { set: {} }\n  c:\n    needs:\n      - |'))).toEqual([
      'a',
      'b',
    ]);
    expect(labels(complete('nodes:\n  a:\n    workflow: { id: |'))).toEqual(['other']);
  });

  test('[EDT-43] parameters of the action, with their types', () => {
    const text = 'nodes:\n  a:\n    action: http.request@1\n    with:\n      ';
    expect(complete(`${text}|`)).toContainEqual(
      expect.objectContaining({ label: 'url', detail: 'text, required', doc: 'The address.' }),
    );
    expect(labels(complete(`${text}url: x\n      |`))).not.toContain('url');
    expect(labels(complete(`${text}method: |`))).toEqual(['GET', 'POST']);
    expect(labels(complete(`${text}follow: |`))).toEqual(['true', 'false']);
  });

  const GRAPH =
    'id: x\ninput: { type: object, properties: { name: { type: string, description: Who. } } }\nnodes:\n  fetch: { action: http.request@1 }\n  other: { set: {} }\n  use:\n    needs: [fetch]\n    action: core.log@1\n    with:\n      message: ';

  test('[EDT-44] expressions: roots and upstream nodes, members by schema and by the last run, functions by type', () => {
    const facts = { data: dataOf(`${GRAPH}x`), run: RUN };
    const roots = complete(`${GRAPH}"{{ $|`, facts);
    expect(labels(roots)).toEqual(expect.arrayContaining(['$input', '$fetch', '$vars']));
    expect(labels(roots)).not.toContain('$other');
    expect(labels(roots)).not.toContain('$item');
    const input = complete(`${GRAPH}"{{ $input.|`, facts);
    expect(input[0]).toEqual({ label: 'name', kind: 'property', detail: 'text', value: '"Ada"', doc: 'Who.' });
    expect(labels(input)).toContain('items');
    const body = complete(`${GRAPH}"Hello {{ $fetch.body.t|`, facts);
    expect(body[0]).toMatchObject({ label: 'total', detail: 'number', value: '5' });
    expect(labels(complete(`${GRAPH}"{{ $input.name.|`, facts))).toEqual(expect.arrayContaining(['upper', 'split']));
    expect(labels(complete(`${GRAPH}"{{ $input.name.|`, facts))).not.toContain('sum');
    expect(labels(complete(`${GRAPH}"{{ $nodes.fetch.|`, facts))).toEqual(
      expect.arrayContaining(['output', 'status', 'error']),
    );
    expect(complete(`${GRAPH}"{{ 1 }} and |`, facts)).toEqual([]);
    const bare = GRAPH.replace('    action: core.log@1\n    with:\n      message: ', '    when: ');
    expect(labels(complete(`${bare}$fetch.st|`, facts))).toContain('status');
  });

  test('[EDT-44] in a loop, the item is known from its list', () => {
    const text =
      'nodes:\n  each:\n    forEach: { in: $input.items }\n    do:\n      nodes:\n        one:\n          set:\n            a: "{{ $item.|';
    const data = dataOf('nodes: { each: { forEach: { in: $input.items }, do: { nodes: { one: { set: {} } } } } }');
    expect(complete(text, { data, run: RUN })[0]).toMatchObject({ label: 'price', detail: 'number', value: '2' });
  });

  test('[EDT-42] completion answers at every offset of an example', () => {
    const data = dataOf(ORDER);
    for (let offset = 0; offset <= ORDER.length; offset += 23) {
      const found = completeAt(ORDER.slice(0, offset), offset, { data, actions: ACTIONS, workflowIds: [], run: RUN });
      if (found !== undefined) expect(found.from).toBeLessThanOrEqual(offset);
    }
  });
});

describe('hover and previews', () => {
  const text =
    'id: x\nnodes:\n  fetch: { action: http.request@1, timeout: 10s }\n  use: { needs: [fetch], set: { a: "{{ $fetch.body.total + 1 }}", b: "{{ $fetch.nope }}" } }\n';
  const facts: LanguageFacts = { data: dataOf(text), actions: ACTIONS, workflowIds: [], run: RUN };
  const at = (word: string): number => text.indexOf(word) + 1;

  test('[EDT-45] a key, an action and a reference say what they are', () => {
    expect(hoverAt(text, at('timeout'), facts)).toMatchObject({
      title: 'timeout',
      doc: expect.stringMatching(/duration/),
    });
    expect(hoverAt(text, at('http.request'), facts)).toMatchObject({ title: 'Title of http.request' });
    const reference = hoverAt(text, at('$fetch.body'), facts);
    expect(reference).toMatchObject({ title: '$fetch.body.total', detail: 'number', value: '5' });
    expect(text.slice(reference?.from, reference?.to)).toBe('$fetch.body.total');
    expect(hoverAt('a: [', 2, facts)).toBeUndefined();
  });

  test('[EDT-45] the path of an offset', () => {
    expect(pathAt(text, at('timeout'))).toMatchObject({ path: ['nodes', 'fetch', 'timeout'], part: 'key' });
    expect(pathAt(text, at('10s'))).toMatchObject({ path: ['nodes', 'fetch', 'timeout'], part: 'value' });
  });

  test('[EDT-46] expressions are evaluated with the values of the last run', () => {
    const previews = previewsOf(text, RUN);
    expect(previews.map(({ result }) => result)).toEqual([{ value: 6 }, { error: expect.stringMatching(/nope/) }]);
    expect(text.slice(0, previews[0]?.at)).toMatch(/total \+ 1 \}\}"$/);
    const loop =
      'nodes:\n  each:\n    forEach: { in: $input.items }\n    do: { nodes: { one: { set: { a: "{{ $item.price * 10 }}" } } } }\n';
    expect(previewsOf(loop, RUN).map(({ result }) => result)).toContainEqual({ value: 20 });
    expect(previewsOf('a: [', RUN)).toEqual([]);
  });
});

describe('the worker', () => {
  /** A client and a service, with the tasks of the service in hand. */
  function pair(): { client: LanguageClient; tasks: (() => void)[]; sent: FromWorker[] } {
    const tasks: (() => void)[] = [];
    const sent: FromWorker[] = [];
    let listener: (event: { data: FromWorker }) => void = () => undefined;
    const service = new LanguageService(
      (message) => {
        sent.push(message);
        listener({ data: message });
      },
      (task) => tasks.push(task),
    );
    const client = new LanguageClient({
      postMessage: (message: ToWorker) => service.receive(message),
      addEventListener: (_, added) => {
        listener = added;
      },
      terminate: () => undefined,
    });
    return { client, tasks, sent };
  }

  const runAll = (tasks: (() => void)[]): void => {
    for (let task = tasks.shift(); task !== undefined; task = tasks.shift()) task();
  };

  test('[EDT-47] a later request of the same kind supersedes an earlier one, which is not worked on', async () => {
    const { client, tasks, sent } = pair();
    client.set({ actions: ACTIONS });
    const first = client.ask({ kind: 'check', text: 'id: a\n' });
    const second = client.ask({ kind: 'check', text: 'id: b\nnodes: { a: { action: core.log@1 } }\n' });
    const other = client.ask({ kind: 'complete', text: 'i', offset: 1 });
    runAll(tasks);
    expect(await first).toBeUndefined();
    expect(await second).toMatchObject({ isValid: true });
    expect((await other)?.items.length).toBeGreaterThan(0);
    expect(sent).toHaveLength(2);
  });

  test('[EDT-47] the last readable text and the last run serve completion and previews', async () => {
    const { client, tasks } = pair();
    client.set({ actions: ACTIONS, run: RUN });
    void client.ask({ kind: 'check', text: 'nodes: { a: { set: {} } }\n' });
    const text = 'nodes:\n  a: { set: {} }\n  b: { needs: [';
    const items = client.ask({ kind: 'complete', text, offset: text.length });
    const preview = client.ask({ kind: 'preview', text: 'output: "{{ $input.name }}"\n' });
    runAll(tasks);
    expect((await items)?.items).toMatchObject([{ label: 'a' }]);
    expect(await preview).toMatchObject([{ result: { value: 'Ada' } }]);
  });

  test('[EDT-47] closing ends what is open', async () => {
    const { client } = pair();
    const check = client.check('id: a');
    const asked = client.ask({ kind: 'hover', text: '', offset: 0 });
    client.close();
    expect(await check).toBeUndefined();
    expect(await asked).toBeUndefined();
  });
});
