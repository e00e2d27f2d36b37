import { describe, expect, it } from 'vitest';
import { idsInOrder, type RunDocument, readDefinition, readDefinitionObject } from '../../src/index.ts';
import { writtenOrder } from '../../src/node-order.ts';
import { drive } from '../run/drive.ts';

const ids = ['b', '10', '9', 'a', '1'];
const body = ids.map((id) => `  "${id}": { action: do@1 }`).join('\n');
const yaml = `id: x\nnodes:\n${body}\n`;
const anchored = `id: x\nnodes:\n${body.replace('do@1', '&act do@1')}\n`;
const json = `{"id":"x","nodes":{${ids.map((id) => `"${id}":{"action":"do@1"}`).join(',')}}}`;

describe('node ids that look like integers', () => {
  it.each([
    ['plain YAML', yaml],
    ['any YAML', anchored],
    ['JSON', json],
  ])('[DEF-105] keep the order of the file: %s', (_, text) => {
    const { definition, graphs, problems } = readDefinition(text);
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(graphs?.get('')?.ids).toEqual(ids);
    // The definition as a store keeps it.
    const stored = readDefinitionObject(JSON.parse(JSON.stringify(definition)));
    expect(stored.graphs?.get('')?.ids).toEqual(ids);
  });

  it('[DEF-105] in a body as well, and between a split and its merge', () => {
    const loop = `id: x\nnodes:\n  each:\n    forEach: { in: [1] }\n    do:\n      nodes:\n        "2": { action: do@1 }\n        "1": { action: do@1 }\n`;
    const { definition } = readDefinition(loop);
    expect(idsInOrder(definition?.nodes?.each?.do ?? {})).toEqual(['2', '1']);
    const run = drive({
      config: { mode: 'sequential' },
      nodes: {
        s: { split: { in: [1] } },
        2: { needs: ['s'] },
        1: { needs: ['s'] },
        m: { needs: ['2', '1'], merge: { wait: 'all' } },
      },
      order: ['s', '2', '1', 'm'],
    });
    expect(run.running()).toEqual(['s/0/2']);
  });

  it('[DEF-105] are run in that order by mode sequential', () => {
    const run = drive({ config: { mode: 'sequential' }, nodes: { 2: {}, 1: {} }, order: ['2', '1'] });
    expect(run.running()).toEqual(['2']);
  });

  it('[RUN-423] are listed in that order by the document of a run, through JSON as well', () => {
    const run = drive({
      nodes: { 10: {}, b: {}, 2: { forEach: { in: [1] }, do: { nodes: { 7: {} } } } },
      order: ['b', '10', '2'],
    });
    const document = JSON.parse(JSON.stringify(run.document)) as RunDocument;
    expect(document.order).toEqual(['b', '10', '2']);
    expect(idsInOrder(document)).toEqual(['b', '10', '2', '2/0/7']);
    expect(drive({ nodes: { 1: {}, 2: {}, a: {} } }).document).not.toHaveProperty('order');
    expect(drive({ nodes: { b: {}, a: {} } }).document).not.toHaveProperty('order');
  });

  it('[DEF-105] `order` is written only where an object would lose it, and other graphs have none', () => {
    expect(writtenOrder(['1', '2', 'a'])).toBeUndefined();
    expect(writtenOrder(['b', 'a', '01'])).toBeUndefined();
    expect(readDefinition('id: x\nnodes: { a: { action: do@1 } }').definition).not.toHaveProperty('order');
  });

  it('[DEF-105] `order` names nodes; those that it leaves out come last', () => {
    expect(idsInOrder({ nodes: { 1: {}, 2: {}, a: {} }, order: ['a', '2'] })).toEqual(['a', '2', '1']);
    const { problems } = readDefinitionObject({ id: 'x', nodes: { 1: { action: 'do@1' } }, order: ['7'] });
    expect(problems).toMatchObject([{ code: 'UNKNOWN_NODE', path: ['order', 0] }]);
  });
});
