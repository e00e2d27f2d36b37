/** Starts runs: checks the start, joins starts with the same key or id, and waits until the first frame is durable. */

import {
  type ConcurrencySlot,
  type ExecutionId,
  ExpressionError,
  type Json,
  NebulaError,
  type Plan,
  placeOf,
  type WorkflowId,
} from '@nebula/core';
import { slotPermit, startKey, startPermit } from '@nebula/core/run';
import { DEFAULT_PROJECT, type Digest, inSlices, type Random } from '@nebula/ports';
import type { StartOptions } from '../api.ts';
import type { EngineContext } from '../context.ts';
import { readTraceparent } from '../observe/tracing.ts';
import type { LiveRun } from '../turn/live-run.ts';
import { leave } from '../turn/messages.ts';
import { ChildGone, StartTaken } from '../turn/recovery.ts';
import type { Authority } from './authority.ts';
import type { Plans } from './plans.ts';

/** Ids become part of paths, keys and commands. */
const EXECUTION_ID = /^[a-zA-Z0-9_-]{1,200}$/;

export interface StartsParts {
  readonly plans: Plans;
  readonly authority: Authority;
  /** The engine refuses new runs with `BUSY` while this many wait or run. */
  readonly maxActiveRuns: number;
}

const SKIPPED = 'SKIPPED';

/** The key of a start, and its delay if it is debounced. */
/** A start that a message in the inbox of a run makes. It may be made again until the message is taken. */
interface RepeatedStart extends StartOptions {
  /** The run that has the message. */
  readonly origin?: ExecutionId;
}

interface StartPolicy {
  readonly key?: string;
  readonly delay?: { readonly until: number };
}

export class Starts {
  private readonly context: EngineContext;
  private readonly parts: StartsParts;
  private readonly underWay = new Map<string, Promise<ExecutionId>>();

  constructor(context: EngineContext, parts: StartsParts) {
    this.context = context;
    this.parts = parts;
  }

  async start(workflowId: WorkflowId, version: number | undefined, options: StartOptions): Promise<ExecutionId> {
    const { runs, durations, lifecycle } = this.context;
    const { plans, maxActiveRuns } = this.parts;
    lifecycle.assertOpen();
    if (runs.size >= maxActiveRuns) {
      throw new NebulaError('BUSY', `${runs.size} runs are under way already.`, {
        hint: 'Start it again when some of them have ended.',
        retryable: true,
      });
    }
    const requested = this.parts.authority.ofStart(workflowId, version, options);
    const { project, authority } = requested instanceof Promise ? await requested : requested;
    const plan =
      (version === undefined ? undefined : plans.cached(workflowId, version)) ?? (await plans.get(workflowId, version));
    const begun = plan.acceptInput(options.input ?? {});
    const { input, problems } = 'next' in begun ? await inSlices(begun, this.context.clock) : begun;
    lifecycle.assertOpen();
    if (problems.length > 0) {
      throw new NebulaError('INPUT_INVALID', `The input does not fit workflow '${workflowId}': ${problems[0]}`, {
        hint: problems.length > 1 ? problems.slice(1).join('; ') : 'See `input` in the definition.',
        details: { problems: [...problems] },
      });
    }
    const executionId = options.executionId ?? this.idFor(workflowId, options.idempotencyKey);
    if (!EXECUTION_ID.test(executionId)) {
      throw new NebulaError('EXECUTION_ID_INVALID', `'${executionId.slice(0, 80)}' cannot be the id of an execution.`, {
        hint: 'Ids have 1 to 200 letters, digits, _ and -.',
      });
    }
    if (!durations.isKnown(workflowId)) await durations.read(workflowId);
    const { start } = plan;
    const isChild = options.parent !== undefined;
    const isKeyed = start !== undefined && start.policy !== 'allow' && !isChild;
    try {
      const allowed = { ...options, input, project, ...(authority && { authority }) };
      if (isChild && start?.policy === 'singleton') return await this.asOnly(plan, executionId, allowed);
      return await (isKeyed ? this.byKey(plan, executionId, allowed) : this.create(plan, executionId, allowed));
    } catch (error) {
      if (error instanceof StartTaken && options.slot !== undefined) throw await this.skipped(options.slot);
      throw error;
    }
  }

  /**
   * Starts a singleton child. A parent waits for the execution that it requested, so the start is refused while another
   * run has the key.
   */
  private async asOnly(plan: Plan, executionId: ExecutionId, options: StartOptions): Promise<ExecutionId> {
    const { workflowId } = plan;
    const key = keyOf(plan, options.input ?? {});
    const permit = startPermit(workflowId, key);
    try {
      return await this.create(plan, executionId, options, { key });
    } catch (error) {
      if (!(error instanceof StartTaken) || error.holder.key !== permit) throw error;
      const { executionId: holder } = error.holder;
      if (holder === executionId) return executionId;
      const which = key === '' ? '' : ` with the key ${JSON.stringify(key)}`;
      throw new NebulaError(
        'SINGLETON_RUNNING',
        `${holder} is already running: '${workflowId}' is a singleton${which}.`,
        { hint: 'Give the node a `retry` with a delay, or an error edge for SINGLETON_RUNNING.' },
      );
    }
  }

  private async skipped(slot: ConcurrencySlot): Promise<NebulaError> {
    const running = (await this.context.store.permits(slotPermit(slot))).map(({ executionId }) => executionId);
    const { key, limit } = slot;
    return new NebulaError(
      SKIPPED,
      `${limit} run${limit === 1 ? '' : 's'} of ${key} may be active at once, and the limit is reached.`,
      {
        hint: `Start it again when one of them has ended${running.length > 0 ? `: ${running.slice(0, 5).join(', ')}` : ''}.`,
        details: { running: running.slice(0, limit) },
      },
    );
  }

