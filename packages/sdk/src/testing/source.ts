/** Where the workflow of a test comes from: a definition, a builder's result, or a file beside the test. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
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

export function definitionOf(source: WorkflowSource): WorkflowDefinition {
  if (typeof source === 'string' || source instanceof URL) return fromFile(source);
  return checked(readDefinitionObject(JSON.parse(JSON.stringify(source)) as unknown), undefined);
}

/** What a builder's result says that it runs besides. */
export function usedBy(source: WorkflowSource): WorkflowDefinition[] {
  if (typeof source === 'string' || source instanceof URL || !('uses' in source) || !('toJSON' in source)) return [];
  return Array.isArray(source.uses) ? source.uses.map((one: object) => definitionOf(one)) : [];
}

function fromFile(source: string | URL): WorkflowDefinition {
  const file = typeof source === 'string' ? path.resolve(source) : fileURLToPath(source);
  const name = path.relative('', file);
  try {
    return checked(readDefinition(readFileSync(file), { file: name }), name);
  } catch (error) {
    if (error instanceof NebulaError) throw error;
    throw new NebulaError('FILE_UNREADABLE', `${name} cannot be read: ${(error as Error).message}`, {
      hint: "A path counts from the current folder; beside the test it is new URL('./order.yaml', import.meta.url)",
    });
  }
}

function checked({ definition, problems, source }: ReadResult, file: string | undefined): WorkflowDefinition {
  if (definition !== undefined) return definition;
  throw invalidWorkflow(problems, file, source.text);
}

export function invalidWorkflow(problems: readonly Problem[], file?: string, text?: string): NebulaError {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const report = renderProblems(errors, { file, text });
  return new NebulaError('WORKFLOW_INVALID', `the workflow cannot run:\n\n${report}`, {
    hint: '`nebula validate` reports the same',
  });
}
