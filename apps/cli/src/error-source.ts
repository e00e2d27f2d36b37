/** The part of a workflow file that the error of a run is about: line, caret and hint. */
import path from 'node:path';
import {
  canonicalJson,
  errorPlace,
  errorProblem,
  isJsonObject,
  type Json,
  NebulaError,
  pinWorkflows,
  type ReadResult,
  type RunError,
  readDefinition,
  renderPlace,
  usedWorkflows,
  type WorkflowDefinition,
} from '@nebula/core';
import { definitionOf, definitionOfRun } from './runs.ts';
import type { OpenCall } from './services.ts';
import type { Colors } from './terminal/io.ts';
import { fileWithWorkflow, type OtherFile } from './workflow-folder.ts';

export async function errorSourceLines(
  open: OpenCall,
  failedId: string,
  failure: RunError | null,
  { colors, folder }: { readonly colors: Colors; readonly folder?: string | undefined },
): Promise<string[]> {
  if (failure === null) return [];
  const { executionId, error } = causeOf(failedId, failure);
  const place = errorPlace(error);
  if (place === undefined) return [];
  const definition = await definitionWith(open, executionId, place.workflowId);
  return definition === undefined ? [] : await placeLines(open, error, definition, { colors, folder });
}

/** Puts the place in the workflow file before the error of a start, if the error names one. */
export async function startFailure(open: OpenCall, error: unknown, folder: string | undefined): Promise<unknown> {
  if (!(error instanceof NebulaError)) return error;
  const { code, message, details } = error;
  const failure: RunError = { code, kind: 'USER', message, ...(details !== undefined && { details }) };
  const place = errorPlace(failure);
  if (place === undefined) return error;
  const definition = await definitionOf(open.api, place.workflowId).catch(() => undefined);
  if (definition === undefined) return error;
  const preface = await placeLines(open, failure, definition, { colors: open.io.err.colors, folder });
  return Object.assign(error, { preface });
}

async function placeLines(
  open: OpenCall,
  error: RunError,
  definition: WorkflowDefinition,
  { colors, folder }: { readonly colors: Colors; readonly folder?: string | undefined },
): Promise<string[]> {
  const { file, read } = (await ownFile(open, definition, folder)) ?? stored(definition);
  const problem = errorProblem(error, read.source);
  return problem === undefined
    ? []
    : renderPlace(problem, { file, text: read.source.text, color: colors.isColorSupported });
}

/** The error of the execution in which it occurred: that of a child, if the failure is one of a child. */
function causeOf(executionId: string, error: RunError): { readonly executionId: string; readonly error: RunError } {
  const { details } = error;
  const cause = isJsonObject(details) ? details['cause'] : undefined;
  if (!isJsonObject(cause) || typeof cause['executionId'] !== 'string') return { executionId, error };
  return { executionId: cause['executionId'], error: { ...error, details: cause['details'] ?? null } };
}

/** The most definitions that are read to find an inlined workflow. */
const MAX_INLINED = 100;

/** The definition of the run, or of the workflow with this id that it inlines at any depth, in the pinned version. */
async function definitionWith(
  { api }: OpenCall,
  executionId: string,
  workflowId: string,
): Promise<WorkflowDefinition | undefined> {
  const main = await definitionOfRun(api, executionId);
  const waiting = main === undefined ? [] : [main];
  const seen = new Set<string>();
  for (const definition of waiting) {
    if (definition.id === workflowId) return definition;
    for (const { id, version, mode } of usedWorkflows(definition)) {
      const key = `${id}@${version ?? ''}`;
      if (mode === 'child' || seen.has(key) || seen.size >= MAX_INLINED) continue;
      seen.add(key);
      const inlined = await definitionOf(api, id, version);
      if (inlined !== undefined) waiting.push(inlined);
    }
  }
  return undefined;
}

interface Source {
  readonly file: string;
  readonly read: ReadResult;
}

/** The file in this project that has the definition, unless it has changed since. */
async function ownFile(
  open: OpenCall,
  definition: WorkflowDefinition,
  folder: string | undefined,
): Promise<Source | undefined> {
  const other = await workflowFileHere(open, definition.id, folder);
  if (other?.definition === undefined) return undefined;
  // The stored definition names the versions of the workflows that it inlines; the file usually does not.
  const versions = new Map(usedWorkflows(definition).map(({ id, version }) => [id, version]));
  const pinned = pinWorkflows(other.definition, (id) => versions.get(id));
  return contentOf(pinned) === contentOf(definition) ? other : undefined;
}

/** The file of this project that has a workflow with this id. */
export async function workflowFileHere(
  { io, project }: OpenCall,
  workflowId: string,
  folder: string | undefined,
): Promise<OtherFile | undefined> {
  const dir = path.relative(io.cwd, project.dir);
  const folders = [...(folder === undefined ? [] : [folder]), '', dir, path.join(dir, 'workflows')];
  return await fileWithWorkflow(folders, io.cwd, workflowId);
}

function contentOf({ version: _, ...content }: WorkflowDefinition): string {
  return canonicalJson(content as unknown as Json);
}

function stored(definition: WorkflowDefinition): Source {
  const name = `${definition.id} v${definition.version ?? 1}`;
  return { file: name, read: readDefinition(JSON.stringify(definition, null, 2), { file: name }) };
}
