import { describe, expect, it } from 'vitest';
import { compilePlan, createCatalog, type Json, readDefinitionObject } from '../../../src/index.ts';
import { type Drive, drive, planOf, type Short, testActions } from '../drive.ts';

const inputOf = (run: Drive, node: string): Record<string, Json> =>
  (run.attempts.get(node)?.input ?? {}) as Record<string, Json>;
const uuidOf = (run: Drive, node: string): string => String(inputOf(run, node).id);
const drawing = { with: { id: '{{ uuid() }}' } };

describe('drawn values', () => {
  it('[RUN-348] every call, node and iteration draws its own', () => {
    const run = drive({
      nodes: {
        a: { with: { id: '{{ uuid() }}', other: '{{ uuid() }}' } },
        b: drawing,
        each: { forEach: { in: [1, 2], parallel: true }, do: { nodes: { c: drawing } } },
      },
    });
    const { other } = inputOf(run, 'a');
    const drawn = [...['a', 'b', 'each/0/c', 'each/1/c'].map((node) => uuidOf(run, node)), other];
    expect(new Set(drawn).size).toBe(5);
  });

  it('[RUN-348] a retry and a lost worker see the same drawn values; a replay draws anew', () => {
    const run = drive({ nodes: { a: { ...drawing, retry: { attempts: 2 } } } });
    const first = uuidOf(run, 'a');
    run.fail('a').advance(60_000);
    expect(uuidOf(run, 'a')).toBe(first);
    run.loseWorker().advance(60_000);
    expect(uuidOf(run, 'a')).toBe(first);
    run.complete('a').step({ type: 'replay', node: 'a' });
    expect(uuidOf(run, 'a')).not.toBe(first);
  });

  it('[RUN-348] the same run decides the same again: conditions, edges, iterations and outputs', () => {
    const definition: Short = {
      nodes: {
        s: { set: { x: '{{ random() }}' } },
        w: { when: 'random() < 0.5' },
        loop: {
          while: { condition: '$index < 5 && random() < 0.8' },
          do: { nodes: { k: { set: { y: '{{ uuid() }}' } } } },
        },
      },
      edges: [{ from: 's', to: 'w', when: 'random() < 0.5' }],
      output: { id: '{{ uuid() }}' },
    };
    const [one, two] = [drive(definition), drive(definition)];
    expect(two.frames).toEqual(one.frames);
    expect(one.state.root.realm.vars.get('x')?.value).toBeTypeOf('number');
  });

  it('[RUN-348] each iteration of a condition draws anew', () => {
    const run = drive({
      nodes: {
        loop: {
          while: { condition: 'random() < 0.5', maxIterations: 1000 },
          do: { nodes: { k: { set: { y: 1 } } } },
        },
      },
    });
    expect(run.status).toBe('completed');
  });

  it.each([
    ['timeout', { timeout: '{{ random() * 1000 + 1 }}' }],
    ['retry.attempts', { retry: { attempts: '{{ (random() * 3).ceil() }}' } }],
    ['retry.delay', { retry: { attempts: 2, delay: '{{ random() * 1000 }}' } }],
    ['priority', { priority: '{{ (random() * 9).floor() }}' }],
    ['concurrency.limit', { concurrency: { key: 'k', limit: '{{ (random() * 3).ceil() }}' } }],
    [
      'forEach',
      {
        forEach: {
          in: [1],
          parallel: true,
          maxConcurrency: '{{ (random() * 3).ceil() }}',
          minSuccess: '{{ random().floor() }}',
        },
        do: { nodes: { x: {} } },
      },
    ],
    [
      'retryUntil',
      {
        retryUntil: { attempts: '{{ (random() * 3).ceil() }}', backoff: { delay: '{{ random() }}' } },
        do: { nodes: { x: {} } },
      },
    ],
  ])('[RUN-348] %s can be drawn, and is the same after a recovery', (_, node) => {
    const [one, two] = [drive({ nodes: { a: node } }), drive({ nodes: { a: node } })];
    const [configured] = one.entries.filter(({ type }) => type === 'node.configured');
    expect(configured).toBeDefined();
    expect(two.frames).toEqual(one.frames);
    expect(one.error).toBeNull();
  });

  it('[RUN-348] merge.timeout can be drawn', () => {
    const run = drive({
      nodes: {
        s: { split: { in: [1] } },
        x: { needs: ['s'], wait: { signal: 'never' } },
        m: { needs: ['x'], merge: { timeout: '{{ random() * 1000 + 1 }}' } },
      },
    });
    expect(run.statusOf('s/0/x')).toBe('waiting');
    expect(run.advance(1_001).error?.code).toBe('TIMEOUT');
  });

  it('[RUN-348] the seed in the journal distinguishes runs with the same id', () => {
    const start = (seed?: string): string => {
      const run = drive({ nodes: { a: drawing } }, seed === undefined ? {} : { seed });
      return uuidOf(run, 'a');
    };
    expect(start('x')).toBe(start('x'));
    expect(new Set([start(), start('x'), start('y')]).size).toBe(3);
  });

  it('[PLN-81] a plan knows whether its runs draw', () => {
    expect(planOf({ nodes: { a: drawing } }).draws).toBe(true);
    expect(planOf({ nodes: { a: { with: { id: 1 } } } }).draws).toBe(false);
    const other = { nodes: { a: drawing } };
    expect(planOf({ nodes: { sub: { workflow: { id: 'other' } } } }, {}, { other }).draws).toBe(true);
    expect(problemsOf({ config: { start: { key: 'uuid()' } }, nodes: { a: {} } })).toContain('NO_DRAW');
  });
});

