/** Where runs may come from and what they may reach: no run, child, graph, lease or secret crosses a project. */
import { type Action, announcedAction, type Capabilities, type Ceiling, type Json } from '@nebula/core';
import { memorySecrets } from '@nebula/drivers/secrets';
import { describe, expect, it } from 'vitest';
import type { ClaimRequest } from '../src/api.ts';
import type { Projects, RemoteTask } from '../src/index.ts';
import { type BenchOptions, BenchTop } from './bench-top.ts';

const SHELL: Capabilities = { shell: ['*'] };

/** Workflows belong to the project that their id begins with. */
class Two implements Projects {
  readonly ceilings: Record<string, Ceiling> = { alpha: { shell: ['git'] }, beta: 'all' };

  async projectOf(workflowId: string): Promise<string | undefined> {
    return workflowId.split('-')[0];
  }

  async ceilingOf(project: string): Promise<Ceiling> {
    return this.ceilings[project] ?? {};
  }
}

class AuthorityBench extends BenchTop {
  readonly projects = new Two();
  readonly grants: Record<string, unknown> = {};
  readonly seen: Record<string, string> = {};

  readonly own: readonly Action[] = [
    {
      id: 'graph',
      version: '1',
      effect: 'pure',
      run: (_ctx, input) => (input as { graph: Json }).graph,
    },
    {
      id: 'secret',
      version: '1',
      effect: 'pure',
      run: async (ctx) => {
        this.seen[ctx.workflowId] = await ctx.credential('api');
        return null;
      },
    },
  ];

  async openWith(options: BenchOptions = {}): Promise<this> {
    await this.open({ actions: [...this.actions, ...this.own], projects: this.projects, ...options });
    const { sandbox } = this.drivers;
    const run = sandbox.run.bind(sandbox);
    sandbox.run = (invocation) => {
      this.grants[invocation.node] = invocation.granted;
      return run(invocation);
    };
    return this;
  }

  async go(id: string, definition: Record<string, unknown>, more: object = {}): Promise<string> {
    await this.register({ id, ...definition });
    const started = this.engine.start(id, undefined, more);
    await this.untilIdle();
    const executionId = await started;
    await this.clock.advance(50);
    return executionId;
  }

  async authorityOf(executionId: string): Promise<unknown> {
    const [frame] = await this.engine.journal(executionId);
    return (frame?.entries[0] as { authority?: unknown } | undefined)?.authority;
  }
}

const opened = (options?: BenchOptions): Promise<AuthorityBench> => new AuthorityBench().openWith(options);
const echo = { action: 'echo@1' };

