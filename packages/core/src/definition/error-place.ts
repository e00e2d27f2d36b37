/** Finds the part of a workflow file that the error of a run is about. */
import type { RunError } from '../error.ts';
import type { DocumentPath, Problem } from '../problem.ts';
import { isJsonList, isJsonObject, type Json } from '../value.ts';
import type { SourceMap } from './source-map.ts';

/** The value at a path of a definition that an error is about, or a part of its text. */
export interface ErrorPlace {
  readonly workflowId: string;
  readonly path: DocumentPath;
  /** Both or none: without them the error is about the whole value. */
  readonly offset?: number;
  readonly length?: number;
}

/** Undefined if the error is about no value, or about one in a graph that an action returned. */
export function errorPlace({ details }: RunError): ErrorPlace | undefined {
  const at: Json | undefined = isJsonObject(details) ? details['at'] : undefined;
  if (!isJsonObject(at)) return undefined;
  const { workflowId, path, offset, length } = at;
  const isPath = isJsonList(path) && path.every((key) => typeof key === 'string' || typeof key === 'number');
  if (typeof workflowId !== 'string' || !isPath) return undefined;
  const place = { workflowId, path: path as DocumentPath };
  if (offset === undefined && length === undefined) return place;
  return typeof offset === 'number' && typeof length === 'number' ? { ...place, offset, length } : undefined;
}

/** The error as a problem of the source, with its position. Undefined if its place is not known there. */
export function errorProblem(error: RunError, source: SourceMap): Problem | undefined {
  const place = errorPlace(error);
  if (place === undefined) return undefined;
  const { path, offset, length } = place;
  const isPart = offset !== undefined && length !== undefined;
  const range = isPart ? source.rangeInside(path, offset, length) : source.rangeOf(path);
  if (range === undefined) return undefined;
  const { code, message, details } = error;
  const hint = isJsonObject(details) && typeof details['hint'] === 'string' ? { hint: details['hint'] } : {};
  return { severity: 'error', code, message, ...hint, path: source.documentPath(path), range };
}
