/** Reads a workflow file, checks it against the available actions and workflows, and reports its problems. */
import path from 'node:path';
import type { NebulaClient } from '@nebula/client';
import { CONTRACT_LIMITS } from '@nebula/client/limits';
import {
  allSteps,
  type Ceiling,
  type Compile,
  compileRead,
  type DefinitionChecks,
  type Json,
  type JsonObject,
  NebulaError,
  type Plan,
  type Problem,
  pinWorkflows,
  problemDocument,
  type ReadResult,
  readDefinition,
  renderProblems,
  type SourceMap,
  usedWorkflows,
  type WorkflowDefinition,
} from '@nebula/core';
import { DEFAULT_PROJECT } from '@nebula/ports';
import { inProject } from './command-options.ts';
import { locationOf } from './location.ts';
import { readNamedFile } from './named-file.ts';
import type { Call, Context, Project } from './services.ts';
import type { Colors, Io } from './terminal/io.ts';
import { plural } from './views/words.ts';
import { findOthers, type OtherFile, type Others } from './workflow-folder.ts';
import { isModule, loadModule } from './workflow-module.ts';

export interface CheckedFile {
  /** The file as the user named it. */
  readonly file: string;
  /** Present exactly when no problem is an error, here and in the files of the workflows that it runs. */
  readonly definition: WorkflowDefinition | undefined;
  readonly problems: readonly Problem[];
  readonly source: SourceMap;
  /** The text of the file; null if it is code. */
  readonly text: string | null;
  readonly plan: Plan | undefined;
  /** Files of the workflows that it uses, each after those that it uses itself. */
  readonly others: readonly CheckedFile[];
}

export interface LoadedWorkflow {
  readonly definition: WorkflowDefinition;
  /** The folder of its file; undefined if it was read from stdin. */
  readonly folder: string | undefined;
  /** Keeps the plan of the definition for an engine of this process. */
  readonly checks: DefinitionChecks;
  /** Workflows to register first, in this order. */
  readonly others: readonly WorkflowDefinition[];
  /** The texts of all these definitions. */
  readonly texts: FileTexts;
  /** Throws `INPUT_INVALID` before anything is created or started. */
  checkInput(input: Json): void;
}

/** The file of each definition, to be stored with its version. */
export type FileTexts = ReadonlyMap<WorkflowDefinition, Pick<CheckedFile, 'file' | 'text'>>;

export function textsIn(checked: CheckedFile): FileTexts {
  const all = [...checked.others, checked];
  return new Map(all.flatMap((one) => (one.definition === undefined ? [] : [[one.definition, one]])));
}

/** Checks the file alone, without actions and other workflows. */
export async function readFile(io: Io, file: string): Promise<CheckedFile> {
  const { bytes } = await readSource(io, file);
  const { definition, problems, source } = readDefinition(bytes, { file: shownName(file) });
  return { file, definition, problems, source, text: textOf(file, source), plan: undefined, others: [] };
}

interface CheckOptions {
  readonly checks?: DefinitionChecks;
  /** The project of the API that the workflow is for; without it, actions of all projects are available. */
  readonly owner?: string;
  /** Capabilities beyond this ceiling cause warnings. */
  readonly ceilingOf?: (definition: WorkflowDefinition) => Promise<Ceiling>;
}

/** Checks the file against the available actions and the workflows beside it. */
export async function checkFile(
  context: Context,
  project: Project,
  file: string,
  { checks, owner, ceilingOf }: CheckOptions = {},
): Promise<CheckedFile> {
  const available = checks ?? (await context.services.checks(project));
  const { bytes, usedFiles } = await readSource(context.io, file);
  const read = readDefinition(bytes, { file: shownName(file) });
  const { definition } = read;
  const ceiling = definition && (await ceilingOf?.(definition));
  const compile: Compile = (one, options) =>
    available.check(one, { project: owner, ...options, ...(ceiling !== undefined && { ceiling }) });
  if (definition === undefined || usedWorkflows(definition).length === 0) {
    return { file, others: [], text: textOf(file, read.source), ...compileRead(read, compile) };
  }
  const others = await findOthers(context, file, definition, { project, usedFiles });
  const checked = others.files.map((other) => checkBeside(other.file, other.read, compile, others));
  const main = checkBeside(file, read, compile, others);
  const isSound = checked.every((one) => one.definition !== undefined);
  return { ...main, definition: isSound ? main.definition : undefined, others: checked };
}

function checkBeside(file: string, read: ReadResult, compile: Compile, others: Others): CheckedFile {
  const compiled = compileRead(read, compile, { workflows: others.find, knownWorkflows: others.ids });
  const problems = compiled.problems.flatMap((problem) => withoutEcho(problem, others));
  const isSound = problems.every(({ severity }) => severity !== 'error');
  const text = textOf(file, read.source);
  return { file, ...compiled, problems, text, definition: isSound ? compiled.definition : undefined, others: [] };
}

/**
 * All files have been read here, so an unknown workflow is an error however it is used. Problems of another workflow
 * file are reported with that file, with their positions.
 */
function withoutEcho(problem: Problem, { files }: Others): Problem[] {
  if (problem.code !== 'UNKNOWN_WORKFLOW' && problem.code !== 'BROKEN_WORKFLOW') return [problem];
  const broken = files.some(({ id, definition }) => definition === undefined && problem.message.endsWith(`'${id}'`));
  if (broken) return [];
  if (problem.code === 'BROKEN_WORKFLOW')
    return files.some(({ id }) => problem.message.includes(`'${id}'`)) ? [] : [problem];
  const hint = problem.hint?.replace('register it first', MISSING_HINT).replace(/; it must be there.*$/, '');
  return [{ ...problem, severity: 'error', ...(hint !== undefined && { hint }) }];
}

