/** A workflow's file: read, checked against the actions that are there, and reported on when something is wrong. */
import {
  type Catalog,
  compileSource,
  type Json,
  NebulaError,
  type Plan,
  type Problem,
  readDefinition,
  renderProblems,
  type SourceMap,
  type WorkflowDefinition,
} from '@nebula/core';
import { readNamedFile } from './named-file.ts';
import type { Context, Project } from './services.ts';
import type { Colors, Io } from './terminal/io.ts';
import { plural } from './views/words.ts';

export interface CheckedFile {
  /** As the user named it. */
  readonly file: string;
  /** Present exactly when no problem is an error. */
  readonly definition: WorkflowDefinition | undefined;
  readonly problems: readonly Problem[];
  readonly source: SourceMap;
  readonly plan: Plan | undefined;
}

export interface LoadedWorkflow {
  readonly definition: WorkflowDefinition;
  /** Throws `INPUT_INVALID` before anything is created or started. */
  checkInput(input: Json): void;
}

/** Without a catalog only what the file alone can tell is checked. */
export async function checkFile(io: Io, file: string, catalog: Catalog | undefined): Promise<CheckedFile> {
  const bytes = await readSource(io, file);
  const options = { file: file === '-' ? 'stdin' : file };
  if (catalog !== undefined) return { file, ...compileSource(bytes, catalog, options) };
  const { definition, problems, source } = readDefinition(bytes, options);
  return { file, definition, problems, source, plan: undefined };
}

async function readSource(io: Io, file: string): Promise<Uint8Array> {
  return file === '-' ? await io.readStdin() : await readNamedFile(io, file, 'a workflow file');
}

/** The definition, or an error that carries every problem. Warnings are told on stderr. */
export async function loadWorkflow(context: Context, project: Project, file: string): Promise<LoadedWorkflow> {
  const checked = await checkFile(context.io, file, await context.services.catalog(project));
  return {
    definition: validDefinition(context.io, checked),
    checkInput(input) {
      const problems = checked.plan?.acceptInput(input).problems ?? [];
      if (problems.length === 0) return;
      throw new NebulaError('INPUT_INVALID', `the input does not fit ${file}: ${problems.join('; ')}`, {
        hint: '`input` in the file says what it takes; --input gives it as JSON, --set one field of it',
        details: { problems: [...problems] },
      });
    },
  };
}

export function validDefinition(io: Io, checked: CheckedFile): WorkflowDefinition {
  const report = reportLines(checked, io.err.colors);
  if (checked.definition === undefined) throw new InvalidWorkflow(checked, report);
  for (const line of report) io.err.write(`${line}\n`);
  return checked.definition;
}

export function reportLines({ file, problems, source }: CheckedFile, colors: Colors): string[] {
  if (problems.length === 0) return [];
  return renderProblems(problems, { file, text: source.text, color: colors.isColorSupported }).trimEnd().split('\n');
}

class InvalidWorkflow extends NebulaError {
  readonly preface: readonly string[];

  constructor(checked: CheckedFile, report: readonly string[]) {
    const errors = checked.problems.filter(({ severity }) => severity === 'error').length;
    super('WORKFLOW_INVALID', `${checked.file} has ${plural(errors, 'error')}; nothing was started`, {
      details: { problems: checked.problems.map(problemDocument) },
    });
    this.preface = [...report, ''];
  }
}

export function problemDocument({ severity, code, message, hint, path: at, range }: Problem): Json {
  return {
    severity,
    code,
    message,
    ...(hint !== undefined && { hint }),
    path: [...at],
    ...(range !== undefined && { line: range.line, column: range.column, length: range.length }),
  };
}
