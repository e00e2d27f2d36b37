/**
 * Checks data as a definition: data ─shape─▶ normalise ─graph─▶ definition. The same for every format; the readers of text
 * are in `read.ts`, so that authors' files, which build objects, do not load them.
 */
import { jobsDefinition } from '../imports/jobs-definition.ts';
import { isJobsDocument, readJobsDocument } from '../imports/jobs-document.ts';
import { mayLoseOrder } from '../node-order.ts';
import type { Problem } from '../problem.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../value.ts';
import { checkData, copyData } from './data.ts';
import { checkGraphs, type Graphs } from './graphs.ts';
import { LANGUAGE_VERSION } from './keys.ts';
import type { WorkflowDefinition } from './model.ts';
import { normalise } from './normalise.ts';
import { ProblemList } from './problem-list.ts';
import { checkShape } from './shape.ts';
import { type SourceMap, TextSourceMap } from './source-map.ts';

export interface ReadResult {
  /** Present exactly when no problem is an error. */
  readonly definition?: WorkflowDefinition;
  /** The graphs of the definition and its bodies; acyclic. */
  readonly graphs?: Graphs;
  /** The result in spite of errors; parts of it may have any shape. */
  readonly draft?: { readonly definition: WorkflowDefinition; readonly graphs: Graphs };
  /** In source order. */
  readonly problems: readonly Problem[];
  readonly source: SourceMap;
}

/** Data and where it came from. */
export interface Reading {
  readonly value?: Json | undefined;
  readonly source: TextSourceMap;
  readonly problems: ProblemList;
}

/** Reads data that is already parsed, from the TypeScript builder, a store or a canvas. The object is copied. */
export function readDefinitionObject(value: unknown, options: { readonly file?: string } = {}): ReadResult {
  const { source, problems } = emptyReading('', options.file);
  const copy = copyData(value, problems);
  if (problems.hasErrors) return resultOf({ source, problems });
  if (copy !== undefined) checkData(copy, problems);
  return check({ value: copy, source, problems });
}

export function emptyReading(text: string, file: string | undefined): Reading {
  const source = new TextSourceMap(text, file, () => undefined);
  return { source, problems: new ProblemList(source) };
}

export function resultOf({ source, problems }: Reading): ReadResult {
  return { problems: problems.sorted(), source };
}

/** The checks that do not depend on the format. */
export function check(reading: Reading): ReadResult {
  const { value, source, problems } = reading;
  if (value === undefined) return resultOf(reading);
  if (!isJsonObject(value)) {
    const found = Array.isArray(value) ? 'a list' : value === null ? 'nothing' : `just a ${typeof value}`;
    const hint = 'a definition has an id and nodes, e.g. id: hello';
    problems.error({ code: 'NOT_A_MAPPING', message: `a definition must be a mapping, not ${found}`, hint });
    return resultOf(reading);
  }
  if (isJobsDocument(value)) return checkJobs(reading, value);
  if (isFutureVersion(value)) return { problems: [futureVersion(value, source)], source };
  checkShape(value, problems);
  const { definition, edgeOrigins } = normalise(value, (path) => source.keysAt(path));
  source.translateEdges(edgeOrigins);
  if (problems.full) return resultOf(reading);
  const graphs = checkGraphs(definition, problems);
  if (problems.hasErrors || !graphs) return { ...resultOf(reading), ...(graphs && { draft: { definition, graphs } }) };
  return { definition, graphs, problems: problems.sorted(), source };
}

/** Reads a jobs file of workflow-graph. The first part that cannot be translated ends the check. */
function checkJobs({ source, problems }: Reading, value: JsonObject): ReadResult {
  const { jobs } = value;
  const order = isJsonObject(jobs ?? null) && mayLoseOrder(jobs as JsonObject) ? source.keysAt(['jobs']) : undefined;
  const { document, findings } = readJobsDocument(value, order, source);
  for (const finding of findings) problems.error(finding);
  if (document === undefined) return resultOf({ source, problems });
  const { definition, origin } = jobsDefinition(document);
  source.translateFrom(origin);
  const { draft: _, ...result } = check({ value: definition, source, problems });
  return result;
}

function isFutureVersion(value: JsonObject): boolean {
  const version = memberOf(value, 'nebula');
  return typeof version === 'number' && Number.isInteger(version) && version > LANGUAGE_VERSION;
}

function futureVersion(value: JsonObject, source: SourceMap): Problem {
  const range = source.rangeOf(['nebula']);
  return {
    severity: 'error',
    code: 'FUTURE_VERSION',
    message: `the definition uses version ${String(value.nebula)} of the language; this engine supports version ${LANGUAGE_VERSION}`,
    hint: 'upgrade Nebula to run it',
    path: ['nebula'],
    ...(range ? { range } : {}),
  };
}
