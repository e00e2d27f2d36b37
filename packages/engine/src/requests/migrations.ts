/** Checks whether a run can be moved to another version of its workflow. */
import { canonicalJson, type Entry, type Json, NebulaError, type Plan } from '@nebula/core';
import { checkMigration, isMovable, type Migration, type RunState } from '@nebula/core/run';
import { type Clock, inSlices } from '@nebula/ports';
import type { JournalFrame, MigrationReport, MigrationRequest } from '../api.ts';
import type { Plans } from '../start/plans.ts';
import type { Values } from '../storage/values.ts';

interface CheckedMigration {
  readonly migration: Migration;
  /** The input of the run with the defaults of the new version, if these change it. */
  readonly input: Json | undefined;
}

export class Migrations {
  private readonly plans: Plans;
  private readonly values: Values;
  private readonly clock: Clock;

  constructor(plans: Plans, values: Values, clock: Clock) {
    this.plans = plans;
    this.values = values;
    this.clock = clock;
  }

  /** Rejects with `UNKNOWN_WORKFLOW` if there is no such version. */
  async check(state: RunState, { version, decisions }: MigrationRequest): Promise<CheckedMigration> {
    const { workflowId } = state.plan;
    const plan = await this.plans.get(workflowId, version);
    const migration = checkMigration(state, plan, decisions);
    if (migration.refusal !== undefined) return { migration, input: undefined };
    if (!isMovable(state, migration, plan, this.clock.now()))
      return { migration: unmovable(migration, state), input: undefined };
    const input = await this.values.read(state.executionId, state.root.realm.input);
    const accepted = await this.accepted(plan, input);
    if (accepted.problems.length > 0) return { migration: refused(migration, state, accepted.problems), input };
    const isSame = canonicalJson(accepted.input) === canonicalJson(input);
    return { migration, input: isSame ? undefined : accepted.input };
  }

  private async accepted(
    plan: Plan,
    input: Json,
  ): Promise<{ readonly input: Json; readonly problems: readonly string[] }> {
    const accepted = plan.acceptInput(structuredClone(input));
    return 'problems' in accepted ? accepted : inSlices(accepted, this.clock);
  }
}

function unmovable(migration: Migration, { executionId }: RunState): Migration {
  const message = `The state of ${executionId} does not fit version ${migration.to}.`;
  const hint = 'Keep the kinds of nodes that have begun, or start a new run of that version.';
  return { ...migration, refusal: new NebulaError('MIGRATION_BLOCKED', message, { hint }) };
}

function refused(migration: Migration, { executionId }: RunState, problems: readonly string[]): Migration {
  const message = `The input of ${executionId} does not fit version ${migration.to}: ${problems.join('; ')}.`;
  const hint = 'Start a new run with an input that fits, or let the version accept this one.';
  return { ...migration, refusal: new NebulaError('INPUT_INVALID', message, { hint }) };
}

export function reportOf({ migration: { from, to, changes, refusal } }: CheckedMigration): MigrationReport {
  return { from, to, changes, refusal };
}

/** The refusal to take a migration back. `frames`: the journal, which has the reason. */
export async function notMigrated(
  { executionId, plan: { version } }: RunState,
  frames: AsyncIterable<JournalFrame>,
): Promise<NebulaError> {
  let last: Extract<Entry, { type: 'run.migrated' }> | undefined;
  for await (const { entries } of frames) last = entries.findLast(isMigration) ?? last;
  const message =
    last === undefined
      ? `Execution ${executionId} was never migrated: it began with version ${version}.`
      : last.back === true
        ? `The migration of execution ${executionId} is taken back already: it is in version ${version}.`
        : `Execution ${executionId} has continued in version ${version}, so its migration cannot be taken back.`;
  return new NebulaError('NOT_MIGRATED', message, {
    hint: `To move it to another version: \`nebula executions migrate ${executionId} --to VERSION\`.`,
  });
}

function isMigration(entry: Entry): entry is Extract<Entry, { type: 'run.migrated' }> {
  return entry.type === 'run.migrated';
}