describe('the authority of runs', () => {
  it('[ENG-230] a run has the ceiling of its project, and keeps it when that changes', async () => {
    const top = await opened();
    const nodes = { a: { action: 'hand@1', capabilities: SHELL }, b: { ...echo, needs: ['a'], capabilities: SHELL } };
    const executionId = await top.go('alpha-a', { nodes }, { principal: 'ada' });
    expect(top.grants).toEqual({ a: { shell: ['git'] } });
    expect(await top.authorityOf(executionId)).toEqual({ principal: 'ada', ceiling: { shell: ['git'] } });
    top.projects.ceilings['alpha'] = 'all';
    await top.openWith();
    await top.clock.advance(60_000);
    await top.complete('a');
    expect(top.grants['b']).toEqual({ shell: ['git'] });
  });

  it('[ENG-230] without a ceiling of its own a project grants nothing', async () => {
    const top = await opened();
    await top.go('gamma-a', { config: { capabilities: SHELL }, nodes: { a: echo } });
    expect(top.grants).toEqual({ a: {} });
  });

  it('[ENG-230] a start can only narrow the grants of the project', async () => {
    const top = await opened();
    const nodes = { a: { ...echo, capabilities: { shell: ['*'], network: ['*'] } } };
    await top.go('alpha-a', { nodes }, { authority: { ceiling: { network: ['*'], shell: ['git', 'sh'] } } });
    expect(top.grants).toEqual({ a: { shell: ['git'] } });
  });

  it('[ENG-230] verify of a cut-off attempt gets no more than the ceiling grants', async () => {
    const asked: unknown[] = [];
    const pay: Action = {
      id: 'charge',
      version: '1',
      effect: 'once',
      capabilities: ['env'],
      run: () => new Promise(() => {}),
      verify: (ctx) => {
        try {
          asked.push(ctx.env('PATH'));
        } catch (error) {
          asked.push((error as { code: string }).code);
        }
        return { happened: true, output: null };
      },
    };
    const nodes = { a: { action: 'charge@1', capabilities: { env: ['PATH'] } } };
    for (const id of ['alpha-a', 'beta-a']) {
      const top = await opened({ actions: [pay] });
      await top.go(id, { nodes });
      await top.openWith({ actions: [pay] });
      await top.clock.advance(60_000);
    }
    expect(asked).toEqual(['CAPABILITY_DENIED', process.env['PATH']]);
  });

  it('[ENG-278] the cache gives no output of a resource that the node does not reach', async () => {
    const top = await opened();
    const node = (capabilities?: Capabilities) => ({
      nodes: { a: { ...echo, cache: { version: 1 }, with: { n: 1 }, ...(capabilities && { capabilities }) } },
    });
    const attempts: unknown[] = [];
    for (const [index, capabilities] of [SHELL, undefined, { shell: ['git'] }, { shell: ['sh'] }].entries()) {
      const executionId = await top.go(`alpha-${index}`, node(capabilities));
      attempts.push((await top.engine.document(executionId))?.nodes.a?.attempts);
    }
    // Within the ceiling, `*` is `git`, and `sh` is nothing.
    expect(attempts).toEqual([1, 1, 0, 0]);
  });

  it('[ENG-231] a run that began before ceilings has that of its project when it is loaded', async () => {
    const top = new AuthorityBench();
    await top.open({ actions: [...top.actions, ...top.own] });
    const nodes = { a: { action: 'hand@1' }, b: { ...echo, needs: ['a'], capabilities: SHELL } };
    const executionId = await top.go('alpha-a', { nodes }, { project: 'alpha' });
    expect(await top.authorityOf(executionId)).toBeUndefined();
    await top.openWith();
    await top.clock.advance(60_000);
    await top.complete('a');
    expect(top.grants['b']).toEqual({ shell: ['git'] });
  });

  it('[ENG-232] a start finds no workflow of another project', async () => {
    const top = await opened();
    await top.register({ id: 'beta-priv', nodes: { a: echo } });
    await expect(top.engine.start('beta-priv', undefined, { project: 'alpha' })).rejects.toMatchObject({
      code: 'UNKNOWN_WORKFLOW',
      message: "There is no workflow 'beta-priv'.",
    });
  });

  it('[ENG-232] a graph returned at run time starts no workflow of another project', async () => {
    const top = await opened();
    await top.register({ id: 'beta-priv', nodes: { a: echo } });
    const graph = { nodes: { steal: { workflow: { id: 'beta-priv', mode: 'child' } } } };
    const nodes = { plan: { dynamic: { action: 'graph@1', with: { graph } } } };
    const executionId = await top.go('alpha-a', { nodes });
    const document = await top.engine.document(executionId);
    expect(document).toMatchObject({ status: 'failed', error: { code: 'UNKNOWN_WORKFLOW' } });
    expect(JSON.stringify(document)).not.toContain('echo');
    expect((await top.engine.list({ limit: 10 })).rows.map(({ workflowId }) => workflowId)).toEqual(['alpha-a']);
  });

  it('[ENG-233] a plan inlines no workflow of another project', async () => {
    const top = await opened();
    await top.register({ id: 'beta-priv', nodes: { hidden: echo } });
    await top.register({ id: 'alpha-a', nodes: { steal: { workflow: { id: 'beta-priv' } } } });
    const plan = top.engine.plan('alpha-a');
    await expect(plan).rejects.toMatchObject({ code: 'PLAN_INVALID', message: expect.not.stringContaining('hidden') });
  });

  it('[ENG-234] a child has the authority of its parent, and that of a returned graph at the most', async () => {
    const top = await opened();
    await top.register({ id: 'beta-child', config: { capabilities: SHELL }, nodes: { sh: echo } });
    const child = { workflow: { id: 'beta-child', mode: 'child' } };
    const nodes = {
      plan: { dynamic: { action: 'graph@1', with: { graph: { nodes: { child } } } }, capabilities: { shell: ['ls'] } },
    };
    await top.go('beta-a', { nodes }, { principal: 'bob' });
    expect(top.grants['sh']).toEqual({ shell: ['ls'] });
    const { rows } = await top.engine.list({ limit: 10 });
    const own = rows.find(({ workflowId }) => workflowId === 'beta-child');
    expect(own?.project).toBe('beta');
    expect(await top.authorityOf(own?.executionId ?? '')).toEqual({ principal: 'bob', ceiling: { shell: ['ls'] } });
  });

  describe('[ENG-239] a revoked grant does not come back by an old run', () => {
    const ended = async (top: AuthorityBench): Promise<string> => {
      const a = { action: 'hand@1', capabilities: SHELL };
      const executionId = await top.go('beta-a', { nodes: { a } }, { principal: 'ada' });
      expect(top.grants['a']).toEqual(SHELL);
      await top.fail('a');
      expect(await top.status(executionId)).toBe('failed');
      top.projects.ceilings['beta'] = { shell: ['git'] };
      return executionId;
    };
    it.each([
      ['a retry', (top: AuthorityBench, id: string) => top.engine.requestRetry(id)],
      ['a replay', (top: AuthorityBench, id: string) => top.engine.requestReplay(id, 'a', { edited: true })],
      ['a fork', (top: AuthorityBench, id: string) => top.engine.fork(id, 'a', { edited: true }, 'eve')],
    ])('%s', async (_, again) => {
      const top = await opened();
      const executionId = await ended(top);
      await again(top, executionId);
      await top.clock.advance(50);
      expect(top.grants['a']).toEqual({ shell: ['git'] });
      top.projects.ceilings['beta'] = 'all';
      await top.openWith();
      await top.clock.advance(60_000);
      expect(top.grants['a']).toEqual({ shell: ['git'] });
    });

    it('a child that is retried with its parent', async () => {
      const top = await opened();
      await top.register({ id: 'beta-child', nodes: { sh: { action: 'hand@1', capabilities: SHELL } } });
      const child = { workflow: { id: 'beta-child', mode: 'child' } };
      const executionId = await top.go('beta-a', { nodes: { child } });
      expect(top.grants['sh']).toEqual(SHELL);
      await top.fail('sh');
      await top.clock.advance(50);
      expect(await top.status(executionId)).toBe('failed');
      top.projects.ceilings['beta'] = {};
      await top.engine.requestRetry(executionId);
      await top.clock.advance(100);
      expect(top.grants['sh']).toEqual({});
    });
  });

  it('[ENG-234] a fork has the principal that forks', async () => {
    const top = await opened();
    const executionId = await top.go('alpha-a', { nodes: { a: echo } }, { principal: 'ada' });
    const forkId = await top.engine.fork(executionId, 'a', undefined, 'eve');
    expect(await top.authorityOf(forkId)).toEqual({ principal: 'eve', ceiling: { shell: ['git'] } });
    expect(await top.authorityOf(executionId)).toEqual({ principal: 'ada', ceiling: { shell: ['git'] } });
  });

  it('[ENG-245] values that no run takes are refused wherever they are given', async () => {
    const top = await opened();
    const deep = JSON.parse(`${'['.repeat(201)}${']'.repeat(201)}`) as Json;
    const odd = { a: [Number.POSITIVE_INFINITY] };
    const ended = await top.go('beta-a', { nodes: { a: echo } });
    const waiting = await top.go('beta-b', {
      nodes: {
        ok: { wait: { approval: { title: 'ok?' } } },
        called: { wait: { callback: true } },
        paid: { action: 'pay@1' },
      },
    });
    await top.fail('paid', { details: { outcome: 'unknown' } });
    expect(await top.statuses(waiting)).toMatchObject({ ok: 'waiting', called: 'waiting', paid: 'unknown' });
    const { engine } = top;
    for (const value of [deep, odd] as Json[]) {
      for (const give of [
        () => engine.requestReplay(ended, 'a', value),
        () => engine.fork(ended, 'a', value),
        () => engine.requestSignal(waiting, { signal: 's', payload: value }),
        () => engine.publishSignal({ signal: 's', payload: value }),
        () => engine.requestAnswer(waiting, 'ok', { approved: true, by: 'ada', form: value }),
        () => engine.requestCallback(waiting, 'called', value),
        () => engine.requestSettle(waiting, 'paid', { happened: true, output: value }),
      ]) {
        await expect(give(), String(give)).rejects.toMatchObject({ code: 'INPUT_INVALID' });
      }
    }
    expect(await top.store.inbox(waiting)).toEqual([]);
  });

  it('[ENG-234] a fork keeps the authority of its run', async () => {
    const top = await opened();
    const executionId = await top.go('alpha-a', { nodes: { a: { ...echo, capabilities: SHELL } } });
    top.projects.ceilings['alpha'] = 'all';
    const forkId = await top.engine.fork(executionId, 'a');
    await top.clock.advance(50);
    expect(await top.authorityOf(forkId)).toEqual({ ceiling: { shell: ['git'] } });
    expect(top.grants['a']).toEqual({ shell: ['git'] });
  });
});

