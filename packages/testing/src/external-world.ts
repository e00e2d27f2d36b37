/**
 * The simulated environment of the workflow: mocks answer for actions, and every call is recorded.
 *
 *  1. An action runs for real only if it is pure and needs no capability, or if the test allows it.
 *  2. A call whose outcome was lost with its process gets the same answer when its idempotency key returns.
 *  3. A mistake of the test itself is a complaint: it ends the test instead of failing a node.
 */
import {
  type Action,
  type ActionContext,
  compileSchema,
  describeProblems,
  type Entry,
  type Json,
  NebulaError,
  type RunError,
  type Verification,
} from '@nebula/core';
import { withoutIterations } from '@nebula/core/run';
import { type Answer, isAnswer, kindOf, type Mock, type MockContext } from './mock.ts';

/** One attempt of a node, as recorded by the environment. */
export interface Call {
  readonly executionId: string;
  /** Path of the node: `items/3/pack`. */
  readonly node: string;
  readonly action: string;
  readonly attempt: number;
  readonly input: Json;
  readonly idempotencyKey: string;
  /** Virtual time (ms). */
  readonly at: number;
  /** `lost`: its process died before the outcome was durable. */
  readonly outcome: 'under way' | 'completed' | 'failed' | 'lost';
  readonly output?: Json;
  readonly error?: Pick<RunError, 'code' | 'message'>;
}

interface OpenCall {
  readonly process: number;
  record: Call;
  /** Waits for virtual time, or forever. */
  isAsleep: boolean;
  isHanging: boolean;
  /** The outcome is in the journal. */
  isJournalled: boolean;
  /** The answers of sequences that the call consumed. */
  readonly taken: Map<Answer, number>;
}

export interface ExternalWorldOptions {
  /** Keyed by action (`payment.charge`, `payment.charge@2`) or node (`charge`, `items/pack`). */
  readonly mocks: Readonly<Record<string, Mock>>;
  /** Actions that may run for real although they are not pure. */
  readonly real: readonly string[];
  now(): number;
}

export class ExternalWorld {
  /** The first mistake of the test. */
  complaint: Error | undefined;
  /** The number of the process that makes the calls. */
  process = 0;
  private readonly options: ExternalWorldOptions;
  private readonly open: OpenCall[] = [];
  private readonly positions = new Map<Answer, number>();
  /** Consumed answers of lost calls, by idempotency key. */
  private readonly lost = new Map<string, Map<Answer, number>>();
  private waiters: (() => void)[] = [];

  constructor(options: ExternalWorldOptions) {
    this.options = options;
  }

  get calls(): readonly Call[] {
    return this.open.map(({ record }) => record);
  }

  /** Whether a call of the living process is doing something other than waiting for time. */
  get isBusy(): boolean {
    return this.open.some((call) => call.process === this.process && isUnderWay(call) && !call.isAsleep);
  }

  /** Whether a running attempt ends by itself, given time. */
  endsByItself(executionId: string, node: string): boolean {
    const call = this.open.findLast(({ record }) => record.executionId === executionId && record.node === node);
    return call === undefined || !call.isHanging;
  }

