/** A run that is moved to another version of its workflow. */
import { describe, expect, it } from 'vitest';
import { checkMigration, type MigrationDecisions } from '../../src/run.ts';
import { type Drive, drive, type Short } from './drive.ts';

const UNDO = { action: 'look@1', with: { of: '{{ $self.output }}' } };
const keyOf = (run: Drive, node: string): string => run.attempts.get(node)?.idempotencyKey ?? '';

/** The code with which the move is refused; undefined if it is possible. */
function refusal(run: Drive, short: Short, decisions: MigrationDecisions = {}): string | undefined {
  return checkMigration(run.state, run.versionOf(short), decisions).refusal?.code;
}

/** `fetch` has completed, and `charge` has failed for the wrong parameters. */
const BROKEN: Short = {
  nodes: {
    fetch: {},
    charge: { needs: ['fetch'], with: { amount: '{{ $fetch.amout }}' } },
    ship: { needs: ['charge'] },
  },
};
const MENDED: Short = {
  nodes: {
    fetch: {},
    charge: { needs: ['fetch'], with: { amount: '{{ $fetch.amount }}' } },
    ship: { needs: ['charge'] },
  },
};
const failed = (): Drive => drive(BROKEN).complete('fetch', { amount: 3 });

describe('a failed run that is moved', () => {
  it('[RUN-500] keeps the results of nodes that completed, and repeats the others as the new version says', () => {
    const run = failed();
    expect(run.status).toBe('failed');
    run.migrate(MENDED);
    expect(run.status).toBe('failed');
    expect(run.state.plan.version).toBe(2);
    run.retry();
    expect(run.running()).toEqual(['charge']);
    expect(run.attempts.get('charge')?.input).toEqual({ amount: 3 });
    run.complete('charge').complete('ship');
    expect(run.status).toBe('completed');
    expect(run.document.version).toBe(2);
  });

  it('[RUN-500] keeps the idempotency key of a node that failed', () => {
    const run = drive({ nodes: { a: {} } });
    const key = keyOf(run, 'a');
    run
      .fail('a')
      .migrate({ nodes: { a: { with: { x: 1 } } } })
      .retry();
    expect(keyOf(run, 'a')).toBe(key);
  });

  it('[RUN-503] begins nodes that the version adds, also such that nothing before them runs again', () => {
    const run = failed().migrate({
      nodes: { ...MENDED.nodes, audit: { needs: ['fetch'] }, first: {}, last: { needs: ['ship', 'audit'] } },
    });
    expect(run.statuses()).toMatchObject({ audit: 'cancelled', first: 'cancelled' });
    run.retry();
    expect(run.running().sort()).toEqual(['audit', 'charge', 'first']);
    run.complete('charge').complete('audit').complete('first').complete('ship').complete('last');
    expect(run.status).toBe('completed');
  });

  it('[RUN-500] forgets nodes that the version does not have', () => {
    const run = failed()
      .migrate({ nodes: { fetch: {}, ship: { needs: ['fetch'] } } })
      .retry();
    expect(run.running()).toEqual(['ship']);
    run.complete('ship');
    expect(run.statuses()).toEqual({ fetch: 'completed', ship: 'completed' });
  });

  it('[RUN-501] needs a decision on a completed node that would do something else', () => {
    const other = { nodes: { ...MENDED.nodes, fetch: { with: { url: 'x' } } } };
    expect(refusal(failed(), other)).toBe('DECISION_NEEDED');
    expect(refusal(failed(), other, { fetch: 'drop' })).toBe('DECISION_INVALID');
    expect(refusal(failed(), other, { fech: 'keep' })).toBe('DECISION_INVALID');
    const hint = (decisions: MigrationDecisions) => {
      const run = failed();
      return checkMigration(run.state, run.versionOf(other), decisions).refusal?.hint;
    };
    expect(hint({ fetch: 'drop' })).toBe('Possible: keep, again.');
    expect(hint({ fech: 'keep' })).toBe("did you mean 'fetch'?");
    expect(hint({ ship: 'keep' })).toBe('Leave it out: it needs no decision.');
    expect(refusal(failed(), other, { fetch: 'keep' })).toBeUndefined();
    expect(refusal(failed(), { nodes: { charge: {}, ship: {} } })).toBe('DECISION_NEEDED');
    expect(refusal(failed(), { nodes: { charge: {}, ship: {} } }, { fetch: 'drop' })).toBeUndefined();
  });

  it('[RUN-501] needs none on what cannot change a result', () => {
    const nodes = {
      ...MENDED.nodes,
      fetch: { name: 'Fetch', timeout: '5s', retry: { attempts: 3 }, priority: 9, notes: 'x', when: 'true' },
    };
    expect(refusal(failed(), { nodes })).toBeUndefined();
  });

  it('[RUN-572] needs a decision on a compensation only if its action or parameters change', () => {
    const of = (compensate?: object): Short => ({
      nodes: { a: compensate === undefined ? {} : { compensate }, b: { needs: ['a'], wait: { signal: 'go' } } },
    });
    const check = (before?: object, after?: object) => {
      const run = drive(of(before)).complete('a', 1);
      return checkMigration(run.state, run.versionOf(of(after))).refusal;
    };
    expect(check(UNDO, { ...UNDO, retry: { attempts: 5 }, timeout: '5s' })).toBeUndefined();
    for (const [before, after] of [
      [UNDO, { ...UNDO, action: 'do@1' }],
      [UNDO, { ...UNDO, with: { of: 1 } }],
      [UNDO, undefined],
      [undefined, UNDO],
    ]) {
      const why = check(before, after);
      expect([why?.code, why?.hint]).toEqual([
        'DECISION_NEEDED',
        expect.stringContaining('The compensation of a completed node has its parameters already'),
      ]);
    }
  });

  it('[RUN-572] undoes a completed node with the retries of the new version', () => {
    const of = (retries: number): Short => ({
      nodes: {
        a: { compensate: { ...UNDO, retry: { attempts: retries, delay: '1s' } } },
        b: { needs: ['a'], wait: { signal: 'go' } },
      },
    });
    const undone = (run: Drive) => run.cancel().fail('~undo/a').statusOf('~undo/a');
    expect(undone(drive(of(1)).complete('a', 1))).toBe('failed');
    expect(undone(drive(of(1)).complete('a', 1).migrate(of(3)))).toBe('waiting');
  });

  it('[RUN-501] names the changed keys and the nodes of the run', () => {
    const run = failed();
    const { changes, from, to } = checkMigration(run.state, run.versionOf(MENDED));
    expect({ from, to }).toEqual({ from: 1, to: 2 });
    expect(changes).toEqual([
      { node: 'charge', change: 'changed', keys: ['with'], statuses: { failed: 1 }, choices: [] },
    ]);
  });

  it('[RUN-502] begins a node again, and all that depends on it, as something new', () => {
    const run = drive({ nodes: { a: {}, b: { needs: ['a'] }, other: {}, c: { needs: ['b'] } } });
    const keys = ['a', 'b'].map((node) => keyOf(run, node));
    run.complete('a', 1).complete('b', 2).complete('other', 3).fail('c');
    run.migrate(
      { nodes: { a: { with: { x: 1 } }, b: { needs: ['a'] }, other: {}, c: { needs: ['b'] } } },
      { a: 'again' },
    );
    expect(run.statuses()).toEqual({ a: 'cancelled', b: 'cancelled', other: 'completed', c: 'cancelled' });
    run.retry();
    expect(run.running()).toEqual(['a']);
    run.complete('a', 10).complete('b', 20);
    expect(['a', 'b'].map((node) => keyOf(run, node))).not.toEqual(keys);
    run.complete('c');
    expect(run.status).toBe('completed');
  });

  it('[RUN-504] decides edges anew whose conditions have changed', () => {
    const edges = (when: string) => [
      { from: 'a', to: 'b', when },
      { from: 'b', to: 'c' },
    ];
    const run = drive({ nodes: { a: {}, b: {}, c: {}, z: {} }, edges: edges('$a > 5') });
    run.complete('a', 3).fail('z');
    expect(run.statuses()).toMatchObject({ b: 'skipped', c: 'skipped' });
    expect(refusal(run, { nodes: { a: {}, b: {}, c: {}, z: {} }, edges: edges('$a > 2') })).toBe('DECISION_NEEDED');
    run.migrate({ nodes: { a: {}, b: {}, c: {}, z: {} }, edges: edges('$a > 2') }, { b: 'again' }).retry();
    expect(run.running().sort()).toEqual(['b', 'z']);
    run.complete('b').complete('c').complete('z');
    expect(run.statuses()).toEqual({ a: 'completed', b: 'completed', c: 'completed', z: 'completed' });
  });

  it('[RUN-504] keeps the decision of a branch: cases of the new version are not taken', () => {
    const branch = (cases: Record<string, string>) => ({ branch: { on: '$input.way', cases } });
    const nodes = { way: branch({ l: 'left', r: 'right' }), left: {}, right: {} };
    const run = drive({ nodes }, { input: { way: 'l' } }).fail('left');
    const more = { ...nodes, way: branch({ l: 'left', r: 'right', u: 'up' }), up: {} };
    run.migrate({ nodes: more }, { way: 'keep' }).retry();
    expect(run.running()).toEqual(['left']);
    run.complete('left');
    expect(run.statuses()).toMatchObject({ left: 'completed', right: 'skipped', up: 'skipped' });
  });

  it('[RUN-507] keeps the compensations of its nodes with their parameters, and loses those of dropped nodes', () => {
    const nodes = { a: { compensate: UNDO }, b: { needs: ['a'], compensate: UNDO }, c: { needs: ['b'] } };
    const run = drive({ nodes, config: { onFailure: 'fail-fast' } })
      .complete('a', 1)
      .complete('b', 2);
    run.fail('c').complete('~undo/b').complete('~undo/a');
    expect(run.status).toBe('failed');
    run.migrate({ nodes: { a: nodes.a, c: { needs: ['a'] } } }).retry();
    run.complete('a', 5).fail('c');
    expect(run.attempts.get('~undo/a')?.input).toEqual({ of: 5 });
    run.complete('~undo/a');
    expect(run.status).toBe('failed');
  });

  it('[RUN-508] gives variables that no node has set their new initial values', () => {
    const nodes = { s: { set: { x: 1 } }, b: { needs: ['s'] } };
    const run = drive({ variables: { x: 0, y: 0, old: 0 }, nodes }).fail('b');
    const seen = {
      ...nodes,
      b: { needs: ['s'], with: { x: '{{ $vars.x }}', y: '{{ $vars.y }}', z: '{{ $vars.z }}' } },
    };
    run.migrate({ variables: { x: 7, y: 7, z: 7 }, nodes: seen }).retry();
    expect(run.attempts.get('b')?.input).toEqual({ x: 1, y: 7, z: 7 });
  });

  it('[RUN-509] continues a loop with its failed iterations, as the new version says', () => {
    const loop = (x: object) => ({ nodes: { each: { forEach: { in: [1, 2, 3] }, do: { nodes: { x } } } } });
    const run = drive(loop({})).complete('each/0/x', 'a').fail('each/1/x');
    expect(refusal(run, loop({ with: { n: '{{ $item }}' } }))).toBe('DECISION_NEEDED');
    run.migrate(loop({ with: { n: '{{ $item }}' } }), { each: 'keep' }).retry();
    expect(run.attempts.get('each/1/x')?.input).toEqual({ n: 2 });
    run.complete('each/1/x', 'b').complete('each/2/x', 'c');
    expect(run.output).toEqual({ each: ['a', 'b', 'c'] });
  });

  it('[RUN-509] begins a loop again that became something else', () => {
    const run = drive({ nodes: { each: { forEach: { in: [1] }, do: { nodes: { x: {} } } } } }).fail('each/0/x');
    expect(refusal(run, { nodes: { each: {} } }, { each: 'keep' })).toBe('DECISION_INVALID');
    run.migrate({ nodes: { each: {} } }, { each: 'again' }).retry();
    expect(run.running()).toEqual(['each']);
    expect(run.complete('each').status).toBe('completed');
  });

  it('[RUN-509] begins a composite node again that became one of another kind', () => {
    const bodies = { group: { nodes: { x: {} } } };
    const group = drive({ nodes: { g: bodies } }).fail('g/x');
    group.migrate({ nodes: { g: { dynamic: { action: 'look@1' } } } }, { g: 'again' }).retry();
    expect(group.running()).toEqual(['g']);
    const inner = { workflows: { o: { nodes: { x: {} } } } };
    const inline = drive({ nodes: { g: { workflow: { id: 'o' } } } }, inner).fail('g/x');
    inline.migrate({ nodes: { g: bodies } }, { g: 'again' }).retry();
    expect(inline.running()).toEqual(['g/x']);
    expect(inline.complete('g/x').status).toBe('completed');
  });

  it('[RUN-504] begins a composite node again although conditions inside have changed, too', () => {
    const loop = (when: string, x: Record<string, unknown>): Short => ({
      nodes: {
        a: x,
        each: {
          needs: ['a'],
          forEach: { in: [1] },
          do: { nodes: { x: {}, y: {}, z: {} }, edges: [{ from: 'x', to: 'y', when }] },
        },
      },
    });
    const run = drive(loop('$x > 1', {})).complete('a').complete('each/0/x', 2).complete('each/0/z').fail('each/0/y');
    run.migrate(loop('$x > 5', { with: { n: 1 } }), { a: 'again' }).retry();
    expect(run.running()).toEqual(['a']);
  });

  it('[RUN-503] starts another child for a node whose workflow or input has changed', () => {
    const sub = (input: object) => ({ nodes: { s: { workflow: { id: 'o', mode: 'child', input } } } });
    const run = drive(sub({ n: 1 }));
    const [first] = run.children;
    const error = { code: 'X', kind: 'USER', message: 'x' } as const;
    const result = { status: 'failed', output: null, error } as const;
    run.step({ type: 'child', node: 's', executionId: first?.executionId ?? '', result, jitter: 1 });
    run.migrate(sub({ n: 2 })).retry();
    expect(run.children.at(-1)).toMatchObject({ input: { n: 2 }, again: false });
    expect(run.children.at(-1)?.executionId).not.toBe(first?.executionId);
  });

  it('[RUN-500] completes when it is retried, if the version does not have the node that failed', () => {
    const run = drive({ nodes: { a: {}, b: { needs: ['a'] } } })
      .complete('a', 1)
      .fail('b');
    run.migrate({ nodes: { a: {} } }).retry();
    expect([run.status, run.output]).toEqual(['completed', { a: 1 }]);
  });

  it('[RUN-500] runs nodes that a failure skipped, if the version has no edge from it any more', () => {
    const config = { onFailure: 'ignore' } as const;
    const nodes = { a: {}, f: {}, s: { needs: ['a', 'f'] }, t: { needs: ['s'] } };
    const run = drive({ config, nodes }).complete('a').fail('f');
    expect(run.statuses()).toMatchObject({ s: 'skipped', t: 'skipped' });
    run.migrate({ config, nodes: { ...nodes, s: { needs: ['a'] } } }).retry();
    run.complete('f').complete('s').complete('t');
    expect(run.statuses()).toEqual({ a: 'completed', f: 'completed', s: 'completed', t: 'completed' });
  });

  it('[RUN-504] fails the target of an edge whose new condition cannot be evaluated', () => {
    const edges = (when: string) => [{ from: 'a', to: 'b', when }];
    const nodes = { a: {}, b: {}, w: { wait: { signal: 's' } } };
    const run = drive({ nodes, edges: edges('$a > 9') }).complete('a', 3);
    expect(run.statusOf('b')).toBe('skipped');
    const other = drive({ nodes: { ...nodes, b: { needs: ['w'] } }, edges: edges('$a > 1') }).complete('a', 3);
    other.migrate({ nodes: { ...nodes, b: { needs: ['w'] } }, edges: edges('$a.gone > 1') });
    expect(other.statusOf('b')).toBe('failed');
  });

  it('[RUN-501] needs a decision for a node of any name', () => {
    const nodes = (x: number) => ({ constructor: { with: { x } }, b: {} });
    const run = drive({ nodes: nodes(1) })
      .complete('constructor')
      .fail('b');
    expect(refusal(run, { nodes: nodes(2) })).toBe('DECISION_NEEDED');
  });

  it('[RUN-501] needs none for a node that was undone: the retry repeats it', () => {
    const nodes = (x: number) => ({ a: { compensate: UNDO, with: { x } }, b: { needs: ['a'] } });
    const run = drive({ nodes: nodes(1) })
      .complete('a')
      .fail('b')
      .complete('~undo/a');
    run.migrate({ nodes: nodes(2) }).retry();
    expect(run.attempts.get('a')?.input).toEqual({ x: 2 });
  });
});

