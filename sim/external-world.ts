/**
 * The effects of actions on the external world, which outlives all processes and remembers everything.
 *
 *  1 An effect is counted when it happens, not when its answer arrives. An idempotent effect happens once per key and
 *    gives the same answer every time; a `once` effect happens as often as it is requested.
 *  2 A check whether an attempt took effect (`verify`, or a person) waits until the attempt cannot take effect any
 *    more.
 */
import type { Action, ActionContext, Json } from '@nebula/core';
import type { Settlement } from '@nebula/core/run';
import type { Clock } from '@nebula/ports';
import { ActionError } from '@nebula/sdk';
import type { Chance } from './chance.ts';
import type { Target } from './coverage.ts';
import type { Injector } from './injector.ts';

/** A process that runs actions: one with an engine, or a remote worker. */
export interface Performer {
  readonly name: string;
  readonly clock: Clock;
  readonly isDead: boolean;
  /** When it was killed, or told to close. */
  readonly endedAt: number | undefined;
  /** Names of nodes whose actions are under way in it, and of those that were granted and have not begun. */
  readonly inFlight: Map<string, number>;
  readonly granted: Set<string>;
}

/** The part of an attempt's context that actions use, wherever it runs. */
export type AttemptContext = Pick<
  ActionContext,
  'executionId' | 'node' | 'attempt' | 'idempotencyKey' | 'signal' | 'heartbeat'
>;

/** One call of the body of an action. */
export interface Call {
  readonly executionId: string;
  readonly node: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly performer: Performer;
  /** The worker that the journal should name. */
  readonly worker: string | undefined;
}

export interface Effect {
  readonly action: string;
  readonly result: Json;
  readonly input: Json;
  /** The key of the undone effect, for a compensation. */
  readonly undoes: string | undefined;
  times: number;
}

/** The course of an attempt: random in worlds from a seed, planned in scenarios. */
export interface Course {
  /** The time before the effect, and from the effect to the answer. */
  readonly beforeMs: number;
  readonly afterMs: number;
  readonly ending: 'ok' | 'large' | 'user' | 'system' | 'unknown' | 'unknown but done' | 'bug' | 'hang';
  readonly ignoresAbort: boolean;
}

export interface ExternalWorldParts {
  readonly faults: Injector;
  readonly chance: Chance;
  readonly largeBytes: number;
  readonly say: (performer: Performer, what: string) => void;
  readonly courseOf: (context: AttemptContext, input: Json, calls: number) => Course;
  readonly onCall: (call: Call) => void;
}

export class ExternalWorld {
  /** Effects by idempotency key. */
  readonly effects = new Map<string, Effect>();
  readonly calls: Call[] = [];
  private readonly callsOf = new Map<string, number>();
  private readonly hanging = new Set<() => void>();
  private readonly performers = new Set<Performer>();
  private readonly parts: ExternalWorldParts;

  constructor(parts: ExternalWorldParts) {
    this.parts = parts;
  }

  /** The actions as plans have them: the same for every process. */
  readonly declared: readonly Action[] = this.actions();

  /** The actions of one process, by id. */
  actionsOf(performer: Performer, workerId: () => string | undefined): ReadonlyMap<string, Action> {
    this.welcome(performer);
    return new Map(this.actions(performer, workerId).map((action) => [action.id, action]));
  }

  /** Adds a remote worker, which may run actions from now on. */
  welcome(performer: Performer): void {
    this.performers.add(performer);
  }

  /** Runs an action under a lease. */
  perform(performer: Performer, id: string, leaseId: string, context: AttemptContext, input: Json): Promise<Json> {
    // Actions that only workers have are idempotent.
    const effect = (this.declared.find((action) => action.id === id)?.effect as string | undefined) ?? 'idempotent';
    return this.run(performer, leaseId, { id, effect }, context, input);
  }

  private actions(performer?: Performer, workerId?: () => string | undefined): Action[] {
    const action = (id: string, effect: 'pure' | 'idempotent' | 'once'): Action => ({
      id,
      version: '1',
      effect,
      run: (context, input) => this.run(performer as Performer, workerId?.(), { id, effect }, context, input as Json),
    });
    return [
      action('look', 'pure'),
      action('work', 'idempotent'),
      action('plan', 'idempotent'),
      action('pay', 'once'),
      { ...action('sure', 'once'), verify: (context) => this.verify(context) },
    ];
  }

  /** The truth about a node of unknown outcome, as a person finds it; undefined while it may still take effect. */
  truth(executionId: string, node: string, key: string): Extract<Settlement, { happened: true }> | false | undefined {
    const name = workName(executionId, node);
    for (const { isDead, inFlight, granted } of this.performers) {
      if (!isDead && (inFlight.has(name) || granted.has(name))) return undefined;
    }
    const effect = this.effects.get(key);
    return effect === undefined ? false : { happened: true, output: effect.result };
  }

