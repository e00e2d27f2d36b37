/** Starting runs: what is checked first, which starts are one, and what makes a run durable. */
import { type Json, NebulaError, type Plan, placePermit, type RunPlace, startKey, startPermit } from '@nebula/core';
import { type Clock, DEFAULT_PROJECT, type Digest, type Random, type Store } from '@nebula/ports';
import type { StartOptions } from './api.ts';
import type { Authority } from './authority.ts';
import type { Durations } from './durations.ts';
import { keyedExecutionId } from './execution-id.ts';
import type { Message } from './messages.ts';
import type { Plans } from './plans.ts';
import { StartTaken } from './recovery.ts';
import type { Runs } from './runs.ts';
import { readTraceparent } from './tracing.ts';
import type { Turns } from './turns.ts';

/** As all ids: they become part of paths, keys and commands. */
const EXECUTION_ID = /^[a-zA-Z0-9_-]{1,200}$/;

export interface StartsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly digest: Digest;
  readonly plans: Plans;
  readonly runs: Runs;
  readonly turns: Turns;
  readonly durations: Durations;
  readonly authority: Authority;
  readonly maxActiveRuns: number;
  send(executionId: string, message: Message): Promise<boolean>;
  /** A run was started here. */
  onStart(executionId: string): void;
}

const SKIPPED = 'SKIPPED';

/** Of a start that may be put off, or be one with others. */
interface StartPolicy {
  readonly key?: string;
  readonly hold?: { readonly until: number };
}

export class Starts {
  private readonly parts: StartsParts;
  private readonly underWay = new Map<string, Promise<string>>();

  constructor(parts: StartsParts) {
    this.parts = parts;
  }

  async start(workflowId: string, version: number | undefined, options: StartOptions): Promise<string> {
    const { runs, plans, durations, maxActiveRuns } = this.parts;
    if (runs.size >= maxActiveRuns) {
      throw new NebulaError('BUSY', `${runs.size} runs are under way already.`, {
        hint: 'Start it again when some of them have ended.',
        retryable: true,
      });
    }
    const asked = this.parts.authority.ofStart(workflowId, version, options);
    const { project, authority } = asked instanceof Promise ? await asked : asked;
    const plan =
      (version === undefined ? undefined : plans.cached(workflowId, version)) ?? (await plans.get(workflowId, version));
    const { input, problems } = plan.acceptInput(options.input ?? {});
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
      if (error instanceof StartTaken && options.place !== undefined) throw await this.skipped(options.place);
      throw error;
    }
  }

  /** A parent waits for the execution that it asked for, and for no other: where another one runs, the start is refused. */
  private async asOnly(plan: Plan, executionId: string, options: StartOptions): Promise<string> {
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
        `${holder} runs '${workflowId}'${which} already, which is a singleton.`,
        {
          hint: 'Give the node a `retry` with a delay, or an error edge for SINGLETON_RUNNING.',
        },
      );
    }
  }

  private async skipped(place: RunPlace): Promise<NebulaError> {
    const running = (await this.parts.store.permits(placePermit(place))).map(({ executionId }) => executionId);
    const { key, limit } = place;
    return new NebulaError(
      SKIPPED,
      `${limit} run${limit === 1 ? '' : 's'} of ${key} may go on at once, and so many do.`,
      {
        hint: `Start it again when one of them has ended${running.length > 0 ? `: ${running.slice(0, 5).join(', ')}` : ''}.`,
        details: { running: running.slice(0, limit) },
      },
    );
  }

  /** For a start that came too late to put a run off: the same message is the same run. */
  async anew(plan: Plan, messageId: string, options: StartOptions): Promise<void> {
    const started = this.byKey(plan, this.idFor(plan.workflowId, messageId), options);
    await started.catch((error: unknown) => {
      // Nobody is there any more who could be told.
      if (!(error instanceof NebulaError) || error.code !== SKIPPED) throw error;
    });
  }

  private idFor(workflowId: string, key: string | undefined): string {
    const { random, digest } = this.parts;
    return key === undefined ? random.id('exe') : keyedExecutionId(digest, workflowId, key);
  }

  /** Starts with the same key are looked at one after the other. */
  private byKey(plan: Plan, executionId: string, options: StartOptions): Promise<string> {
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

  private async alone(plan: Plan, executionId: string, options: StartOptions, key: string): Promise<string> {
    const { store, clock, send } = this.parts;
    const isDebounced = plan.start?.policy === 'debounce';
    const until = clock.now() + (plan.start?.windowMs ?? 0);
    const [first] = await store.permits(startPermit(plan.workflowId, key));
    let holder = first?.executionId;
    if (holder === undefined) {
      try {
        return await this.create(plan, executionId, options, { key, ...(isDebounced && { hold: { until } }) });
      } catch (error) {
        // Another engine was quicker: the store lets only one of them start.
        if (!(error instanceof StartTaken) || error.holder.key !== startPermit(plan.workflowId, key)) throw error;
        holder = error.holder.executionId;
      }
    }
    if (isDebounced) await send(holder, { type: 'restart', input: options.input ?? {}, until });
    return holder;
  }

  private async create(
    plan: Plan,
    executionId: string,
    options: StartOptions,
    policy: StartPolicy = {},
  ): Promise<string> {
    const { runs, turns, durations } = this.parts;
    const {
      trigger = { type: 'manual' },
      parent,
      input = {},
      project = DEFAULT_PROJECT,
      traceparent,
      place,
      authority,
    } = options;
    const known = runs.get(executionId);
    const run = known ?? runs.create(plan, executionId, project);
    this.parts.onStart(executionId);
    if (known === undefined) {
      const estimates = durations.estimates(plan);
      const isTraced = traceparent !== undefined && readTraceparent(traceparent) !== undefined;
      const more = {
        ...(parent && { parent }),
        ...(estimates && { estimates }),
        ...(isTraced && { traceparent }),
        ...(plan.draws && { seed: seedOf(this.parts.random, executionId) }),
        ...(place && { place: onlyPlace(place) }),
        ...(authority && { authority }),
      };
      turns.post(run, { type: 'start', input, trigger, ...more, ...policy });
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
    throw new NebulaError('START_KEY_INVALID', `config.start.key: ${error.message}`, {
      hint: error.hint ?? 'See `config.start` in the definition.',
    });
  }
}

/** Without where it stands, for one that was taken from a run. */
function onlyPlace({ key, limit, policy }: RunPlace): RunPlace {
  return { key, limit, policy };
}

/** 104 bits: nobody guesses from an execution's id what it drew. */
function seedOf(random: Random, executionId: string): string {
  if (random.seed !== undefined) return random.seed(executionId);
  return [random.fraction(), random.fraction()].map((one) => Math.floor(one * 2 ** 52).toString(36)).join('');
}
