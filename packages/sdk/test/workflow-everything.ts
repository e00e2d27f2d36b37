/** A workflow with every kind of node and every key of the language. Long because there are so many of them. */
import { z } from 'zod';
import { at, call, expr, or, text, wait, workflow } from '../src/index.ts';
import { fetchUser, pack, plan, recallMail, sendMail } from './workflow-actions.ts';

export const ship = workflow(
  'ship',
  { input: z.object({ sku: z.string(), fast: z.boolean().default(false) }) },
  (w) => {
    const packed = w.node('pack', pack, { sku: w.input.sku, fast: w.input.fast });
    return { parcel: packed.output.parcel };
  },
);

export const everything = workflow(
  'everything',
  {
    nebula: 1,
    name: 'All of it',
    description: 'What the language can say',
    tags: ['a'],
    version: 3,
    input: z.object({ id: z.string(), note: z.string().optional() }),
    variables: { round: 0, names: [] as readonly string[] },
    config: {
      mode: 'parallel',
      maxParallelism: 50,
      timeout: '1h',
      onFailure: 'finish-running',
      retry: { policy: 'exponential-jitter', initial: '1s', max: '1m', multiplier: 3, attempts: 2, lost: 5 },
      maxTotalRetries: 20,
      priority: 6,
      retention: '30d',
      capabilities: {
        network: ['example.com'],
        files: { read: ['in/**'], write: ['out/**'] },
        shell: ['git'],
        env: ['HOME'],
      },
    },
  },
  (w) => {
    w.startsBy(w.input.id, { policy: 'debounce', window: '10s' });
    const methods = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'] as const;
    for (const method of methods) {
      w.startsOn({ webhook: { path: '/all', method, respond: 'result', input: { id: w.input.id } } });
    }
    for (const algorithm of ['sha256', 'sha1', 'sha512'] as const) {
      const signature = {
        secret: 'hook',
        header: 'X-Proof',
        scheme: 'hmac',
        algorithm,
        encoding: 'hex',
        prefix: 'p=',
      } as const;
      w.startsOn({ webhook: { path: `/${algorithm}`, respond: 'immediate', signature } });
    }
    w.startsOn({ webhook: { path: '/b', signature: { secret: 'hook', encoding: 'base64' } } });
    w.startsOn({ webhook: { path: '/t', signature: { secret: 'hook', scheme: 'token' } } });
    for (const catchUp of ['none', 'last', 'all'] as const) {
      w.startsOn({ schedule: { cron: '0 6 * * *', timezone: 'Europe/Berlin', catchUp, input: { id: 'daily' } } });
    }
    w.startsOn({ interval: { every: '5m', input: { id: w.trigger } } });
    w.startsOn({ event: { name: 'placed', key: w.input.id, input: { id: w.input.id } } });
    w.startsOn({ file: { path: 'inbox/*.csv', input: { id: 'file' } } });
    const user = w.node(
      'user',
      fetchUser,
      { id: w.input.id },
      {
        name: 'Who it is',
        notes: 'Asked first',
        priority: 9,
        estimate: '2s',
        enabled: true,
        effect: 'pure',
        labels: ['eu'],
        capabilities: { network: ['crm.example.com'] },
        retry: { policy: 'fixed', delay: '1s', attempts: 3, on: ['BUSY'] },
        timeout: { attempt: '10s', queued: '1m', total: '2m' },
        cache: { version: 2, ttl: '1h', ignore: ['deep'], overwrite: false },
        concurrency: { key: text`user-${w.input.id}`, limit: 2 },
        rateLimit: { key: 'crm', limit: 3, per: '1s' },
        credentials: { api: 'crm-key' },
      },
    );
    const mail = w.node(
      'first-mail',
      sendMail,
      { to: user.output.email, subject: text`Hello ${or(user.output.nick, user.output.name)}!`, copies: 1 },
      { compensate: (sent) => call(recallMail, { id: sent.id }, { retry: { attempts: 2 }, timeout: '5s' }) },
    );
    const route = w.branch('route', user.output.plan, { needs: [mail] });
    const packed = w.forEach(
      'items',
      user.output.orders,
      (b, item, index) => {
        const one = b.node('pack', pack, { sku: item.sku, gift: item.gift, to: user.output.name, index });
        const again = b.while(
          'again',
          (c, round) => c.node('inner', pack, { sku: item.sku, round, weight: one.output.grams }, { break: true }),
          {
            condition: (last, round) => expr<boolean>`${round} < 3 && ${last.grams} != ${item.quantity}`,
            maxIterations: 5,
          },
        );
        b.node('more', pack, { again: again.output }, { emit: (output) => [{ sku: output.parcel, quantity: 1 }] });
        return { parcel: one.output.parcel, again: again.output.grams };
      },
      { parallel: true, maxConcurrency: 3, minSuccess: '80%', needs: [route.case('paid')], timeout: { total: '1h' } },
    );
    const tests = w.branch(
      'tests',
      {
        failed: { error: { code: ['TIMEOUT', 'GONE'], kind: ['USER', 'SYSTEM'], message: '/late/' } },
        big: { when: expr<boolean>`${at(packed.output, 0).parcel} != null` },
        fits: { match: { length: { gt: 3 } } },
      },
      { many: true },
    );
    w.edge(packed, tests, { on: 'always' });
    const poll = w.retryUntil('poll', (b) => b.node('ask', fetchUser, { id: 'x' }), {
      attempts: 5,
      until: (last) => expr<boolean>`${last.plan} == 'paid'`,
      backoff: { delay: '5s' },
      needs: [tests.case('big'), tests.case('fits')],
    });
    w.group(
      'both',
      (b) => {
        const first = b.node('first', fetchUser, { id: 'x' });
        return b.node('second', pack, { sku: first.output.plan });
      },
      {
        retry: [
          { on: ['TIMEOUT', '/^HTTP_5/'], attempts: 5, delay: '1s' },
          { on: ['SYSTEM'], attempts: 2 },
        ],
        timeout: '1m',
      },
    );
    w.plan('planned', 'nightly', { day: 'monday' }, { output: (output) => ({ of: output }) });
    const inline = w.workflow(
      'inline',
      ship,
      { sku: 'x' },
      { isolation: 'transactional', output: (out) => out.parcel },
    );
    w.edge(tests.otherwise, inline);
    w.workflow(
      'child',
      ship,
      { sku: inline.output, fast: true },
      { mode: 'child', version: 1, retry: { attempts: 2 } },
    );
    w.dynamic('dynamic', plan, { goal: poll.output.name });
    const orders = w.split(
      'orders',
      user.output.orders,
      (s, order, index, orders) => {
        const look = s.node('look', pack, { sku: order.sku, index, of: orders.length, run: [w.id, w.version] });
        return {
          look,
          weigh: s.node('weigh', pack, { parcel: look.output.parcel }, { join: 'any' }),
          ask: s.node('ask', fetchUser, { id: order.sku }),
        };
      },
      { onError: 'branch', timeout: '1h' },
    );
    const merged = w.merge('merged', orders, {
      wait: 'any',
      timeout: '5m',
      when: expr<boolean>`${mail.output.id} != ''`,
    });
    w.edge(orders, w.node('lost', pack, { why: orders.error.message }), { on: 'error', match: { code: '/.*/' } });
    const paid = w.wait(
      'paid',
      [
        wait.signal('paid', { key: w.input.id, schema: z.object({ sum: z.number() }) }),
        wait.for('1d'),
        wait.until(w.execution.startedAt),
        wait.callback(),
        wait.approval({
          title: text`Pay ${user.output.name}?`,
          who: ['ann', user.output.email],
          form: z.object({ ok: z.boolean() }),
        }),
      ],
      { deadline: '7d', needs: [user] },
    );
    w.set('count', { round: expr<number>`${w.vars.round} + 1`, names: [user.output.name] });
    w.edge(user, w.terminate('stop', 'failed', { error: { code: 'NO', message: text`no ${w.input.note}` } }), {
      on: 'result',
      match: { plan: { in: ['free'] }, orders: { exists: true } },
      when: expr<boolean>`${user.attempts} > 1`,
    });
    const done = w.terminate('done', 'completed', { output: { sum: paid.output.payload } }, { when: user.success });
    w.onFailure(w.node('tell', sendMail, { to: 'ops', subject: text`${w.execution.error.message} ${done.status}` }));
    return {
      parcels: packed.output,
      nick: user.output.nick,
      merged: merged.output.aggregated,
      plain: 'a {{ b',
      list: [1, null, true],
    };
  },
);

