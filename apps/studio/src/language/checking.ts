/** Compiles the text of the editor: its problems with ranges, and the definition that the canvas draws. */
import {
  type Catalog,
  compileSource,
  type DocumentPath,
  isJsonObject,
  type Problem,
  readDefinition,
  type WorkflowDefinition,
} from '@nebula/core';

export interface TextProblem {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly path: DocumentPath;
  /** The part of the text. */
  readonly from: number;
  readonly to: number;
  /** The node that has the problem, as the canvas names it. */
  readonly node?: string;
}

export interface TextCheck {
  readonly problems: readonly TextProblem[];
  /** Also with errors, as far as the text can be understood; undefined: it cannot. */
  readonly definition: WorkflowDefinition | undefined;
  /** There is no error: it can be saved and run. */
  readonly isValid: boolean;
  /** The distance of each top-level node from the start. */
  readonly levels: Readonly<Record<string, number>>;
}

/** Other workflows by id: those that this one runs must be among them. */
export type KnownWorkflows = Readonly<Record<string, WorkflowDefinition>>;

export function checkText(text: string, catalog: Catalog, workflows: KnownWorkflows = {}): TextCheck {
  const find = (id: string): WorkflowDefinition | undefined =>
    Object.hasOwn(workflows, id) ? workflows[id] : undefined;
  const { definition, plan, problems } = compileSource(text, catalog, {
    workflows: find,
    knownWorkflows: Object.keys(workflows),
  });
  const levels = Object.fromEntries((plan?.root.nodes ?? []).map(({ id, level }) => [id, level]));
  return {
    problems: problems.map((problem) => located(problem, text)),
    definition: definition ?? readableDefinition(text),
    isValid: plan !== undefined,
    levels,
  };
}

/** The definition of a text with errors that leave its graph readable. */
function readableDefinition(text: string): WorkflowDefinition | undefined {
  const { definition, draft } = readDefinition(text);
  const found = definition ?? draft?.definition;
  return found !== undefined && isJsonObject(found.nodes ?? {}) ? found : undefined;
}

function located({ severity, code, message, hint, path, range }: Problem, text: string): TextProblem {
  const from = Math.min(range?.offset ?? 0, text.length);
  const to = Math.min(from + Math.max(range?.length ?? 0, 1), text.length);
  const node = nodeOf(path);
  return {
    severity,
    code,
    message,
    ...(hint !== undefined && { hint }),
    path,
    from: Math.min(from, to),
    to,
    ...(node !== undefined && { node }),
  };
}

/** `nodes.items.do.nodes.pack.with` is in the node `items/pack`. */
export function nodeOf(path: DocumentPath): string | undefined {
  const ids: string[] = [];
  for (let at = 0; path[at] === 'nodes' && path[at + 1] !== undefined; at += 3) ids.push(String(path[at + 1]));
  return ids.length === 0 ? undefined : ids.join('/');
}
