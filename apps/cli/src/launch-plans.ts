/** Shared by the commands about launch plans. */
import type { AnswerOf, BodyOf } from '@nebula/client';
import { isJsonObject, type JsonObject, NebulaError } from '@nebula/core';
import { countOption, textOption } from './command-options.ts';
import { readJson } from './input.ts';
import type { CommandOptions } from './services.ts';
import type { Io } from './terminal/io.ts';

export type LaunchPlan = AnswerOf<'getPlan'>;
type PlanBody = BodyOf<'putPlan'>;
type Concurrency = NonNullable<LaunchPlan['concurrency']>;

/** The options of the command; undefined fields keep their value. */
interface GivenPlan {
  readonly workflowId: string | undefined;
  readonly version: number | undefined;
  readonly description: string | undefined;
  readonly inputs: JsonObject | undefined;
  readonly fixed: JsonObject | undefined;
}

export async function inputsOption(io: Io, options: CommandOptions, name: string): Promise<JsonObject | undefined> {
  const text = textOption(options, name);
  if (text === undefined) return undefined;
  const value = await readJson(io, text, `--${name}`);
  if (isJsonObject(value)) return value;
  throw new NebulaError('INPUT_INVALID', `--${name} is not an object`, {
    hint: `inputs have names: --${name} '{"region": "eu"}'`,
  });
}

/** The API replaces a launch plan as a whole, so fields that are not given come from the stored one. */
export function changedLaunchPlan(before: LaunchPlan | undefined, given: GivenPlan, options: CommandOptions): PlanBody {
  const workflowId = given.workflowId ?? before?.workflowId;
  if (workflowId === undefined) {
    throw new NebulaError('USAGE', 'the launch plan does not exist yet: --workflow is required', {
      hint: '`nebula workflows list` lists workflows; `nebula plans list` lists launch plans',
    });
  }
  // The stored version belongs to the stored workflow.
  const version = given.version ?? (before?.workflowId === workflowId ? before.version : undefined);
  const description = given.description ?? before?.description ?? undefined;
  const concurrency = concurrencyOf(before?.concurrency ?? undefined, options);
  return {
    workflowId,
    inputs: given.inputs ?? before?.inputs ?? {},
    fixed: given.fixed ?? before?.fixed ?? {},
    active: before?.active ?? true,
    ...(version !== undefined && { version }),
    ...(description !== undefined && { description }),
    ...(concurrency !== undefined && { concurrency }),
  };
}

function concurrencyOf(before: Concurrency | undefined, options: CommandOptions): Concurrency | undefined {
  const policy = (textOption(options, 'policy') as Concurrency['policy'] | undefined) ?? before?.policy;
  const isUnlimited = options.limit === 'none';
  if (isUnlimited && options.policy === undefined) return undefined;
  const limit = isUnlimited ? 0 : countOption(options, 'limit', before?.limit ?? 0);
  if (limit > 0 && policy !== undefined) return { limit, policy };
  if (limit === 0 && policy === undefined) return undefined;
  throw new NebulaError(
    'USAGE',
    `--limit and --policy belong together: ${limit > 0 ? '--policy' : '--limit'} is missing`,
    {
      hint: '--limit 1 --policy wait',
    },
  );
}

/** `report`, or `report v2` for a fixed version. */
export function startsText({ workflowId, version }: LaunchPlan): string {
  return version === 'active' ? workflowId : `${workflowId} v${version}`;
}

/** `1, else wait`. */
export function atOnceText({ concurrency }: LaunchPlan): string | undefined {
  return concurrency === null ? undefined : `${concurrency.limit}, else ${concurrency.policy}`;
}
