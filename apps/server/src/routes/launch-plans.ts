/** Launch plans: a workflow with default and fixed inputs, and a limit of concurrent runs. */
import type { AnswerOf } from '@nebula/client/contract';
import {
  compileSchema,
  describePath,
  isJsonObject,
  type Json,
  type JsonObject,
  NebulaError,
  type WorkflowDefinition,
} from '@nebula/core';
import { checkInSlices, type WorkflowVersionRow } from '@nebula/ports';
import { gone, type Handlers, ok, reply } from '../http/handler.ts';
import { DEFAULT_PROJECT } from '../http/subject.ts';
import { visibleProjects } from '../identity/principal.ts';
import { PROJECT_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';
import {
  etagOf,
  idTaken,
  indexChange,
  type LaunchPlanRecord,
  listRecords,
  putRecord,
  type Read,
  readRecord,
  refuseMany,
  removeRecord,
  type WorkflowRecord,
} from '../records.ts';
import { isoTime } from './times.ts';

const LAUNCH_PLANS = { kind: 'plan', limit: PROJECT_LIMITS.maxLaunchPlans, what: 'launch plans' };

export function launchPlanRoutes(parts: Parts) {
  const { records, store, clock } = parts;
  const existing = async (planId: string): Promise<Read<LaunchPlanRecord>> => {
    const plan = await readRecord<LaunchPlanRecord>(records, 'plan', planId);
    if (plan === undefined) throw new NebulaError('UNKNOWN_PLAN', `There is no launch plan '${planId}'.`);
    return plan;
  };
  return {
    async listLaunchPlans({ query, who, project }) {
      const visible = project === undefined ? visibleProjects(who) : [project];
      const isShown = ({ body }: Read<LaunchPlanRecord>): boolean => visible?.includes(body.project) ?? true;
      const { items, next } = await listRecords(records, 'plan', query, isShown);
      return ok({ items: items.map(documentOf), next });
    },

    async getLaunchPlan({ params: { planId } }) {
      const plan = await existing(planId);
      return ok(documentOf(plan), { etag: etagOf(plan) });
    },

    async putLaunchPlan({ params: { planId }, body, project, headers }) {
      const { workflowId, version = 'active' } = body;
      const home = await readRecord<WorkflowRecord>(records, 'workflow', workflowId);
      const wanted = version === 'active' ? (home?.body.active ?? undefined) : version;
      const row = await store.workflowVersion(workflowId, wanted);
      if (row === undefined) {
        throw new NebulaError('UNKNOWN_WORKFLOW', `Workflow '${workflowId}' has no such version.`);
      }
      const inBoth = Object.keys(body.inputs ?? {}).find((name) => Object.hasOwn(body.fixed ?? {}, name));
      if (inBoth !== undefined) {
        throw new NebulaError('BODY_INVALID', `'${inBoth}' is both a default and fixed.`, {
          hint: 'Remove one of them.',
        });
      }
      await refuseMisfit(parts, row, { ...body.inputs, ...body.fixed } as JsonObject);
      const record: LaunchPlanRecord = {
        project: project ?? DEFAULT_PROJECT,
        workflowId,
        version,
        description: body.description ?? null,
        inputs: (body.inputs ?? {}) as Record<string, Json>,
        fixed: (body.fixed ?? {}) as Record<string, Json>,
        concurrency: body.concurrency ?? null,
        active: body.active ?? true,
      };
      const target = { kind: 'plan', id: planId, ifMatch: headers['if-match'] };
      const made = async (before: Read<LaunchPlanRecord> | undefined): Promise<LaunchPlanRecord> => {
        if (before === undefined) await refuseMany(records, { ...LAUNCH_PLANS, project: record.project }, [planId]);
        else if (before.body.project !== record.project) throw idTaken(planId);
        return record;
      };
      const index = indexChange('plan', record.project, planId, true);
      const { isNew, revision } = await putRecord<LaunchPlanRecord>(records, target, made, [index]);
      const document = documentOf({ id: planId, body: record, revision, updatedAt: clock.now() });
      return reply(isNew ? 201 : 200, document, { etag: etagOf({ revision }) });
    },

    async deleteLaunchPlan({ params: { planId }, headers }) {
      const { project } = (await existing(planId)).body;
      const index = indexChange('plan', project, planId, false);
      await removeRecord(records, 'plan', planId, headers['if-match'], [index]);
      return gone();
    },
  } satisfies Partial<Handlers>;
}

/** Keywords that check present members; `required` and the like are left out. */
const ABOUT_MEMBERS = new Set([
  'type',
  'properties',
  'patternProperties',
  'additionalProperties',
  '$defs',
  'definitions',
]);

/** A start adds the rest of the input later, so members may be missing, but present ones must fit the schema. */
async function refuseMisfit(
  { clock }: Parts,
  { workflowId, version, definition }: WorkflowVersionRow,
  given: JsonObject,
): Promise<void> {
  const { input } = JSON.parse(definition) as WorkflowDefinition;
  if (!isJsonObject(input)) return;
  const schema = Object.fromEntries(Object.entries(input).filter(([keyword]) => ABOUT_MEMBERS.has(keyword)));
  const [problem] = (await checkInSlices(compileSchema(schema), given, clock)) ?? [];
  if (problem === undefined) return;
  const { path, message } = problem;
  throw new NebulaError(
    'INPUT_INVALID',
    `The inputs do not fit version ${version} of workflow '${workflowId}': ${describePath(path, 'the input')} ${message}`,
    { hint: 'See `input` in the definition.' },
  );
}

function documentOf({ id, body, updatedAt }: Read<LaunchPlanRecord>): AnswerOf<'getLaunchPlan'> {
  const { project, workflowId, version, description, inputs, fixed, concurrency, active } = body;
  return {
    planId: id,
    project,
    workflowId,
    version,
    description,
    inputs: { ...inputs },
    fixed: { ...fixed },
    concurrency: concurrency === null ? null : { ...concurrency },
    active,
    updatedAt: isoTime(updatedAt),
  };
}
