/** Loads the workflow of a test from a definition, a builder's result, or a file next to the test. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  NebulaError,
  type Problem,
  type ReadResult,
  readDefinition,
  readDefinitionObject,
  renderProblems,
  type WorkflowDefinition,
} from '@nebula/core';

/** A definition as data, an object that serialises to one (the builder's result), or the path or URL of a file. */
export type WorkflowSource = object | string | URL;

/** A workflow and the workflows that it declares to use. */
export interface LoadedWorkflow {
  readonly definition: WorkflowDefinition;
  readonly uses: readonly WorkflowDefinition[];
}

export async function loadWorkflow(source: WorkflowSource): Promise<LoadedWorkflow> {
  if (typeof source !== 'string' && !(source instanceof URL)) return fromData(source);
  const file = typeof source === 'string' ? path.resolve(source) : fileURLToPath(source);
  return MODULE.test(file) ? fromModule(file) : { definition: fromFile(file), uses: [] };
}

/** The given workflows and all workflows that they use. */
export async function loadWorkflows(sources: readonly WorkflowSource[]): Promise<WorkflowDefinition[]> {
  const loaded = await Promise.all(sources.map(loadWorkflow));
  return loaded.flatMap(({ definition, uses }) => [...uses, definition]);
}

function fromData(source: object): LoadedWorkflow {
  const uses = 'toJSON' in source && 'uses' in source && Array.isArray(source.uses) ? source.uses : [];
  return { definition: asDefinition(source), uses: uses.map(asDefinition) };
}

function asDefinition(source: object): WorkflowDefinition {
  return checked(readDefinitionObject(JSON.parse(JSON.stringify(source)) as unknown), undefined);
}

const MODULE = /\.[mc]?[tj]s$/;

async function fromModule(file: string): Promise<LoadedWorkflow> {
  const name = path.relative('', file);
  const loaded = await import(pathToFileURL(file).href).catch((error: unknown) => {
    throw error instanceof NebulaError ? error : unreadable(name, error);
  });
  const { default: exported } = loaded as { readonly default?: unknown };
  if (typeof exported === 'object' && exported !== null) return fromData(exported);
  throw new NebulaError('WORKFLOW_INVALID', `${name} has no workflow as its default export`, {
    hint: "write: export default workflow('id', { … }, (w) => { … }), with workflow from '@nebula/sdk'",
  });
}

function fromFile(file: string): WorkflowDefinition {
  const name = path.relative('', file);
  try {
    return checked(readDefinition(readFileSync(file), { file: name }), name);
  } catch (error) {
    throw error instanceof NebulaError ? error : unreadable(name, error);
  }
}

function unreadable(name: string, error: unknown): NebulaError {
  return new NebulaError('FILE_UNREADABLE', `${name} cannot be read: ${(error as Error).message}`, {
    hint: "Paths are relative to the current folder; for a file next to the test, use new URL('./order.yaml', import.meta.url)",
  });
}

function checked({ definition, problems, source }: ReadResult, file: string | undefined): WorkflowDefinition {
  if (definition !== undefined) return definition;
  throw invalidWorkflow(problems, file, source.text);
}

export function invalidWorkflow(problems: readonly Problem[], file?: string, text?: string): NebulaError {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const report = renderProblems(errors, { file, text });
  return new NebulaError('WORKFLOW_INVALID', `the workflow cannot run:\n\n${report}`, {
    hint: errors.some(({ code }) => code === 'UNKNOWN_ACTION')
      ? "Pass the actions to the test: actions: builtinActions (from '@nebula/actions'), config for your own, or a mock"
      : '`nebula validate` reports the same',
  });
}