function problemsOf(short: Record<string, unknown>): string[] {
  const { nodes, ...rest } = short as { nodes: Record<string, object> };
  const withActions = Object.fromEntries(
    Object.entries(nodes).map(([id, node]) => [
      id,
      Object.hasOwn(node, 'action') || isKind(node) ? node : { action: 'do@1', ...node },
    ]),
  );
  const { definition, problems: read } = readDefinitionObject({ id: 'x', ...rest, nodes: withActions });
  if (definition === undefined) return read.map(({ code }) => code);
  return compilePlan(definition, createCatalog(testActions)).problems.map(({ code }) => code);
}

function isKind(node: object): boolean {
  return ['forEach', 'while', 'retryUntil', 'set'].some((kind) => Object.hasOwn(node, kind));
}

describe('$previous', () => {
  it('[RUN-347] a loop over items sees the result of the previous iteration', () => {
    const run = drive({
      nodes: { each: { forEach: { in: [1, 2, 3] }, do: { nodes: { a: { with: { before: '{{ $previous }}' } } } } } },
    });
    expect(run.attempts.get('each/0/a')?.input).toEqual({ before: null });
    run.complete('each/0/a', 'one');
    expect(run.attempts.get('each/1/a')?.input).toEqual({ before: 'one' });
    run.complete('each/1/a', { two: 2 });
    expect(run.attempts.get('each/2/a')?.input).toEqual({ before: { two: 2 } });
  });

  it('[RUN-347] it is null after an item that failed', () => {
    const run = drive({
      nodes: {
        each: {
          forEach: { in: [1, 2], minSuccess: 1 },
          do: { nodes: { a: { with: { before: '{{ $previous }}' } } } },
        },
      },
    });
    run.fail('each/0/a');
    expect(run.attempts.get('each/1/a')?.input).toEqual({ before: null });
  });

  it('[RUN-347] while and retryUntil have it, too: null after an iteration that failed', () => {
    const body = { nodes: { a: { with: { before: '{{ $previous }}' } } } };
    const loop = drive({ nodes: { l: { while: { condition: '$index < 2' }, do: body } } });
    loop.complete('l/0/a', 7);
    expect(loop.attempts.get('l/1/a')?.input).toEqual({ before: 7 });
    const poll = drive({ nodes: { p: { retryUntil: { until: 'false', attempts: 5 }, do: body } } });
    poll.complete('p/0/a', 'x').advance(60_000);
    expect(poll.attempts.get('p/1/a')?.input).toEqual({ before: 'x' });
    poll.fail('p/1/a').advance(60_000);
    expect(poll.attempts.get('p/2/a')?.input).toEqual({ before: null });
  });

  it('[PLN-80] it is refused where there is no iteration before', () => {
    const nodes = { a: { with: { before: '{{ $previous }}' } } };
    const each = (more: object): string[] =>
      problemsOf({
        nodes: { l: { forEach: { in: [1], ...more }, do: { nodes: { a: { action: 'do@1', ...nodes.a } } } } },
      });
    expect(each({})).toEqual([]);
    expect(each({ parallel: true })).toContain('NO_PREVIOUS');
    expect(problemsOf({ nodes })).toContain('NOT_IN_A_LOOP');
    const inner = { nodes: { a: { action: 'do@1' } } };
    expect(problemsOf({ nodes: { l: { while: { condition: '$previous == 1' }, do: inner } } })).toContain(
      'NO_PREVIOUS',
    );
  });
});
