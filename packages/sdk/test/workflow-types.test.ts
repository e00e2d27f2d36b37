/** Code that must not compile. `npm run check -- types` fails if one of these lines compiles. */
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  at,
  call,
  type Expression,
  expr,
  maybe,
  or,
  text,
  typed,
  type WorkflowInput,
  type WorkflowOutput,
  wait,
  workflow,
} from '../src/index.ts';
import { fetchUser, pack, recallMail, sendMail } from './workflow-actions.ts';

/** The code is for the compiler; it is never run. */
const uncalled = (_: () => void) => undefined;

type BlobPins<R> = R extends Expression<infer T> ? T : never;
const holds = <T>(_: Expression<T>) => expectTypeOf<T>();

describe('wrong types do not compile', () => {
  test('[SDK-11] names and types of parameters, and of references', () => {
    uncalled(() =>
      workflow('w', { input: z.object({ id: z.string(), age: z.number() }), variables: { n: 0 } }, (w) => {
        const user = w.node('user', fetchUser, { id: w.input.id });
        w.node('mail', sendMail, { to: user.output.email, subject: text`Hello ${user.output.name}` });
        // @ts-expect-error the output has no such member
        w.node('a', sendMail, { to: user.output.mail });
        // @ts-expect-error the input has no such member
        w.node('b', fetchUser, { id: w.input.key });
        // @ts-expect-error a number is no text
        w.node('c', fetchUser, { id: w.input.age });
        // @ts-expect-error a parameter is missing
        w.node('d', sendMail, {});
        // @ts-expect-error the action has no such parameter
        w.node('e', sendMail, { to: 'x', cc: 'y' });
        // @ts-expect-error a literal of the wrong type
        w.node('f', sendMail, { to: 3 });
        // @ts-expect-error it may be missing
        w.node('g', sendMail, { to: user.output.nick });
        w.node('h', sendMail, { to: or(user.output.nick, user.output.name) });
        // @ts-expect-error a node is no value
        w.node('i', sendMail, { to: user });
        // @ts-expect-error one reference for all parameters
        w.node('j', recallMail, typed<{ id: string }>(w.trigger));
        // @ts-expect-error nothing says what the expression gives
        w.node('k', sendMail, { to: expr`${w.input.age} + 1` });
        // @ts-expect-error it says that it is a number
        w.node('l', sendMail, { to: expr<number>`${w.input.age} + 1` });
        // @ts-expect-error there is no such option
        w.node('m', sendMail, { to: 'x' }, { retrys: { attempts: 3 } });
        // @ts-expect-error only what is true or false
        w.node('n', sendMail, { to: 'x' }, { when: w.input.age });
        // @ts-expect-error there is no such variable
        w.set('o', { m: 1 });
        // @ts-expect-error the variable is a number
        w.set('p', { n: 'one' });
        // @ts-expect-error text is no part of other expressions
        expr`${text`a`} + 1`;
      }),
    );
    expect(uncalled).toBeDefined();
  });

  test('[SDK-11] items, iterations, errors, signals and cases', () => {
    uncalled(() =>
      workflow('w', { input: z.object({ id: z.string() }) }, (w) => {
        const user = w.node('user', fetchUser, { id: w.input.id });
        w.forEach('orders', user.output.orders, (b, item, index) => {
          holds(index).toEqualTypeOf<number>();
          // @ts-expect-error the item has no such member
          b.node('a', pack, { sku: item.name });
          // @ts-expect-error items of the loop are orders
          b.node('b', pack, {}, { emit: ['more'] });
          return b.node('pack', pack, { sku: item.sku });
        });
        // @ts-expect-error not a list
        w.forEach('letters', user.output.plan, () => undefined);
        const route = w.branch('route', user.output.plan);
        route.case('paid');
        // @ts-expect-error the plan is never that
        route.case('gold');
        const tests = w.branch('tests', { big: { when: expr<boolean>`1 > 0` }, odd: { error: { code: 'X' } } });
        // @ts-expect-error there is no such case
        tests.case('small');
        // @ts-expect-error a case has one of when, match and error
        w.branch('bad', { big: { if: true } });
        const paid = w.wait('paid', wait.signal('paid', { schema: z.object({ amount: z.number() }) }));
        holds(paid.output.payload.amount).toEqualTypeOf<number>();
        // @ts-expect-error the signal carries no such member
        paid.output.payload.total;
        // @ts-expect-error what a node fails with has no such member
        user.error.reason;
        holds(user.error.code).toEqualTypeOf<string | null>();
        // @ts-expect-error the output has no such member
        w.edge(user, paid, { on: 'result', match: { plans: 'paid' } });
        // @ts-expect-error errors have code, kind and message
        w.edge(user, paid, { on: 'error', match: { status: 404 } });
        // @ts-expect-error what undoes it has no such parameter
        w.node('m', sendMail, { to: 'x' }, { compensate: (mail) => call(recallMail, { key: mail.id }) });
        w.retryUntil('poll', (b) => b.node('ask', fetchUser, { id: 'x' }), {
          attempts: 3,
          // @ts-expect-error the body gives no such member
          until: (last) => last.done,
        });
      }),
    );
    expect(uncalled).toBeDefined();
  });

  test('[SDK-12] a value that may be missing is null', () => {
    uncalled(() =>
      workflow('w', {}, (w) => {
        const user = w.node('user', fetchUser, { id: '1' });
        holds(user.output.name).toEqualTypeOf<string>();
        holds(user.output.nick).toEqualTypeOf<string | null>();
        holds(user.output.address).toEqualTypeOf<{ city: string; 'post-code': string } | null>();
        holds(user.output.address.city).toEqualTypeOf<string | null>();
        holds(user.output.orders.length).toEqualTypeOf<number>();
        holds(at(user.output.orders, 0).gift).toEqualTypeOf<string | null>();
        holds(maybe(user.output).name).toEqualTypeOf<string | null>();
        holds(or(user.output.nick, 'none')).toEqualTypeOf<string>();
        const lenient = w.node('lenient', fetchUser, { id: '2' }, { onError: 'ignore' });
        holds(lenient.output.name).toEqualTypeOf<string | null>();
        const parts = w.forEach('parts', [1, 2], (b, item) => b.node('p', pack, { item }), { minSuccess: '50%' });
        holds(parts.output).toEqualTypeOf<readonly ({ parcel: string; grams: number } | null)[]>();
        const race = w.wait('race', [wait.signal('paid', { schema: z.object({ sum: z.number() }) }), wait.for('1d')]);
        holds(race.output.event).toEqualTypeOf<'paid' | 'for'>();
        holds(race.output.payload.sum).toEqualTypeOf<number | null>();
      }),
    );
    expect(uncalled).toBeDefined();
  });
});