  /** Resolves when a call has ended or started to wait. */
  change(): Promise<void> {
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  /** The action that the engine sees in place of the real one. */
  standIn(action: Action, isKnown: boolean): Action {
    return {
      ...action,
      run: (ctx, input) => this.run(action, isKnown, ctx, input),
      ...(action.verify && { verify: (ctx) => this.verify(action, ctx) }),
    };
  }

  /** Marks the calls of the dead process as lost. */
  forget(): void {
    for (const call of this.open) {
      if (call.process !== this.process || call.isJournalled || call.record.outcome === 'lost') continue;
      if (isUnderWay(call)) call.record = { ...call.record, outcome: 'lost' };
      if (call.taken.size > 0) this.lost.set(call.record.idempotencyKey, call.taken);
    }
    this.process++;
  }

  /** Notes that entries of a run are durable. */
  written(executionId: string, entries: readonly Entry[]): void {
    const nodes = new Set(entries.flatMap((entry) => (isOutcome(entry) ? [entry.node] : [])));
    for (const call of this.open) {
      if (call.record.executionId === executionId && nodes.has(call.record.node)) call.isJournalled = true;
    }
  }

  /** The last call of a node. */
  lastCall(executionId: string, node: string): Call | undefined {
    return this.open.findLast(({ record }) => record.executionId === executionId && record.node === node)?.record;
  }

  private async run(action: Action, isKnown: boolean, ctx: ActionContext, input: Json): Promise<Json> {
    const mock = this.mockFor(action, ctx.node);
    if (mock === undefined && !this.mayRun(action, input)) return this.complain(notMocked(action, ctx.node));
    const call: OpenCall = {
      process: this.process,
      record: {
        executionId: ctx.executionId,
        node: ctx.node,
        action: `${action.id}@${action.version}`,
        attempt: ctx.attempt,
        input,
        idempotencyKey: ctx.idempotencyKey,
        at: this.options.now(),
        outcome: 'under way',
      },
      isAsleep: false,
      isHanging: false,
      isJournalled: false,
      taken: new Map(),
    };
    this.open.push(call);
    const own = contextFor(ctx, call, () => this.changed());
    try {
      const output = await (mock === undefined
        ? action.run(withSleep(ctx, own), input)
        : this.answer(mock, input, own, call));
      if (mock !== undefined && isKnown) {
        const mismatch = await schemaMismatch(action, output as Json);
        if (mismatch !== undefined) return await this.complain(invalidOutput(action, ctx.node, mismatch), call);
      }
      if (call.record.outcome === 'under way')
        call.record = { ...call.record, outcome: 'completed', output: output as Json };
      return output as Json;
    } catch (error) {
      const { code = 'ACTION_FAILED', message } = error as Partial<RunError> & Error;
      if (isUnderWay(call)) call.record = { ...call.record, outcome: 'failed', error: { code, message } };
      throw error;
    } finally {
      this.changed();
    }
  }

  private verify(action: Action, ctx: ActionContext): Verification {
    const last = this.lastCall(ctx.executionId, ctx.node);
    if (this.mockFor(action, ctx.node) === undefined) return { happened: 'unknown' };
    return last?.outcome === 'completed' ? { happened: true, output: last.output ?? null } : { happened: false };
  }

  private async answer(mock: Mock, input: Json, ctx: MockContext, call: OpenCall): Promise<unknown> {
    if (typeof mock === 'function') {
      const given: unknown = await mock(structuredClone(input), ctx);
      return isAnswer(given) ? this.answer(given, input, ctx, call) : (given ?? null);
    }
    if (!isAnswer(mock)) return structuredClone(mock);
    switch (kindOf(mock)) {
      case 'fail':
        throw (mock as Extract<Answer, { error: unknown }>).error;
      case 'sequence':
        return this.answer(this.nextOf(mock as Extract<Answer, { answers: unknown }>, call), input, ctx, call);
      case 'after': {
        const { delayMs, then } = mock as Extract<Answer, { then: unknown }>;
        await ctx.sleep(delayMs);
        return this.answer(then, input, ctx, call);
      }
      case 'hang':
        call.isAsleep = true;
        call.isHanging = true;
        return new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)));
    }
  }

  private nextOf(sequence: Extract<Answer, { answers: unknown }>, call: OpenCall): Mock {
    const { answers } = sequence;
    const before = this.lost.get(call.record.idempotencyKey)?.get(sequence);
    this.lost.get(call.record.idempotencyKey)?.delete(sequence);
    const position = before ?? this.positions.get(sequence) ?? 0;
    if (before === undefined) this.positions.set(sequence, position + 1);
    call.taken.set(sequence, position);
    return answers[Math.min(position, answers.length - 1)] as Mock;
  }

  private mockFor({ id, version }: Action, node: string): Mock | undefined {
    const { mocks } = this.options;
    for (const key of [node, withoutIterations(node), `${id}@${version}`, `${id}@${version.split('.')[0]}`, id]) {
      if (Object.hasOwn(mocks, key)) return mocks[key];
    }
    return undefined;
  }

  private mayRun({ id, effect = 'once', capabilities = [] }: Action, input: Json): boolean {
    if (this.options.real.includes(id)) return true;
    return capabilities.length === 0 && (typeof effect === 'function' ? effect(input) : effect) === 'pure';
  }

  /** Ends the test: the call never resolves. */
  private complain(error: NebulaError, call?: OpenCall): Promise<never> {
    this.complaint ??= error;
    if (call !== undefined) {
      call.isAsleep = true;
      call.isHanging = true;
    }
    this.changed();
    return new Promise(() => {});
  }

  private changed(): void {
    const { waiters } = this;
    this.waiters = [];
    for (const resolve of waiters) resolve();
  }
}

/** The reason why the real action cannot return this output. */
async function schemaMismatch(action: Action, output: Json): Promise<string | undefined> {
  const { output: schema, describeOnly = [], parseOutput } = action;
  if (parseOutput !== undefined) {
    try {
      await parseOutput(structuredClone(output));
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }
  if (schema === undefined || describeOnly.includes('output')) return undefined;
  const problems = compileSchema(schema).problems(output) ?? [];
  return problems.length === 0 ? undefined : describeProblems(problems, 'it');
}

function isUnderWay({ record }: OpenCall): boolean {
  return record.outcome === 'under way';
}

const OUTCOMES = ['node.completed', 'node.retrying', 'node.failed', 'node.cancelled', 'node.opened'] as const;

function isOutcome(entry: Entry): entry is Extract<Entry, { type: (typeof OUTCOMES)[number] }> {
  return (OUTCOMES as readonly string[]).includes(entry.type);
}

function contextFor(ctx: ActionContext, call: OpenCall, changed: () => void): MockContext {
  const { executionId, workflowId, node, attempt, idempotencyKey, signal, log, now } = ctx;
  const sleep = async (ms: number): Promise<void> => {
    call.isAsleep = true;
    changed();
    try {
      await ctx.sleep(ms);
    } finally {
      call.isAsleep = false;
    }
  };
  return { executionId, workflowId, node, attempt, idempotencyKey, signal, log, now, sleep };
}

/** A real action keeps its whole context; only its sleeps are observed. */
function withSleep(ctx: ActionContext, { sleep }: MockContext): ActionContext {
  return new Proxy(ctx, {
    get: (target, key) => (key === 'sleep' ? sleep : (Reflect.get(target, key, target) as unknown)),
  });
}

function notMocked({ id, version, effect = 'once', capabilities = [] }: Action, node: string): NebulaError {
  const reason =
    capabilities.length > 0
      ? `needs capabilities (${capabilities.join(', ')})`
      : `is ${typeof effect === 'function' ? 'not pure' : effect}`;
  return new NebulaError('NOT_MOCKED', `'${node}' runs ${id}@${version}, which ${reason} and has no mock`, {
    hint: `Add mocks: { '${id}': … } or { '${withoutIterations(node)}': … }, or let it run: real: ['${id}']`,
  });
}

function invalidOutput({ id, version }: Action, node: string, mismatch: string): NebulaError {
  return new NebulaError(
    'MOCK_INVALID',
    `the output of the mock of '${node}' does not match ${id}@${version}: ${mismatch}`,
    {
      hint: `\`nebula actions ${id}\` shows the output schema`,
    },
  );
}
