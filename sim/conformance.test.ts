import type { Entry, Json } from '@nebula/core';
import { inlineValue, NULL_VALUE, type StoredValue } from '@nebula/core/run';
import { describe, expect, it } from 'vitest';
import { Conformance, type Definition } from './conformance.ts';

const error = { code: 'A', kind: 'USER', message: '' } as const;
const act = (keys: object = {}): Record<string, unknown> => ({ action: 'do@1', ...keys });
const begin = {
  type: 'run.started',
  format: 1,
  workflowId: 'w',
  version: 1,
  input: NULL_VALUE,
  trigger: null,
} as const;
const started = (node: string, attempt = 1): Entry => ({
  type: 'node.started',
  node,
  attempt,
  worker: 'w',
  effect: 'pure',
});
const completed = (node: string): Entry => ({ type: 'node.completed', node });
const failed = (
  node: string,
  handling: 'handled' | 'ignored' | 'tolerated' | 'deferred' | 'fatal' = 'fatal',
): Entry => ({
  type: 'node.failed',
  node,
  error,
  handling,
});
const skipped = (why: 'dead' | 'when' | 'disabled' | 'failure', ...nodes: string[]): Entry => ({
  type: 'node.skipped',
  nodes,
  why,
});
const stopping = { type: 'run.stopping', status: 'failed', error, finally: true } as const;
const finished = (status: 'completed' | 'failed' | 'cancelled'): Entry => ({ type: 'run.finished', status });

/** The complaints about a journal; each argument is a frame. */
function complaintsOf(definition: Definition, ...frames: readonly (readonly Entry[])[]): string[] {
  const complaints: string[] = [];
  const conformance = new Conformance({
    complain: (complaint) => complaints.push(complaint),
    definitionOf: () => definition,
    valueOf: (stored: StoredValue | undefined): Json => stored?.value ?? null,
  });
  for (const [index, entries] of frames.entries()) conformance.frame(index === 0 ? [begin, ...entries] : entries);
  return complaints;
}