test('[SDK-19] a split knows the type of its items, a merge that of the results', () => {
  uncalled(() =>
    workflow('w', {}, (w) => {
      const user = w.node('user', fetchUser, { id: '1' });
      const one = w.split('one', user.output.orders, (s, order, index, orders) => {
        holds(order.quantity).toEqualTypeOf<number>();
        holds(index).toEqualTypeOf<number>();
        holds(orders.length).toEqualTypeOf<number>();
        // @ts-expect-error the item has no such member
        s.node('a', pack, { sku: order.name });
        return s.node('pack', pack, { sku: order.sku });
      });
      const merged = w.merge('merged', one, { wait: 'all' });
      holds(merged.output.aggregated).toEqualTypeOf<readonly { parcel: string; grams: number }[]>();
      const two = w.split('two', [1, 2], (s, n) => ({
        a: s.node('a', pack, { n }),
        b: s.node('b', sendMail, { to: 'x' }),
      }));
      holds(at(w.merge('both', two).output.aggregated, 0).b.id).toEqualTypeOf<string | null>();
      const none = w.split('none', ['x'], () => undefined);
      holds(w.merge('items', none).output.aggregated).toEqualTypeOf<readonly string[]>();
      // @ts-expect-error what comes next needs the merge
      w.node('after', pack, {}, { needs: [one] });
      // @ts-expect-error only failures lead out of a split
      w.edge(one, user);
      // @ts-expect-error a merge comes after its iterations only
      w.merge('bad', one, { needs: [user] });
      // @ts-expect-error values are made by nodes
      w.split('bad', [1], (_, n) => n);
    }),
  );
  expect(uncalled).toBeDefined();
});

test('[SDK-13] a workflow has an input and an output, by which others use it', () => {
  const part = workflow('part', { input: z.object({ id: z.string(), deep: z.boolean().default(false) }) }, (w) => {
    holds(w.input.deep).toEqualTypeOf<boolean>();
    const user = w.node('user', fetchUser, { id: w.input.id, deep: w.input.deep });
    return { city: user.output.address.city, names: [user.output.name], fixed: 3 };
  });
  expectTypeOf<WorkflowInput<typeof part>>().toEqualTypeOf<{ id: string; deep?: boolean | undefined }>();
  expectTypeOf<WorkflowOutput<typeof part>>().toEqualTypeOf<{
    readonly city: string | null;
    readonly names: readonly string[];
    readonly fixed: number;
  }>();
  uncalled(() =>
    workflow('whole', {}, (w) => {
      const inner = w.workflow('inner', part, { id: 'x' });
      holds(inner.output.city).toEqualTypeOf<string | null>();
      const mapped = w.workflow('mapped', part, { id: 'x' }, { output: (output) => ({ town: output.city }) });
      holds(mapped.output.town).toEqualTypeOf<string | null>();
      // @ts-expect-error the workflow's input needs an id
      w.workflow('bad', part, {});
      // @ts-expect-error its output has no such member
      inner.output.town;
    }),
  );
  expectTypeOf<BlobPins<Expression<3>>>().toEqualTypeOf<3>();
});
