import { everyCrashPoint, testWorkflow } from '@nebula/testing';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { at, call, defineAction, expr, jsonSchema, maybe, or, text, typed, wait, workflow } from '../src/index.ts';

/** Gives back what it is given. */
const echo = defineAction({
  id: 'test.echo',
  version: '1',
  effect: 'pure',
  input: jsonSchema<{ value: unknown }>({ type: 'object', required: ['value'] }),
  run: (_, { value }) => value,
});

const optional = defineAction({
  id: 'test.optional',
  version: '1',
  effect: 'pure',
  run: (): { name: string; nick?: string; home: { city: string } | null } => ({ name: 'Ada', home: null }),
});

const plan = defineAction({
  id: 'test.plan',
  version: '1',
  effect: 'pure',
  run: () => ({ nodes: { inner: { action: 'test.echo@1', with: { value: 'dynamic' } } }, output: '{{ $inner }}' }),
});

const config = { actions: [echo, optional, plan] };

describe('workflows written in TypeScript run', () => {
  test('[SDK-12] a missing value is null, and has no members', async () => {
    const flow = workflow('w', {}, (w) => {
      const user = w.node('user', optional, {});
      return {
        name: user.output.name,
        nick: user.output.nick,
        city: user.output.home.city,
        called: or(user.output.nick, user.output.name),
        text: text`<${user.output.nick}|${user.output.home}|${user.output.name}>`,
        none: at(typed<readonly number[]>(expr`[1, 2]`), 5),
        last: at(typed<readonly number[]>(expr`[1, 2]`), -1),
      };
    });
    const run = await testWorkflow(flow, { config });
    expect(run.error).toBeNull();
    expect(run.output).toEqual({
      name: 'Ada',
      nick: null,
      city: null,
      called: 'Ada',
      text: '<||Ada>',
      none: null,
      last: 2,
    });
  });

  test('[TST-23] a test knows the types of its workflow', async () => {
    const input = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;
    const flow = workflow('w', { input }, (w) => ({ double: expr<number>`${w.input.n} * 2` }));
    const run = await testWorkflow(flow, { input: { n: 2 } });
    expectTypeOf(run.output).toEqualTypeOf<{ readonly double: number } | null>();
    expect(run.output?.double).toBe(4);
    // @ts-expect-error the input is a number
    await expect(testWorkflow(flow, { input: { n: 'two' } })).rejects.toMatchObject({ code: 'INPUT_INVALID' });
    await everyCrashPoint(flow, {
      input: { n: 2 },
      steps: async ({ output }) => expectTypeOf(output).toEqualTypeOf<{ readonly double: number } | null>(),
    });
  });

  test('[SDK-15] loops in loops see the items of all of them', async () => {
    const flow = workflow('w', { variables: { total: 0 } }, (w) => {
      const outer = w.forEach('outer', ['a', 'b'], (o, letter, i) => {
        const inner = o.forEach('inner', [letter, 'x'], (n, sign, j) => {
          const said = n.while(
            'twice',
            (t, round) => t.node('say', echo, { value: text`${letter}${i}${sign}${j}${round}` }),
            {
              condition: (_, round) => expr<boolean>`${round} < 2 && ${letter} != 'z'`,
            },
          );
          return said.output;
        });
        return { letter, inner: inner.output };
      });
      const until = w.retryUntil('until', (b, round) => b.node('count', echo, { value: round }), {
        attempts: 5,
        until: (last, round) => expr<boolean>`${last} >= 2 && ${round} >= ${0}`,
        backoff: { delay: '1s' },
      });
      return { outer: outer.output, until: until.output };
    });
    const run = await testWorkflow(flow, { config });
    expect(run.error).toBeNull();
    expect(run.output).toEqual({
      outer: [
        { letter: 'a', inner: ['a0a01', 'a0x11'] },
        { letter: 'b', inner: ['b1b01', 'b1x11'] },
      ],
      until: 2,
    });
  });

  test('[SDK-19] split and merge, one in the other', async () => {
    const flow = workflow('w', {}, (w) => {
      const who = w.node('who', echo, { value: 'Ada' });
      const cities = w.split('cities', ['Rome', 'Oslo'], (s, city, i, all) => {
        const days = s.split('days', [1, 2], (t, day) =>
          t.node('say', echo, { value: text`${who.output} ${city}${i}/${all.length} ${day}` }),
        );
        const said = s.merge('said', days);
        const loud = s.node('loud', echo, { value: expr`${city}.upper()` });
        return { said, loud };
      });
      const first = w.merge(
        'first',
        w.split('race', [3, 1], (s, n) => s.node('nap', echo, { value: n })),
        { wait: 'any' },
      );
      return { all: w.merge('all', cities).output, first: first.output.aggregated.length, about: [w.id, w.version] };
    });
    const run = await testWorkflow(flow, { config });
    expect(run.error).toBeNull();
    expect(run.output).toEqual({
      all: {
        aggregated: [
          { said: { aggregated: ['Ada Rome0/2 1', 'Ada Rome0/2 2'] }, loud: 'ROME' },
          { said: { aggregated: ['Ada Oslo1/2 1', 'Ada Oslo1/2 2'] }, loud: 'OSLO' },
        ],
      },
      first: 1,
      about: ['w', 1],
    });
  });

  test('[SDK-21] a case that nothing comes after leads nowhere', async () => {
    const flow = workflow('w', {}, (w) => {
      const tests = w.branch('tests', { none: { when: true }, some: { when: true } });
      w.node('some', echo, { value: 1 }, { needs: [tests.case('some')] });
      w.node('other', echo, { value: 2 }, { needs: [tests.otherwise] });
    });
    const { status, skipped } = await testWorkflow(flow, { config });
    expect({ status, skipped: [...skipped].sort() }).toEqual({ status: 'completed', skipped: ['other', 'some'] });
  });

  test('[SDK-14] a node runs after the nodes that it reads, and only if its case is taken', async () => {
    const flow = workflow('w', {}, (w) => {
      const kind = w.node('kind', echo, { value: 'big' });
      const route = w.branch('route', typed<'big' | 'small'>(kind.output));
      const big = w.node('big', echo, { value: kind.output }, { needs: [route.case('big')] });
      const small = w.node('small', echo, { value: kind.output }, { needs: [route.case('small')] });
      const after = w.node('after', echo, { value: [maybe(big.output), maybe(small.output), kind.output] });
      const more = w.forEach('more', [1], (b, item) =>
        b.node(
          'grow',
          echo,
          { value: item },
          { emit: () => typed<readonly number[]>(expr`${item} < 3 ? [${item} + 1] : []`) },
        ),
      );
      return { after: after.output, more: more.output, made: w.dynamic('made', plan, {}).output };
    });
    const run = await testWorkflow(flow, { config });
    expect(run.error).toBeNull();
    expect(run.output).toEqual({ after: ['big', null, 'big'], more: [1, 2, 3], made: 'dynamic' });
    expect(run.skipped).toEqual(['small']);
  });

  test('[SDK-10] waits, variables, compensation and the failure node', async () => {
    const flow = workflow('w', { variables: { seen: [] as readonly unknown[] } }, (w) => {
      const done = w.node(
        'done',
        echo,
        { value: { id: 'd1' } },
        {
          compensate: (output) => call(echo, { value: text`undo ${typed<{ id: string }>(output).id}` }),
        },
      );
      const paid = w.wait(
        'paid',
        wait.signal('paid', {
          key: 'k1',
          schema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
        }),
        { needs: [done] },
      );
      const noted = w.set('note', { seen: [paid.output.payload.sum] });
      w.terminate(
        'stop',
        'failed',
        { error: { code: 'ENOUGH', message: text`${paid.output.payload.sum} is enough` } },
        { needs: [noted] },
      );
      w.onFailure(w.node('tell', echo, { value: text`${w.execution.error.message}: ${w.vars.seen}` }));
    });
    const run = await testWorkflow(flow, { config });
    await run.signal('paid', { sum: 3 }, 'k1');
    expect(run).toMatchObject({ status: 'failed', error: { code: 'ENOUGH', message: '3 is enough' } });
    expect(run.calls('test.echo').map(({ input }) => input)).toEqual([
      { value: { id: 'd1' } },
      { value: 'undo d1' },
      { value: '3 is enough: [3]' },
    ]);
  });

  test('[SDK-13] one workflow in another, inline and as a child', async () => {
    const inner = workflow(
      'inner',
      { input: { type: 'object', properties: { n: { type: 'number', default: 4 } } } as const },
      (w) => ({
        doubled: w.node('twice', echo, { value: expr`${w.input.n} * 2` }).output,
      }),
    );
    const flow = workflow('outer', {}, (w) => {
      const a = w.workflow('a', inner, {}, { output: (output) => ({ got: output.doubled }) });
      const b = w.workflow('b', inner, { n: 5 }, { mode: 'child' });
      return [a.output.got, b.output.doubled];
    });
    const run = await testWorkflow(flow, { config, workflows: flow.uses });
    expect(run.error).toBeNull();
    expect(run.output).toEqual([8, 10]);
  });
});