describe('a journal', () => {
  const chain = { nodes: { a: act(), b: act({ needs: ['a'] }) } };

  it('[SIM-24] passes if it does what the language says', () => {
    const done = complaintsOf(
      chain,
      [started('a')],
      [completed('a'), started('b')],
      [completed('b'), finished('completed')],
    );
    expect(done).toEqual([]);
    const ended = complaintsOf(chain, [started('a')], [failed('a'), stopping, finished('failed')]);
    expect(ended).toEqual([]);
  });

  it('[SIM-24] is refused when a node begins before its join is satisfied, although it is disabled, or against its condition', () => {
    expect(complaintsOf(chain, [started('a'), started('b')])).toEqual(['node.started of b, whose join is open']);
    expect(complaintsOf({ nodes: { a: act({ enabled: false }) } }, [started('a')])).toEqual([
      'node.started of a, which is disabled',
    ]);
    expect(complaintsOf({ nodes: { a: act({ when: 'false' }) } }, [started('a')])).toEqual([
      'node.started of a, whose condition is false',
    ]);
  });

  it('[SIM-24] is refused when a dependant of a failed node runs, because something else handled the failure', () => {
    const definition = { nodes: { ...chain.nodes, h: act() }, edges: [{ from: 'a', to: 'h', on: 'error' }] };
    const frames = [[started('a')], [failed('a', 'handled'), started('h'), started('b')]];
    expect(complaintsOf(definition, ...frames)).toEqual(['node.started of b, whose join is failure']);
  });

  it('[SIM-24] is refused when a skip has another cause, or when something is left undone', () => {
    const definition = { config: { onFailure: 'finish-running' }, ...chain };
    expect(complaintsOf(definition, [started('a')], [failed('a', 'deferred'), skipped('dead', 'b')])).toEqual([
      'b is skipped by dead, not by failure',
    ]);
    expect(complaintsOf(chain, [started('a')], [completed('a')])).toEqual(['b is left, and its join is satisfied']);
  });

  it('[SIM-66] is refused if with finish-running a cleanup does not wait for other nodes, or does not run after them', () => {
    const definition = {
      config: { onFailure: 'finish-running' },
      nodes: { a: act(), other: act(), clean: act() },
      edges: [{ from: 'a', to: 'clean', on: 'always' }],
    };
    const begun = [started('a'), started('other')];
    expect(complaintsOf(definition, begun, [failed('a', 'deferred'), started('clean')])).toEqual([
      'node.started of clean, whose join is open',
    ]);
    expect(complaintsOf(definition, begun, [failed('a', 'deferred')], [completed('other')])).toEqual([
      "the finally of '' is left",
    ]);
    const end = [completed('other'), stopping, started('clean')];
    expect(complaintsOf(definition, begun, [failed('a', 'deferred')], end)).toEqual([]);
  });

  it('[SIM-24] is refused if a cleanup does not run, ordinary work continues in a finally, or a run succeeds because of it', () => {
    const definition = {
      nodes: { ...chain.nodes, clean: act() },
      edges: [{ from: 'a', to: 'clean', on: 'always' }],
    };
    expect(complaintsOf(definition, [started('a')], [failed('a'), stopping, finished('failed')])).toEqual([
      'clean is left, and its join is satisfied',
    ]);
    expect(complaintsOf(definition, [started('a')], [failed('a'), stopping, started('b')])).toContain(
      'node.started of b, which is cancelled',
    );
    const green = [
      [started('a')],
      [failed('a'), stopping, started('clean')],
      [completed('clean'), finished('completed')],
    ];
    expect(complaintsOf(definition, ...green)).toContain('it completes although a failed');
  });

  it('[SIM-24] accepts that a finally does not run what is behind a node whose condition failed before it', () => {
    const definition = {
      nodes: {
        a: act({ onError: 'ignore' }),
        clean: act({ needs: ['a'] }),
        b: act({ needs: ['a', 'clean'], join: 'any', when: '$input.no.never', onError: 'ignore' }),
        c: act({ needs: ['a', 'b'], join: 2 }),
      },
      edges: [{ from: 'a', to: 'clean', on: 'always' }],
    };
    const ready: Entry = { type: 'node.scheduled', nodes: ['clean', 'c'] };
    const begun = [[started('a')], [failed('a', 'ignored'), failed('b', 'ignored'), ready]];
    const cleaned = [[stopping, started('clean')], [completed('clean')]];
    expect(complaintsOf(definition, ...begun, ...cleaned)).toEqual([]);
    expect(complaintsOf(definition, ...begun, [stopping])).toEqual(['clean is left, and its join is satisfied']);
  });

  it('[SIM-24] accepts the end of a node behind a finally that was ready without it', () => {
    const definition = {
      nodes: { a: act(), clean: act(), b: act({ needs: ['a', 'clean'], join: 'any' }), c: act({ needs: ['b'] }) },
      edges: [{ from: 'a', to: 'clean', on: 'always' }],
    };
    const begun = [
      [started('a')],
      [completed('a'), started('clean'), { type: 'node.scheduled', nodes: ['b'] } as Entry],
    ];
    const end: Entry[] = [failed('clean'), stopping, { type: 'node.cancelled', node: 'b' }, skipped('failure', 'c')];
    expect(complaintsOf(definition, ...begun, [...end, finished('failed')])).toEqual([]);
  });

  it('[SIM-64] accepts that a node with halt ends the run while its body is being stopped', () => {
    const flow = { nodes: { g: { group: { nodes: { x: act({ onError: 'halt' }) } } } } };
    const frames = [
      [{ type: 'node.opened', node: 'g' } as Entry, started('g/x')],
      [{ type: 'node.stopping', node: 'g', error, finally: true } as Entry],
      [failed('g/x'), stopping, { type: 'node.cancelled', node: 'g' } as Entry, finished('failed')],
    ];
    expect(complaintsOf(flow, ...frames)).toEqual([]);
    const plain = { nodes: { g: { group: { nodes: { x: act() } } } } };
    expect(complaintsOf(plain, ...frames)).toEqual(['it fails, and nothing that counts has failed']);
  });

  it('[SIM-63] is refused when a gate is granted to a node that its scope has cancelled, unless it is in a cleanup', () => {
    const gated = { type: 'node.gated', node: 'g/x', gate: { kind: 'rate', key: 'k', limit: 1, perMs: 1 } } as const;
    const granted: Entry = { type: 'node.granted', node: 'g/x', until: 9 };
    const group = { group: { nodes: { x: act() } } };
    const open: Entry[] = [{ type: 'node.opened', node: 'g' }, gated];
    const plain = { nodes: { a: act(), g: group } };
    expect(complaintsOf(plain, [started('a'), ...open], [failed('a'), stopping, granted])).toEqual([
      'node.granted of g/x, which is cancelled',
    ]);
    const cleanup = { nodes: { b: act(), a: act(), g: group }, edges: [{ from: 'a', to: 'g', on: 'always' }] };
    const frames = [
      [started('a'), started('b')],
      [completed('a'), ...open],
    ];
    expect(complaintsOf(cleanup, ...frames, [failed('b'), stopping, granted])).toEqual([]);
  });

  it('[SIM-24] is refused when a failure is handled otherwise than its edges, its node or the policy say', () => {
    expect(complaintsOf(chain, [started('a')], [failed('a', 'handled')])).toContain('a is handled');
    expect(
      complaintsOf({ ...chain, config: { onFailure: 'finish-running' } }, [started('a')], [failed('a')]),
    ).toContain('a is fatal, and should be deferred');
  });

  it('[SIM-24] is refused when halt of a cleanup in a body does not end the run, or ends one that is ending', () => {
    const group = {
      nodes: { a: act(), clean: act({ onError: 'halt' }) },
      edges: [{ from: 'a', to: 'clean', on: 'always' }],
    };
    const definition = { nodes: { l: { group } } };
    const opened: Entry = { type: 'node.opened', node: 'l' };
    const ending: Entry = { type: 'scope.stopping', scope: 'l', error, finally: true };
    const begun = [
      [opened, started('l/a')],
      [failed('l/a'), ending, started('l/clean')],
    ];
    expect(complaintsOf(definition, ...begun, [failed('l/clean'), stopping])).toEqual([]);
    expect(complaintsOf(definition, ...begun, [failed('l/clean', 'deferred')])).toEqual([
      'l/clean is deferred, and should be fatal',
    ]);
    expect(complaintsOf(definition, ...begun, [stopping], [failed('l/clean', 'deferred')])).toEqual([]);
    expect(complaintsOf(definition, ...begun, [stopping], [failed('l/clean')])).toEqual([
      'l/clean is fatal, and should be deferred',
    ]);
    const undoing: Entry = { type: 'scope.compensating', scope: '', status: 'failed', error };
    expect(complaintsOf(definition, ...begun, [undoing], [failed('l/clean', 'deferred')])).toEqual([]);
  });

  it('[SIM-24] continues after a failure that was ignored while the run ended, and is refused if it was not', () => {
    const reopened: Entry = { type: 'run.reopened', nodes: ['b'] };
    const again = (onError: string | undefined, handling: 'ignored' | 'fatal'): string[] =>
      complaintsOf(
        { nodes: { a: act({ onError }), b: act({ needs: ['a'] }) } },
        [started('a')],
        [{ ...stopping, status: 'cancelled' }],
        [failed('a', handling), finished('cancelled')],
        [reopened, started('b')],
      );
    expect(again('ignore', 'ignored')).toEqual([]);
    expect(again('ignore', 'fatal')).toContain('a is cut off, and is fatal');
    expect(again(undefined, 'ignored')).toEqual(['a is cut off, and is ignored']);
    expect(again(undefined, 'fatal')).toEqual(['node.started of b, whose join is failure']);
  });

  it('[SIM-24] cancels nodes that a finally does not reach, also after a replay, and is refused if they were due', () => {
    const branch = { on: '$input.yes', cases: { true: ['b'] }, default: 'c' };
    const definition = {
      nodes: { a: act(), x: { branch }, b: act({ needs: ['a', 'x'] }), c: act() },
      edges: [{ from: 'a', to: 'x', on: 'always' }],
    };
    const taken = (to: string): Entry => ({ type: 'node.completed', node: 'x', output: inlineValue({ taken: [to] }) });
    const cancelled = (node: string): Entry => ({ type: 'node.cancelled', node });
    const gated: Entry = { type: 'node.gated', node: 'b', gate: { kind: 'concurrency', key: 'k', limit: 1 } };
    const begun = (yes: boolean, ...rest: readonly (readonly Entry[])[]): string[] => {
      const input: Entry = { type: 'run.held', until: 1, input: inlineValue({ yes }) };
      const next = yes ? [skipped('dead', 'c')] : [started('c')];
      const first = [completed('a'), taken(yes ? 'b' : 'c'), gated, ...next];
      return complaintsOf(definition, [input, { type: 'run.begun' }, started('a')], first, ...rest);
    };
    const replayed: Entry = { type: 'run.reopened', nodes: ['c'], renewed: ['c'] };
    expect(
      begun(false, [completed('c')], [stopping, cancelled('b'), finished('cancelled')], [replayed, started('c', 2)]),
    ).toEqual([]);
    expect(begun(true, [stopping, cancelled('b'), finished('cancelled')])).toEqual([
      'b is cancelled, and is a cleanup whose join is satisfied',
    ]);
  });

  it('[SIM-24] is refused when a run fails and nothing has failed, or an attempt is repeated too often', () => {
    expect(complaintsOf({ nodes: { a: act() } }, [started('a')], [completed('a'), finished('failed')])).toEqual([
      'it fails, and nothing that counts has failed',
    ]);
    const retrying: Entry = { type: 'node.retrying', node: 'a', error, until: 1 };
    const definition = { nodes: { a: act({ retry: { attempts: 2 } }) } };
    const frames = [[started('a')], [retrying], [started('a', 2)], [retrying]];
    expect(complaintsOf(definition, ...frames)).toEqual(['a is tried again after A, more often than it says']);
  });

  it('[SIM-65] counts a lost worker inside a composite node as an error of that node', () => {
    const lost = { code: 'WORKER_LOST', kind: 'SYSTEM', message: 'gone' } as const;
    const again: Entry = { type: 'node.retrying', node: 'g', error: lost, until: 1 };
    const open: Entry = { type: 'node.opened', node: 'g' };
    const frames = [
      [open, started('g/x')],
      [{ ...failed('g/x'), error: lost } as Entry, { type: 'scope.stopping', scope: 'g', error: lost } as Entry, again],
    ];
    const flow = (retry: object) => ({
      nodes: { g: { group: { nodes: { x: act({ retry: { lost: 0 } }) } }, retry } },
    });
    expect(complaintsOf(flow({ attempts: 2, lost: 0 }), ...frames)).toEqual([]);
    expect(complaintsOf(flow({ attempts: 1, lost: 5 }), ...frames)).toEqual([
      'g is tried again after WORKER_LOST, more often than it says',
    ]);
  });
});