  heal(): void {
    for (const end of this.hanging) end();
    this.hanging.clear();
  }

  private verify({ executionId, node, idempotencyKey }: ActionContext) {
    const truth = this.truth(executionId, node, idempotencyKey);
    if (truth === undefined || this.parts.chance.oneIn(4)) return { happened: 'unknown' } as const;
    return truth === false ? ({ happened: false } as const) : truth;
  }

  private run(
    performer: Performer,
    worker: string | undefined,
    action: ActionInShort,
    context: AttemptContext,
    input: Json,
  ): Promise<Json> {
    const { executionId, node, attempt, idempotencyKey: key, signal } = context;
    const call = { executionId, node, attempt, idempotencyKey: key, performer, worker };
    this.calls.push(call);
    this.parts.onCall(call);
    this.parts.say(performer, `runs ${executionId} ${node}#${attempt}`);
    const calls = (this.callsOf.get(key) ?? 0) + 1;
    this.callsOf.set(key, calls);
    const course = this.parts.courseOf(context, input, calls);
    const name = workName(executionId, node);
    performer.inFlight.set(name, (performer.inFlight.get(name) ?? 0) + 1);
    return new Promise<Json>((resolve, reject) => {
      let isOver = false;
      const over = (end: () => void): void => {
        if (isOver || performer.isDead) return;
        isOver = true;
        const left = (performer.inFlight.get(name) ?? 1) - 1;
        if (left === 0) performer.inFlight.delete(name);
        else performer.inFlight.set(name, left);
        end();
      };
      if (!course.ignoresAbort) signal.addEventListener('abort', () => over(() => reject(signal.reason)));
      const answer = (): void => {
        if (isOver || performer.isDead) return;
        const done = this.take(performer, action, key, input, course);
        const end = (): void => (done === undefined ? reject(failure(course.ending)) : resolve(done));
        if (course.afterMs === 0) over(end);
        else performer.clock.timer(course.afterMs, () => over(end));
      };
      context.heartbeat();
      if (course.ending === 'hang') this.hanging.add(answer);
      else performer.clock.timer(course.beforeMs, answer);
    });
  }

  /** Returns undefined if the attempt reports a failure. */
  private take(
    performer: Performer,
    { id, effect }: ActionInShort,
    key: string,
    input: Json,
    { ending }: Course,
  ): Json | undefined {
    if (['user', 'system', 'unknown', 'bug'].includes(ending)) return undefined;
    const known = this.effects.get(key);
    const { graph = null, undoes } = (input ?? {}) as { graph?: Json; undoes?: { key?: string } | null };
    const done = { key, text: ending === 'large' ? 'x'.repeat(this.parts.largeBytes) : 'done' };
    const happened = known ?? {
      action: id,
      result: id === 'plan' ? graph : done,
      input,
      undoes: undoes?.key,
      times: 0,
    };
    this.effects.set(key, happened);
    if (known === undefined || effect === 'once') happened.times++;
    this.parts.say(performer, `effect ${key}`);
    return ending === 'unknown but done' ? undefined : happened.result;
  }
}

interface ActionInShort {
  readonly id: string;
  readonly effect: string;
}

/** The name of a node of a run, for lists of work under way. */
export function workName(executionId: string, node: string): string {
  return `${executionId} ${node}`;
}

function failure(ending: Course['ending']): Error {
  switch (ending) {
    case 'user':
      return new ActionError('not like this', { code: 'USERS', kind: 'USER' });
    case 'system':
      return new ActionError('not now', { code: 'SYSTEMS', kind: 'SYSTEM' });
    case 'bug':
      return new TypeError('no good');
    default:
      return new ActionError('no answer', { code: 'ECONNRESET', kind: 'SYSTEM', details: { outcome: 'unknown' } });
  }
}

const ENDINGS = [
  'ok',
  'ok',
  'ok',
  'ok',
  'ok',
  'ok',
  'large',
  'user',
  'user',
  'system',
  'unknown',
  'unknown but done',
  'bug',
] as const;

/** An attempt with a random course. */
export function randomCourse(chance: Chance, faults: Injector, { executionId, node }: AttemptContext): Course {
  const attempt = (): Target[] => [{ executionId, node }];
  if (faults.isOver) return { beforeMs: 1, afterMs: 0, ending: 'ok', ignoresAbort: false };
  return {
    beforeMs: chance.pick([0, 1, 50, 1_000, 4_000, 40_000]),
    afterMs: chance.pick([0, 0, 1, 200, 3_000]),
    ignoresAbort: faults.strikes('ignores abort', attempt),
    ending: faults.strikes('hang', attempt) ? 'hang' : chance.pick(ENDINGS),
  };
}