/** The choices that one workflow cannot all make. */
export const variants = [
  ...(['levels', 'sequential'] as const).map((mode) =>
    workflow(mode, { config: { mode, retry: { policy: 'exponential', attempts: 2 } } }, (w) => {
      w.startsBy(w.trigger, { policy: mode === 'levels' ? 'allow' : 'singleton' });
      const a = w.node('a', pack, {}, { effect: mode === 'levels' ? 'idempotent' : 'once', onError: 'ignore' });
      const b = w.node('b', pack, {}, { join: mode === 'levels' ? 'all' : 'ended', onError: 'halt' });
      w.edge(a, b, { on: 'success', when: true });
      w.merge(
        'all',
        w.split('each', [1, 2], () => undefined),
        { wait: 'all' },
      );
      w.workflow('ship', ship, { sku: 'x' }, { mode: 'inline', isolation: mode === 'levels' ? 'shared' : 'isolated' });
    }),
  ),
  ...(['fail-fast', 'ignore'] as const).map((onFailure) =>
    workflow(onFailure, { config: { onFailure, retention: 'forever' } }, (w) => {
      w.forEach('each', [1], (b, item) => b.edge(b.node('a', pack, { item }), b.node('b', pack, {}), { on: 'always' }));
      w.wait('nap', wait.for('1d'));
      w.wait('date', wait.until('2030-01-01T00:00:00Z'));
      w.wait('call', wait.callback());
      w.wait('go', wait.signal('go', { key: 'k', schema: { type: 'string' } }));
      w.wait('ok', wait.approval({ title: 'Ok?', who: 'ann' }));
    }),
  ),
  ...(['fixed', 'exponential', 'exponential-jitter'] as const).map((policy) =>
    workflow(policy, {}, (w) => {
      const grows = { initial: '1s', max: '1h', multiplier: 2 };
      const backoff = { policy, ...(policy === 'fixed' ? { delay: '1s' } : grows), on: ['BUSY'] };
      w.retryUntil('ask', (b) => b.node('it', pack, {}), { attempts: 3, backoff });
    }),
  ),
  ...(['pure', 'idempotent', 'once'] as const).map((effect) =>
    workflow(`undo-${effect}`, {}, (w) => {
      const mail = { to: 'ann', subject: 'Hello' };
      w.node('mail', sendMail, mail, { compensate: (sent) => call(recallMail, { id: sent.id }, { effect }) });
    }),
  ),
  // Objects list such ids by their size: `order` keeps the order of the calls.
  workflow('numbers', {}, (w) => {
    w.node('20', pack, {});
    w.group('3', (b) => {
      b.node('9', pack, {});
      b.node('8', pack, {});
    });
  }),
];