describe('an unfinished run that is moved', () => {
  const waiting: Short = { nodes: { a: {}, ok: { needs: ['a'], wait: { approval: {} } }, b: { needs: ['ok'] } } };
  const yes = { type: 'answer', node: 'ok', approved: true, by: 'Ada' } as const;

  it('[RUN-505] waits on, and continues in the new version', () => {
    const run = drive(waiting).complete('a', 1);
    run.migrate({ nodes: { ...waiting.nodes, b: { needs: ['ok'], with: { x: '{{ $a }}' } }, n: { needs: ['a'] } } });
    expect(run.running()).toEqual(['n']);
    run.step(yes);
    expect(run.attempts.get('b')?.input).toEqual({ x: 1 });
    expect(run.complete('b').complete('n').status).toBe('completed');
  });

  it('[RUN-505] is not moved while an attempt runs, or while it is being undone', () => {
    expect(refusal(drive(BROKEN), MENDED)).toBe('STILL_RUNNING');
    const run = drive({ nodes: { a: { compensate: UNDO }, b: { needs: ['a'] } } })
      .complete('a')
      .fail('b');
    expect(run.status).toBe('compensating');
    expect(refusal(run, { nodes: { a: { compensate: UNDO } } })).toBe('STILL_RUNNING');
  });

  it('[RUN-505] is not moved if what it waits for has changed', () => {
    const run = drive(waiting).complete('a');
    expect(refusal(run, { nodes: { ...waiting.nodes, ok: { needs: ['a'], wait: { signal: 's' } } } })).toBe(
      'MIGRATION_BLOCKED',
    );
    expect(refusal(run, { nodes: { a: {}, b: { needs: ['a'] } } })).toBe('MIGRATION_BLOCKED');
    expect(refusal(run, { nodes: { ...waiting.nodes, a: { with: { x: 1 } } } }, { a: 'again' })).toBe(
      'DECISION_INVALID',
    );
  });

  it('[RUN-580] does not undo a node whose compensation the new version has not', () => {
    const version = (a: Record<string, unknown>): Short => ({
      nodes: { a, w: { needs: ['a'], wait: { signal: 's' } }, b: { needs: ['w'] } },
    });
    const run = drive(version({ compensate: UNDO }))
      .complete('a')
      .migrate(version({}), { a: 'keep' });
    expect(run.state.plan.version).toBe(2);
    run.step({ type: 'signal', signal: 's', key: '', payload: null }).fail('b');
    expect(run.status).toBe('failed');
  });

  it('[RUN-581] still fails by a failure that it had when it was moved', () => {
    const version = (c: object): Short => ({
      config: { onFailure: 'finish-running' },
      nodes: { a: {}, w: { wait: { signal: 's' } }, c: { needs: ['w'], ...c } },
    });
    const run = drive(version({}))
      .fail('a')
      .migrate(version({ with: { x: 1 } }));
    expect(run.state.plan.version).toBe(2);
    run.step({ type: 'signal', signal: 's', key: '', payload: null }).complete('c');
    expect(run.status).toBe('failed');
  });

  it('[RUN-587] needs no decision about a skipped node that has changed only inside', () => {
    const version = (x: Record<string, unknown>): Short => ({
      nodes: { a: {}, g: { needs: ['a'], when: 'false', group: { nodes: { x } } }, b: { needs: ['a'] } },
    });
    const run = drive(version({})).complete('a').fail('b');
    expect(run.statusOf('g')).toBe('skipped');
    expect(refusal(run, version({ with: { x: 1 } }))).toBeUndefined();
  });

  it('[RUN-505] resolves the parameters of a node that waits for its retry anew, if they have changed', () => {
    const nodes = (x: number) => ({ a: { retry: { attempts: 3, delay: '10s' }, with: { x } } });
    const run = drive({ nodes: nodes(1) }).fail('a');
    expect(run.statusOf('a')).toBe('waiting');
    run.migrate({ nodes: nodes(2) });
    expect(run.attempts.get('a')?.input).toEqual({ x: 2 });
    expect(run.complete('a').status).toBe('completed');
  });

  it('[RUN-505] begins at its time, if it has not begun', () => {
    const run = drive({ nodes: { a: {} } }, { delay: 60_000 }).migrate({ nodes: { a: {}, b: {} } });
    expect([run.status, run.running()]).toEqual(['pending', []]);
    run.advance(60_000);
    expect(run.running()).toEqual(['a', 'b']);
  });

  it('[RUN-505] forgets a deferred failure of a node that the version does not have', () => {
    const config = { onFailure: 'finish-running' } as const;
    const w = { wait: { signal: 's' } };
    const run = drive({ config, nodes: { f: {}, w } })
      .fail('f')
      .migrate({ config, nodes: { w } });
    expect(run.step({ type: 'signal', signal: 's', key: '', payload: 1 }).status).toBe('completed');
  });

  it('[RUN-505] is not moved if the gates of a node that waits at one have changed', () => {
    const rate = { rateLimit: { key: 'r', limit: 1, per: '1m' } };
    const run = drive({ nodes: { a: rate } });
    expect(run.statusOf('a')).toBe('waiting');
    expect(refusal(run, { nodes: { a: { ...rate, concurrency: { key: 'k', limit: 1 } } } })).toBe('MIGRATION_BLOCKED');
  });

  it('[RUN-505] is not moved if a node that holds a permit has changed', () => {
    const nodes = (x: number) => ({ a: { concurrency: { key: 'k', limit: 1 }, with: { x } } });
    const run = drive({ nodes: nodes(1) }, { starts: false });
    expect(refusal(run, { nodes: nodes(2) })).toBe('MIGRATION_BLOCKED');
    run.step({ type: 'granted', node: 'a', gate: 'concurrency', ask: '1:0' });
    expect(run.statusOf('a')).toBe('queued');
    expect(refusal(run, { nodes: nodes(2) })).toBe('MIGRATION_BLOCKED');
    expect(refusal(run, { nodes: { b: {} } })).toBe('MIGRATION_BLOCKED');
  });

  it('[RUN-505] waits for its retry as before if the node has not changed', () => {
    const nodes = { a: { retry: { attempts: 3, delay: '10s' } } };
    const run = drive({ nodes })
      .fail('a')
      .migrate({ nodes: { ...nodes, b: { needs: ['a'] } } });
    expect(run.statusOf('a')).toBe('waiting');
    run.advance(10_000).complete('a').complete('b');
    expect(run.status).toBe('completed');
  });

  it('[RUN-505] ends if the version has nothing left to do', () => {
    const run = drive({ nodes: { a: {}, b: { needs: ['a'] } } });
    run.step({ type: 'pause' }).complete('a', 5);
    expect(run.status).toBe('paused');
    expect(run.migrate({ nodes: { a: {} } }).status).toBe('completed');
  });
});

describe('a migration that is taken back', () => {
  it('[RUN-506] leaves the run as it was', () => {
    const run = failed();
    const before = structuredClone(run.document);
    run.migrate({ nodes: { ship: {} } }, { fetch: 'drop' });
    run.step({ type: 'migrate', plan: run.plan, back: true });
    expect(structuredClone(run.document)).toEqual({ ...before, seq: run.state.seq });
    expect(run.state.plan).toBe(run.plan);
    run.retry();
    expect(run.statuses()).toMatchObject({ fetch: 'completed', charge: 'failed' });
  });

  it('[RUN-506] is not taken back once the run has continued', () => {
    const run = failed().migrate(MENDED).retry().step({ type: 'migrate', plan: failed().plan, back: true });
    expect(run.state.plan.version).toBe(2);
    expect(run.running()).toEqual(['charge']);
  });

  it('[RUN-506] is taken back after the run was read from a snapshot', () => {
    const run = failed().migrate(MENDED).reload();
    run.state.planOf = () => run.plan;
    run.step({ type: 'migrate', plan: run.plan, back: true });
    expect(run.state.plan.version).toBe(1);
  });
});
