/** Registers definitions: reads them from a request, claims their ids, stores the version with its text, activates it. */
import type { AnswerOf, BodyOf } from '@nebula/client/contract';
import {
  type Json,
  jsonEquals,
  NebulaError,
  type Problem,
  pinWorkflows,
  problemDocument,
  usedWorkflows,
  type WorkflowDefinition,
} from '@nebula/core';
import { pauseFor, type WorkflowSourceRow } from '@nebula/ports';
import { type CheckedDefinition, checkedDefinition } from '../definitions/definitions.ts';
import { type Call, created, ok, type Reply } from '../http/handler.ts';
import { DEFAULT_PROJECT, projectOfWorkflow, requireProject } from '../http/subject.ts';
import type { Parts, WorkflowFiles } from '../parts.ts';
import { isRegistered } from '../projects.ts';
import { idTaken, readRecord, type WorkflowRecord } from '../records.ts';

/** Activations without a revision are tried again after a conflict: the last writer wins. */
const ACTIVATION_TRIES = 10;

type Registered = AnswerOf<'registerWorkflow'> & { readonly isUnchanged: boolean };

export async function registered(
  parts: Parts,
  call: Call<'registerWorkflow'>,
  onActivation: () => void,
): Promise<Reply<AnswerOf<'registerWorkflow'>>> {
  const { body, project = DEFAULT_PROJECT, isLocal } = call;
  const files = body.saveToFile === true ? filesFor(parts, call) : undefined;
  const { definition, problems } = await compiled(parts, body, project, isLocal);
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (definition === undefined || errors.length > 0) throw invalidDefinition(errors);
  await requireProject(parts, project);
  const isActive = body.activate !== false;
  if (isActive) await (await import('../triggers/activation.ts')).checkTriggers(parts, definition, project);
  await claimIds(parts, definition, project, isLocal === true && !isActive);
  const register = (): Promise<Registered> => stored(parts, { body, definition, problems }, onActivation);
  const { isUnchanged, ...answer } =
    files === undefined ? await register() : await files.save(definition.id, body.source ?? '', register);
  return { ...(answer.created ? created(answer) : ok(answer)), isUnchanged };
}

interface Storable extends CheckedDefinition {
  readonly body: BodyOf<'registerWorkflow'>;
  readonly definition: WorkflowDefinition;
}

async function stored(
  parts: Parts,
  { body, definition, problems }: Storable,
  onActivation: () => void,
): Promise<Registered> {
  const {
    workflowId,
    version,
    created: isNew,
  } = await parts.executions.register(definition as unknown as Json, sourceOf(body));
  const record = await readRecord<WorkflowRecord>(parts.records, 'workflow', workflowId);
  const isActive = body.activate !== false;
  // A version changes nothing before it is activated, and a server registers its files at every start.
  const isUnchanged = !isActive || record?.body.active === version;
  if (!isUnchanged) await setActive(parts, { workflowId, active: version }, onActivation);
  return {
    workflowId,
    version,
    created: isNew,
    active: isActive || record?.body.active === version,
    warnings: problems.map(problemDocument),
    isUnchanged,
  };
}

/** The files of the project, if the caller may change them. */
function filesFor({ workflowFiles }: Parts, { body, who }: Call<'registerWorkflow'>): WorkflowFiles {
  const files = workflowFiles?.();
  if (files === undefined) {
    throw new NebulaError('NOT_SAVED_TO_FILE', 'This server does not write workflow files; nothing was registered.', {
      hint: 'Register without `saveToFile`, or change the file where it is kept.',
    });
  }
  if (!who.isAdmin) throw new NebulaError('NOT_ALLOWED', 'Only the owner of this server may write its files.');
  if (body.source === undefined || body.activate === false) {
    throw new NebulaError('BODY_INVALID', 'A definition that is saved to a file needs its text and is activated.', {
      hint: 'Send `source`, and leave `activate` out.',
      details: { errors: [{ pointer: '/saveToFile', detail: 'needs `source`, and not `activate: false`' }] },
    });
  }
  return files;
}

/** The text to keep with the version. Code has a name and no text. */
function sourceOf({ source, filename }: BodyOf<'registerWorkflow'>): WorkflowSourceRow | undefined {
  if (source !== undefined) {
    // A lone surrogate cannot be stored.
    const text = source.toWellFormed();
    return { text, format: formatOf(text, filename), filename: filename?.toWellFormed() ?? null };
  }
  if (filename === undefined || !/\.[mc]?[tj]s$/.test(filename)) return undefined;
  return { text: null, format: 'typescript', filename: filename.toWellFormed() };
}

