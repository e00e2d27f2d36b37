import { describe, expect, it } from 'vitest';
import { explainNode, foldFrames, newRunState, openChild, wakeTime } from '../../../src/run.ts';
import { type Drive, drive, type Short } from '../drive.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A run in which something happens one minute after it began, and how to see that it has. */
interface Timed {
  readonly title: string;
  readonly workflow: Short;
  readonly before?: (run: Drive) => void;
  readonly delay?: number;
  readonly hasFired: (run: Drive) => boolean;
}

const failed = (node: string) => (run: Drive) => run.statusOf(node) === 'failed';

const timers: readonly Timed[] = [
  {
    title: 'wait.for',
    workflow: { nodes: { w: { wait: { for: '1m' } } } },
    hasFired: (run) => run.statusOf('w') === 'completed',
  },
  {
    title: 'a deadline',
    workflow: { nodes: { w: { wait: { approval: { title: 'Sure?' }, deadline: '1m' } } } },
    hasFired: failed('w'),
  },
  {
    title: 'a retry delay',
    workflow: { nodes: { a: { retry: { attempts: 2, delay: '1m' } } } },
    before: (run) => run.fail('a'),
    hasFired: (run) => run.running().includes('a'),
  },
  {
    title: 'the back-off of an iteration',
    workflow: { nodes: { r: { retryUntil: { attempts: 2, backoff: { delay: '1m' } }, do: { nodes: { a: {} } } } } },
    before: (run) => run.fail('r/0/a'),
    hasFired: (run) => run.running().includes('r/1/a'),
  },
  {
    title: 'the delay of a rate limit',
    workflow: { nodes: { a: { rateLimit: { key: 'r', limit: 1, per: '1m' } } } },
    before: (run) => run.step({ type: 'granted', node: 'a', gate: 'rate', until: run.now + MINUTE }),
    hasFired: (run) => run.running().includes('a'),
  },
  {
    title: 'timeout.queued',
    workflow: { config: { maxParallelism: 1 }, nodes: { long: { priority: 9 }, a: { timeout: { queued: '1m' } } } },
    hasFired: failed('a'),
  },
  {
    title: 'timeout.total between attempts',
    workflow: { nodes: { a: { retry: { attempts: 2, delay: '1h' }, timeout: { total: '1m' } } } },
    before: (run) => run.fail('a'),
    hasFired: failed('a'),
  },
  {
    title: 'timeout.total of a composite node',
    workflow: { nodes: { each: { timeout: { total: '1m' }, forEach: { in: [1] }, do: { nodes: { w: waiting() } } } } },
    hasFired: failed('each'),
  },
  {
    title: 'merge.timeout',
    workflow: {
      nodes: {
        s: { split: { in: [1, 2] } },
        w: { needs: ['s'], ...waiting() },
        m: { needs: ['w'], merge: { wait: 'all', timeout: '1m' } },
      },
    },
    hasFired: failed('m'),
  },
  {
    title: 'the limit of a child',
    workflow: { nodes: { sub: { timeout: '1m', workflow: { id: 'other', mode: 'child' } } } },
    hasFired: (run) => run.state.root.nodes[0]?.phase.status === 'child' && 'stopping' in run.state.root.nodes[0].phase,
  },
  {
    title: 'config.timeout',
    workflow: { config: { timeout: '1m' }, nodes: { w: waiting() } },
    hasFired: (run) => run.status === 'timed-out',
  },
  {
    title: 'the start of a run that is held back',
    workflow: { nodes: { a: {} } },
    delay: MINUTE,
    hasFired: (run) => run.running().includes('a'),
  },
];

function waiting(): Record<string, unknown> {
  return { wait: { signal: 'never' } };
}