  /**
   * Starts another run for a debounced start that came after `run` had begun. The same message gives the same run, also
   * if that has ended, or was deleted, before the message is taken.
   */
  async anew(run: LiveRun, messageId: string, input: Json): Promise<void> {
    const { plan, project, executionId: origin } = run;
    const { trigger, slot, authority } = run.state;
    const { store } = this.context;
    const executionId = this.idFor(plan.workflowId, messageId);
    if ((await store.known([executionId])).has(executionId)) return;
    const options = { input, trigger, project, ...(slot && { slot }), ...(authority && { authority }) };
    try {
      await this.byKey(plan, executionId, { ...options, origin });
    } catch (error) {
      // Without its origin, which was deleted meanwhile, the start is made all the same.
      if (error instanceof ChildGone && !(await store.known([origin])).has(origin)) {
        await this.byKey(plan, executionId, options);
        return;
      }
      // The caller of that start is gone, so no one can be told that it was skipped.
      const isDone = error instanceof ChildGone || (error instanceof NebulaError && error.code === SKIPPED);
      if (!isDone) throw error;
    }
  }

  private idFor(workflowId: WorkflowId, key: string | undefined): ExecutionId {
    const { random, digest } = this.context;
    return key === undefined ? random.id('exe') : keyedExecutionId(digest, workflowId, key);
  }

  /** Starts with the same key are handled one after the other. */
  private byKey(plan: Plan, executionId: ExecutionId, options: RepeatedStart): Promise<ExecutionId> {
    const key = keyOf(plan, options.input ?? {});
    const permit = startPermit(plan.workflowId, key);
    const before = this.underWay.get(permit) ?? Promise.resolve('');
    const mine = before.catch(() => '').then(() => this.alone(plan, executionId, options, key));
    this.underWay.set(permit, mine);
    const done = (): void => {
      if (this.underWay.get(permit) === mine) this.underWay.delete(permit);
    };
    mine.then(done, done);
    return mine;
  }

  private async alone(plan: Plan, executionId: ExecutionId, options: RepeatedStart, key: string): Promise<ExecutionId> {
    const { store, clock, effects } = this.context;
    const isDebounced = plan.start?.policy === 'debounce';
    const until = clock.now() + (plan.start?.windowMs ?? 0);
    const [first] = await store.permits(startPermit(plan.workflowId, key));
    let holder = first?.executionId;
    if (holder === undefined) {
      try {
        return await this.create(plan, executionId, options, { key, ...(isDebounced && { delay: { until } }) });
      } catch (error) {
        // Another engine started a run with this key first.
        if (!(error instanceof StartTaken) || error.holder.key !== startPermit(plan.workflowId, key)) throw error;
        holder = error.holder.executionId;
      }
    }
    if (isDebounced) {
      await leave(this.context, holder, { type: 'restart', input: options.input ?? {}, until });
      effects.wake(clock.now());
    }
    return holder;
  }

  private async create(
    plan: Plan,
    executionId: ExecutionId,
    options: RepeatedStart,
    policy: StartPolicy = {},
  ): Promise<ExecutionId> {
    const { runs, mailbox, durations, selection, random } = this.context;
    const {
      trigger = { type: 'manual' },
      parent,
      input = {},
      project = DEFAULT_PROJECT,
      traceparent,
      slot,
      authority,
      origin,
    } = options;
    const known = runs.get(executionId);
    const run = known ?? runs.create(plan, executionId, project);
    run.origin ??= origin;
    selection.include(executionId);
    if (known === undefined) {
      const estimates = durations.estimates(plan);
      const isTraced = traceparent !== undefined && readTraceparent(traceparent) !== undefined;
      const more = {
        ...(parent && { parent }),
        ...(estimates && { estimates }),
        ...(isTraced && { traceparent }),
        ...(plan.draws && { seed: seedOf(random, executionId) }),
        ...(slot && { slot: onlySlot(slot) }),
        ...(authority && { authority }),
      };
      mailbox.post(run, { type: 'start', input, trigger, ...more, ...policy });
    }
    if (run.isNew) {
      await new Promise<void>((resolve, reject) => {
        run.onCreated.push((error) => (error === undefined ? resolve() : reject(error)));
      });
    }
    return executionId;
  }
}

function keyOf(plan: Plan, input: Json): string {
  try {
    return startKey(plan, input);
  } catch (error) {
    if (!(error instanceof NebulaError)) throw error;
    const at = error instanceof ExpressionError ? placeOf(error) : undefined;
    throw new NebulaError('START_KEY_INVALID', `config.start.key: ${error.message}`, {
      hint: error.hint ?? 'See `config.start` in the definition.',
      ...(at !== undefined && { details: { at } }),
    });
  }
}

/** Drops the status of the slot of another run. */
function onlySlot({ key, limit, policy }: ConcurrencySlot): ConcurrencySlot {
  return { key, limit, policy };
}

/** 104 bits: an execution id does not give away the seed. */
function seedOf(random: Random, executionId: ExecutionId): string {
  if (random.seed !== undefined) return random.seed(executionId);
  return [random.fraction(), random.fraction()].map((one) => Math.floor(one * 2 ** 52).toString(36)).join('');
}

/** The id that an idempotency key of a workflow gives, the same in every process. */
export function keyedExecutionId(digest: Digest, workflowId: WorkflowId, key: string): ExecutionId {
  return `exe_k${digest(`${workflowId} ${key}`).slice(0, 40)}`;
}