function formatOf(text: string, filename: string | undefined): 'yaml' | 'json' {
  if (filename !== undefined && /\.(json|ya?ml)$/i.test(filename)) return /json$/i.test(filename) ? 'json' : 'yaml';
  if (!/^\s*\{/.test(text)) return 'yaml';
  try {
    JSON.parse(text);
    return 'json';
  } catch {
    return 'yaml';
  }
}

/** Reads the definition from the body of a request. */
export async function compiled(
  parts: Parts,
  { definition, source, filename = 'workflow.yaml' }: BodyOf<'validateWorkflow'>,
  project: string,
  isLocal: true | undefined,
): Promise<CheckedDefinition> {
  // The owner of the data folder has read its file itself, and compiled it.
  if (source === undefined || (isLocal === true && definition !== undefined)) {
    if (definition !== undefined)
      return await checkedDefinition(parts, { definition: definition as Json }, project, isLocal);
    throw new NebulaError('BODY_INVALID', "The body lacks 'definition'.", {
      hint: 'Give it as JSON, or as text in `source`.',
    });
  }
  const checked = await checkedDefinition(parts, { source, filename }, project, isLocal);
  if (definition === undefined || checked.definition === undefined) return checked;
  await pauseFor(source.length, parts.clock, 'request');
  return { ...checked, definition: sameDefinition(checked.definition, definition as Json) };
}

/** The definition as given, whose inlined workflows may be pinned to versions; the text must say everything else. */
function sameDefinition(read: WorkflowDefinition, given: Json): WorkflowDefinition {
  const pinned = pinnedAs(read, given as unknown as WorkflowDefinition);
  if (jsonEquals(pinned as unknown as Json, given)) return pinned;
  throw new NebulaError('BODY_INVALID', '`source` and `definition` differ.', {
    hint: 'Send one of them.',
    details: { errors: [{ pointer: '/source', detail: 'is not the text of `definition`' }] },
  });
}

/** Pins inlined workflows without a version to the versions that another definition uses. */
export function pinnedAs(definition: WorkflowDefinition, other: WorkflowDefinition): WorkflowDefinition {
  const pins = new Map<string, number>();
  try {
    const written = new Set(usedWorkflows(definition).map(({ id, version }) => `${id} ${version}`));
    for (const { id, version, mode } of usedWorkflows(other)) {
      if (mode === 'child' || version === undefined) continue;
      // A version that the text names itself may be of another use of the same workflow.
      if (!pins.has(id) || !written.has(`${id} ${version}`)) pins.set(id, version);
    }
  } catch {
    // The other one is no definition.
    return definition;
  }
  return pinWorkflows(definition, (id) => pins.get(id));
}

/**
 * Ids are unique over all projects. The first project that registers an id, or names it as a used workflow, claims it
 * before anything is stored under it. Returns false if the id belongs to another project.
 */
async function isClaimed(parts: Parts, workflowId: string, project: string): Promise<boolean> {
  const isThere = await isRegistered(parts.store, workflowId);
  if (!isThere && (await parts.records.get('workflow', workflowId)) === undefined) {
    const body = JSON.stringify({ project, active: null } satisfies WorkflowRecord);
    if ((await parts.records.commit([{ kind: 'workflow', id: workflowId, body, expected: 0 }])).ok) return true;
  }
  return (await projectOfWorkflow(parts, workflowId)) === project;
}

/**
 * A workflow uses workflows of its own project only: the engine finds no others. Used ids that no project owns become
 * those of its project. A workflow of another project is skipped as if it did not exist.
 */
export async function claimIds(
  parts: Parts,
  definition: WorkflowDefinition,
  project: string,
  isStoredOnly: boolean,
): Promise<void> {
  const { id: workflowId } = definition;
  // A workflow without a record belongs to the default project: a run on a data folder writes no record.
  if (isStoredOnly && project === DEFAULT_PROJECT) {
    const record = await readRecord<WorkflowRecord>(parts.records, 'workflow', workflowId);
    if (record !== undefined && record.body.project !== project) throw idTaken(workflowId);
    return;
  }
  if (!(await isClaimed(parts, workflowId, project))) throw idTaken(workflowId);
  for (const id of new Set(usedWorkflows(definition).map((used) => used.id))) await isClaimed(parts, id, project);
}

export interface ActiveChange {
  readonly workflowId: string;
  /** Null deactivates the workflow. */
  readonly active: number | null;
  /** Archives the workflow, too. */
  readonly isArchived?: boolean;
  /** The revision that the caller has seen. */
  readonly ifMatch?: number | undefined;
}

export async function setActive(
  parts: Parts,
  { workflowId, active, isArchived = false, ifMatch }: ActiveChange,
  onActivation: () => void,
): Promise<void> {
  const { activate } = await import('../triggers/activation.ts');
  for (let left = ifMatch === undefined ? ACTIVATION_TRIES : 1; ; left--) {
    const record = await readRecord<WorkflowRecord>(parts.records, 'workflow', workflowId);
    const project = record?.body.project ?? DEFAULT_PROJECT;
    const expected = ifMatch ?? record?.revision ?? 0;
    if (await activate(parts, { project, workflowId, active, expected, record: record?.body, isArchived }))
      return onActivation();
    if (left <= 1) throw changedMeanwhile(workflowId, ifMatch !== undefined);
  }
}

export function invalidDefinition(errors: readonly Problem[]): NebulaError {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return new NebulaError('DEFINITION_INVALID', `${first?.message ?? 'The definition cannot be read'}${more}`, {
    ...(first?.hint !== undefined && { hint: first.hint }),
    details: { problems: errors.map(problemDocument) },
  });
}

function changedMeanwhile(workflowId: string, isConditional: boolean): NebulaError {
  return new NebulaError(
    isConditional ? 'ETAG_MISMATCH' : 'CHANGED_MEANWHILE',
    `Workflow '${workflowId}' was changed in the meantime.`,
    { hint: 'Read it again, then repeat the request.' },
  );
}
