/** The part of a workflow file that the error of a run is about: line, caret and hint. */
import path from 'node:path';
import {
  canonicalJson,
  errorPlace,
  errorProblem,
  type Json,
  type ReadResult,
  type RunError,
  readDefinition,
  renderPlace,
  type WorkflowDefinition,
} from '@nebula/core';
import { definitionOfRun } from './runs.ts';
import type { OpenCall } from './services.ts';
import type { Colors } from './terminal/io.ts';
import { fileWithWorkflow } from './workflow-folder.ts';

export async function errorSourceLines(
  open: OpenCall,
  executionId: string,
  error: RunError | null,
  { colors, folder }: { readonly colors: Colors; readonly folder?: string | undefined },
): Promise<string[]> {
  const place = error === null ? undefined : errorPlace(error);
  if (error === null || place === undefined) return [];
  const definition = await definitionOfRun(open.api, executionId);
  if (definition?.id !== place.workflowId) return [];
  const { file, read } = (await ownFile(open, definition, folder)) ?? stored(definition);
  const problem = errorProblem(error, read.source);
  return problem === undefined
    ? []
    : renderPlace(problem, { file, text: read.source.text, color: colors.isColorSupported });
}

interface Source {
  readonly file: string;
  readonly read: ReadResult;
}

/** The file in this project that has the definition, unless it has changed since. */
async function ownFile(
  { io, project }: OpenCall,
  definition: WorkflowDefinition,
  folder: string | undefined,
): Promise<Source | undefined> {
  const dir = path.relative(io.cwd, project.dir);
  const folders = [...(folder === undefined ? [] : [folder]), '', dir, path.join(dir, 'workflows')];
  const other = await fileWithWorkflow(folders, io.cwd, definition.id);
  if (other?.definition === undefined || contentOf(other.definition) !== contentOf(definition)) return undefined;
  return other;
}

function contentOf({ version: _, ...content }: WorkflowDefinition): string {
  return canonicalJson(content as unknown as Json);
}

function stored(definition: WorkflowDefinition): Source {
  const name = `${definition.id} v${definition.version ?? 1}`;
  return { file: name, read: readDefinition(JSON.stringify(definition, null, 2), { file: name }) };
}