describe('a paused run stands still', () => {
  it.each(timers)(
    '[RUN-340] $title is moved by the length of the pause',
    ({ workflow, before, delay: hold, hasFired }) => {
      const run = drive(workflow, hold === undefined ? {} : { delay: hold });
      before?.(run);
      run
        .advance(40_000)
        .step({ type: 'pause' })
        .advance(5 * HOUR);
      expect(wakeTime(run.state, run.now, HOUR) === null || run.state.running.size > 0).toBe(true);
      run.step({ type: 'resume' }).advance(19_999);
      expect(hasFired(run)).toBe(false);
      expect(run.advance(1)).toSatisfy(hasFired);
    },
  );

  it('[RUN-340] several pauses add up', () => {
    const run = drive({ nodes: { w: { wait: { for: '1m' } } } });
    for (let n = 0; n < 3; n++) run.advance(10_000).step({ type: 'pause' }).advance(HOUR).step({ type: 'resume' });
    expect(run.advance(29_999).statusOf('w')).toBe('waiting');
    expect(run.advance(1).statusOf('w')).toBe('completed');
  });

  it('[RUN-472] the document shows when a node became ready, and not later because of a pause', () => {
    const run = drive({ nodes: { a: { retry: { attempts: 2, delay: '1h' }, timeout: { total: '2h' } } } });
    const { queuedAt } = run.document.nodes.a ?? {};
    run.fail('a').step({ type: 'pause' }).advance(HOUR).step({ type: 'resume' }).advance(HOUR);
    expect(run.document.nodes.a).toMatchObject({ queuedAt, status: 'running' });
    run.fail('a').step({ type: 'retry' });
    expect(run.document.nodes.a?.queuedAt).not.toBe(queuedAt);
  });

  it('[RUN-341] a moment that is written as a date stays: a wait ends with the resumption, a deadline has passed', () => {
    const at = new Date(drive({ nodes: {} }).now + MINUTE).toISOString();
    const until = drive({ nodes: { w: { wait: { until: `'${at}'` } }, v: { wait: { signal: 'x', deadline: at } } } });
    until.step({ type: 'pause' }).advance(HOUR);
    expect(until.statuses()).toEqual({ w: 'waiting', v: 'waiting' });
    until.step({ type: 'resume' });
    expect(until.statuses()).toEqual({ w: 'completed', v: 'failed' });
  });

  it('[RUN-342] a delay that begins during the pause begins with the resumption', () => {
    const run = drive({
      nodes: { a: { retry: { attempts: 2, delay: '1m' } }, b: {}, c: { needs: ['b'], timeout: { queued: '1m' } } },
      config: { maxParallelism: 2 },
    });
    run.step({ type: 'pause' }).advance(HOUR).fail('a').complete('b').advance(HOUR).step({ type: 'resume' });
    expect(run.running()).toEqual(['c']);
    expect(run.advance(MINUTE - 1).running()).toEqual(['c']);
    expect(run.advance(1).running()).toEqual(['c', 'a']);
  });

  it('[RUN-343] an attempt continues during the pause, and so does its own limit', () => {
    const run = drive({ nodes: { a: { timeout: { attempt: '1m' } } } });
    run.step({ type: 'pause' }).advance(HOUR);
    expect(run.running()).toEqual(['a']);
    run.step({ type: 'resume' });
    expect(run.error).toMatchObject({ code: 'TIMEOUT', details: { limit: 'attempt' } });
  });

  it('[RUN-542] the result of another execution does not end the wait for a child', () => {
    const run = drive({ nodes: { sub: { workflow: { id: 'w', mode: 'child' } } } });
    const result = { status: 'completed', output: 1, error: null } as const;
    run.step({ type: 'child', node: 'sub', executionId: 'exe_earlier', result, jitter: 1 });
    expect(run.statusOf('sub')).toBe('running');
    const [{ executionId = '' } = {}] = run.children;
    run.step({ type: 'child', node: 'sub', executionId, result, jitter: 1 });
    expect(run.status).toBe('completed');
  });

  it('[RUN-551] the journal names the launch plan of a child', () => {
    const run = drive({ nodes: { sub: { workflow: { plan: 'nightly', mode: 'child' } } } });
    expect(run.entries.find(({ type }) => type === 'child.requested')).toMatchObject({ launchPlan: 'nightly' });
  });

  it('[RUN-575] the journal names the version of a child if the workflow does', () => {
    const requested = (workflow: object) =>
      drive({ nodes: { sub: { workflow: { id: 'other', mode: 'child', ...workflow } } } }).entries.find(
        ({ type }) => type === 'child.requested',
      );
    expect(requested({ version: 2 })).toMatchObject({ workflowId: 'other', version: 2 });
    expect(requested({})).not.toHaveProperty('version');
  });

  it('[RUN-589] a child is open while its node waits for this execution', () => {
    const run = drive({ nodes: { sub: { workflow: { id: 'other', mode: 'child' } }, b: {} } });
    const executionId = run.children[0]?.executionId ?? '';
    expect(openChild(run.state, 'sub', executionId)).toMatchObject({ executionId, workflowId: 'other' });
    expect(openChild(run.state, 'sub', 'exe_other')).toBeUndefined();
    expect(openChild(run.state, 'b', executionId)).toBeUndefined();
    expect(openChild(run.state, 'gone', executionId)).toBeUndefined();
  });

  it('[RUN-344] a child continues while its parent is paused, and its result is kept', () => {
    const run = drive({ nodes: { sub: { workflow: { id: 'other', mode: 'child' } }, b: { needs: ['sub'] } } });
    run.step({ type: 'pause' });
    const result = { status: 'completed', output: 7, error: null } as const;
    const executionId = run.children[0]?.executionId ?? '';
    run.step({ type: 'child', node: 'sub', executionId, result, jitter: 1 });
    expect(run.statuses()).toEqual({ sub: 'completed', b: 'queued' });
    expect(run.step({ type: 'resume' }).running()).toEqual(['b']);
  });

  it('[RUN-340] explain shows the time that was left when the run was paused', () => {
    const run = drive({ nodes: { w: { wait: { for: '1m' } } } });
    run.advance(40_000).step({ type: 'pause' }).advance(HOUR);
    expect(explainNode(run.state, 'w', run.now)?.reasons.join(' ')).toContain('20s');
  });

  it('[RUN-130] a journal that is folded again knows which nodes began with the resumption', () => {
    const run = drive({ nodes: { a: {}, w: { needs: ['a'], wait: { signal: 's' } } } });
    run.step({ type: 'pause' }).complete('a').step({ type: 'resume' });
    const folded = foldFrames(newRunState(run.plan, 'exe_test'), run.frames);
    expect(folded.listening.size).toBe(1);
    expect(folded.released.size).toBe(0);
  });
});
