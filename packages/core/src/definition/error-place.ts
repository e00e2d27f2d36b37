/** Finds the part of a workflow file that the error of a run is about. */
import type { RunError } from '../error.ts';
import type { DocumentPath, Problem } from '../problem.ts';
import { isJsonList, isJsonObject, type Json } from '../value.ts';
import type { SourceMap } from './source-map.ts';

/** The expression whose evaluation failed: a part of the text at a path of a definition. */
export interface ErrorPlace {
  readonly workflowId: string;
  readonly path: DocumentPath;
  readonly offset: number;
  readonly length: number;
}

/** Undefined if the error is not one of an expression, or of one in a graph that an action returned. */
export function errorPlace({ details }: RunError): ErrorPlace | undefined {
  const at: Json | undefined = isJsonObject(details) ? details['at'] : undefined;
  if (!isJsonObject(at)) return undefined;
  const { workflowId, path, offset, length } = at;
  const isPath = isJsonList(path) && path.every((key) => typeof key === 'string' || typeof key === 'number');
  if (typeof workflowId !== 'string' || !isPath || typeof offset !== 'number' || typeof length !== 'number') {
    return undefined;
  }
  return { workflowId, path: path as DocumentPath, offset, length };
}

/** The error as a problem of the source, with its position. Undefined if its place is not known there. */
export function errorProblem(error: RunError, source: SourceMap): Problem | undefined {
  const place = errorPlace(error);
  const range = place && source.rangeInside(place.path, place.offset, place.length);
  if (place === undefined || range === undefined) return undefined;
  const { code, message, details } = error;
  const hint = isJsonObject(details) && typeof details['hint'] === 'string' ? { hint: details['hint'] } : {};
  return { severity: 'error', code, message, ...hint, path: source.documentPath(place.path), range };
}