describe('secrets of projects', () => {
  it('[ENG-235] an attempt gets only the secrets of its project, under any name', async () => {
    const secrets = memorySecrets({ api: 'of the default', 'beta/api': 'of beta only' });
    const top = await opened({ secrets });
    const nodes = (name: string) => ({ nodes: { a: { action: 'secret@1', credentials: { api: name } } } });
    await top.go('beta-a', nodes('api'));
    await top.go('default-a', nodes('api'));
    expect(top.seen).toEqual({ 'beta-a': 'of beta only', 'default-a': 'of the default' });
    for (const [id, name] of [
      ['alpha-a', 'api'],
      ['alpha-b', 'beta/api'],
      ['default-b', 'beta/api'],
      ['alpha-c', '../beta/api'],
    ] as const) {
      const executionId = await top.go(id, nodes(name));
      expect(await top.engine.document(executionId)).toMatchObject({ error: { code: 'SECRET_NOT_FOUND' } });
    }
  });
});

describe('workers of projects', () => {
  const far = (project?: string) => announcedAction({ id: 'far', version: '1', effect: 'pure' }, project);
  const request = (more: Partial<ClaimRequest> = {}): ClaimRequest => ({
    serves: () => true,
    max: 1,
    leaseMs: 30_000,
    holder: 'gpu-1',
    principal: 'ada/ci',
    ...more,
  });

  async function claimed(top: AuthorityBench): Promise<RemoteTask> {
    const claiming = top.engine.remote.claim(request());
    await top.clock.advance(20);
    const [work] = await claiming;
    if (work === undefined) throw new Error('there was no work');
    return work;
  }

  it('[ENG-236] an announced action exists for the workflows of its project only', async () => {
    const top = await opened({ announced: [far('alpha')] });
    const executionId = await top.go('alpha-a', { nodes: { a: { action: 'far@1' } } });
    expect(await top.statuses(executionId)).toEqual({ a: 'queued' });
    await top.register({ id: 'beta-a', nodes: { a: { action: 'far@1' } } });
    await expect(top.engine.plan('beta-a')).rejects.toMatchObject({ code: 'PLAN_INVALID' });
  });

  it('[ENG-236] a worker cannot announce an action of this process, in any version', async () => {
    const top = await opened({
      announced: [announcedAction({ id: 'echo', version: '1.99', effect: 'pure' }, 'alpha')],
    });
    const executionId = await top.go('alpha-a', { nodes: { a: { action: 'echo@1' }, b: { action: 'echo' } } });
    expect(await top.statuses(executionId)).toEqual({ a: 'completed', b: 'completed' });
  });

  it('[ENG-237] a lease works for the principal that claimed it, and for no other', async () => {
    const top = await opened({ announced: [far()], secrets: memorySecrets({ 'alpha/api': 'of alpha only' }) });
    const executionId = await top.go('alpha-a', { nodes: { a: { action: 'far@1', credentials: { api: 'api' } } } });
    const { leaseId } = await claimed(top);
    const { remote } = top.engine;
    const stale = { code: 'STALE_LEASE', message: expect.not.stringContaining('lse_') };
    for (const by of ['eve/ci', 'ada', '', undefined]) {
      await expect(remote.credential(leaseId, 'api', by)).rejects.toMatchObject(stale);
      await expect(remote.extend(leaseId, {}, by)).rejects.toMatchObject(stale);
      await expect(remote.log(leaseId, [{ message: 'x' }], by)).rejects.toMatchObject(stale);
      await expect(remote.end(leaseId, { status: 'completed', output: 1 }, by)).rejects.toMatchObject(stale);
    }
    expect(await remote.credential(leaseId, 'api', 'ada/ci')).toBe('of alpha only');
    const ending = remote.end(leaseId, { status: 'completed', output: 1 }, 'ada/ci');
    await top.clock.advance(20);
    await ending;
    expect(await top.status(executionId)).toBe('completed');
  });

  it('[ENG-237] another engine honours the lease of its holder', async () => {
    const top = await opened({ announced: [far()] });
    const executionId = await top.go('alpha-a', { nodes: { a: { action: 'far@1' } } });
    const { leaseId } = await claimed(top);
    await top.openWith({ announced: [far()] });
    await expect(top.engine.remote.extend(leaseId, {}, 'eve')).rejects.toMatchObject({ code: 'STALE_LEASE' });
    const ending = top.engine.remote.end(leaseId, { status: 'completed', output: 1 }, 'ada/ci');
    await top.clock.advance(20);
    await ending;
    expect(await top.status(executionId)).toBe('completed');
  });

  it('[ENG-238] nothing that people read holds a lease: journal, timeline, explanation, events, document', async () => {
    const top = await opened({ announced: [far()] });
    const executionId = await top.go('alpha-a', { nodes: { a: { action: 'far@1' } } });
    const { leaseId } = await claimed(top);
    const { engine } = top;
    const timeline = await engine.timeline(executionId);
    const read = [
      await engine.journal(executionId),
      timeline,
      await engine.explain(executionId, 'a'),
      await engine.explain(executionId),
      await engine.document(executionId),
      top.events,
    ];
    const [bearer = ''] = leaseId.split('.');
    expect(JSON.stringify(read)).not.toContain(bearer);
    expect(timeline.find(({ type }) => type === 'NodeStarted')).toMatchObject({ details: { worker: 'gpu-1' } });
    expect(JSON.stringify(await engine.explain(executionId, 'a'))).toContain('gpu-1');
  });
});
