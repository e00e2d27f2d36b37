/** Where the workflow of a test comes from: a definition, a builder's result, or a file beside the test. */
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

/** A definition as data, anything that becomes one as JSON (the builder's result), or the path or URL of a file. */
export type WorkflowSource = object | string | URL;

/** A workflow and those that it says that it runs besides. */
export interface LoadedWorkflow {
  readonly definition: WorkflowDefinition;
  readonly uses: readonly WorkflowDefinition[];
}

export async function loadWorkflow(source: WorkflowSource): Promise<LoadedWorkflow> {
  if (typeof source !== 'string' && !(source instanceof URL)) return fromData(source);
  const file = typeof source === 'string' ? path.resolve(source) : fileURLToPath(source);
  return MODULE.test(file) ? fromModule(file) : { definition: fromFile(file), uses: [] };
}

/** Those that are named, with all that they run. */
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
    hint: "A path counts from the current folder; beside the test it is new URL('./order.yaml', import.meta.url)",
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
      ? "A test knows the actions that it is given: actions: builtinActions (of '@nebula/actions'), config for your own, or a mock"
      : '`nebula validate` reports the same',
  });
}