const MISSING_HINT = 'put its file beside this one, or run it once so that it is registered';

function shownName(file: string): string {
  return file === '-' ? 'stdin' : file;
}

interface Source {
  readonly bytes: Uint8Array;
  /** Workflows that a module uses and defines itself. */
  readonly usedFiles: readonly OtherFile[];
}

async function readSource(io: Io, file: string): Promise<Source> {
  if (file === '-') return { bytes: await io.readStdin(), usedFiles: [] };
  if (!isModule(file)) return { bytes: await readNamedFile(io, file, 'a workflow file'), usedFiles: [] };
  const { definition, uses } = await loadModule(io, file);
  return {
    bytes: bytesOf(definition),
    usedFiles: uses.map((used) => {
      const read = readDefinition(bytesOf(used), { file: shownName(file) });
      return { file, id: used.id, read, definition: used };
    }),
  };
}

/** A module was read as the JSON of its definition, which is not its text. */
function textOf(file: string, { text }: SourceMap): string | null {
  return isModule(file) ? null : text;
}

function bytesOf(definition: WorkflowDefinition): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(definition, null, 2));
}

/** Loads a file with the actions of its own project, for the data folder or server of the command. */
export async function loadForLocation(
  call: Call,
  file: string,
): Promise<{ readonly loaded: LoadedWorkflow; readonly project: Project }> {
  const { options, services } = call;
  const { dataDir, server } = await services.openProject(locationOf(options));
  const own = await services.openProject({ ...(file !== '-' && { file }), ...locationOf(options) });
  const project = { ...own, dataDir, server };
  return { loaded: await loadWorkflow(call, project, file, inProject(options).project), project };
}

/** Returns the definition or throws an error with every problem. Prints warnings to stderr. */
export async function loadWorkflow(
  context: Context,
  project: Project,
  file: string,
  owner: string = DEFAULT_PROJECT,
): Promise<LoadedWorkflow> {
  const checks = await context.services.checks(project);
  const checked = await checkFile(context, project, file, { checks, owner });
  return {
    definition: validDefinition(context.io, checked),
    folder: file === '-' ? undefined : path.dirname(file),
    checks,
    others: checked.others.flatMap(({ definition }) => definition ?? []),
    texts: textsIn(checked),
    checkInput(input) {
      const begun = checked.plan?.acceptInput(input) ?? { problems: [] };
      const { problems } = 'next' in begun ? allSteps(begun) : begun;
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

/** The problems of the file, after those of the files that it uses. */
export function reportLines({ file, problems, source, others }: CheckedFile, colors: Colors): string[] {
  const before = others.flatMap((other) => reportLines(other, colors));
  if (problems.length === 0) return before;
  const own = renderProblems(problems, { file, text: source.text, color: colors.isColorSupported });
  return [...before, ...own.trimEnd().split('\n')];
}

class InvalidWorkflow extends NebulaError {
  readonly preface: readonly string[];

  constructor(checked: CheckedFile, report: readonly string[]) {
    const invalid = [...checked.others, checked].filter((one) => errorsIn(one) > 0);
    const words = invalid.map((one) => `${one.file} has ${plural(errorsIn(one), 'error')}`).join(', ');
    super('WORKFLOW_INVALID', `${words}; nothing was started`, { details: { problems: allProblems(checked) } });
    this.preface = [...report, ''];
  }
}

function errorsIn({ problems }: CheckedFile): number {
  return problems.filter(({ severity }) => severity === 'error').length;
}

/** Problems of other files carry the file's name. */
export function allProblems({ problems, others }: CheckedFile): Json[] {
  const elsewhere = others.flatMap((other) =>
    other.problems.map((problem) => ({ file: other.file, ...withLength(problem) })),
  );
  return [...elsewhere, ...problems.map(withLength)];
}

function withLength(problem: Problem): JsonObject {
  const { range } = problem;
  return { ...problemDocument(problem), ...(range !== undefined && { length: range.length }) };
}

interface RegisterOptions {
  readonly activate: boolean;
  readonly project?: string;
  readonly texts: FileTexts;
  /** The name of a file as it is stored with the text; by default without its folder, which is one of this machine. */
  nameOf?(file: string): string;
}

/** Registers the used workflows first and pins the uses to the stored versions. Activates only the last workflow. */
export async function registerAll(
  api: NebulaClient,
  others: readonly WorkflowDefinition[],
  definition: WorkflowDefinition,
  { activate, project, texts, nameOf = path.basename }: RegisterOptions,
) {
  const versions = new Map<string, number>();
  const store = async (one: WorkflowDefinition, isActive: boolean) => {
    const pinned = pinWorkflows(one, (id) => versions.get(id)) as unknown as Json;
    const body = { definition: pinned, activate: isActive, ...(project !== undefined && { project }) };
    const registered = await api.call('registerWorkflow', { body: { ...body, ...sourceOf(texts.get(one), nameOf) } });
    versions.set(registered.workflowId, registered.version);
    return registered;
  };
  for (const other of others) await store(other, false);
  return await store(definition, activate);
}

/** The text as the API takes it. A very long one is left out: the version is registered without it. */
function sourceOf(
  of: { readonly file: string; readonly text: string | null } | undefined,
  nameOf: (file: string) => string,
): { readonly source?: string; readonly filename?: string } {
  if (of === undefined) return {};
  const name = of.file === '-' ? '' : nameOf(of.file);
  const isLong = of.text !== null && of.text.length > CONTRACT_LIMITS.maxSourceChars;
  return {
    ...(of.text !== null && !isLong && { source: of.text }),
    ...(name !== '' && name.length <= MAX_FILENAME_CHARS && !isLong && { filename: name }),
  };
}

const MAX_FILENAME_CHARS = 500;
