/** The parent and the children of a run. */
import type { NebulaClient } from '@nebula/client';
import type { RunDocument, RunStatus } from '@nebula/core';
import { findRun, timelineOf } from './runs.ts';
import type { Colors, View } from './terminal/io.ts';
import { packed, printableLine } from './terminal/width.ts';
import { statusGlyph, statusPaint } from './views/theme.ts';
import { plural } from './views/words.ts';

export interface LinkedChild {
  readonly node: string;
  readonly executionId: string;
  readonly workflowId: string;
  /** Null if the child was deleted or never created. */
  readonly status: RunStatus | null;
}

export interface Links {
  readonly parent: RunDocument['parent'];
  readonly children: readonly LinkedChild[];
}

/** The most children whose status is read: a loop may have started thousands. */
const MAX_LOOKED_UP = 1_000;

/** The newest child of each node, in the order in which the children were requested. */
export async function linksOf(api: NebulaClient, { executionId, parent }: RunDocument): Promise<Links> {
  const children = new Map<string, Omit<LinkedChild, 'status'>>();
  for (const { type, node, details } of await timelineOf(api, executionId)) {
    if (type !== 'ChildRequested' || node === null) continue;
    children.delete(node);
    children.set(node, {
      node,
      executionId: details.executionId,
      workflowId: details.workflowId ?? details.plan ?? '',
    });
  }
  const linked: LinkedChild[] = [];
  for (const [at, child] of [...children.values()].entries()) {
    const document = at < MAX_LOOKED_UP ? await findRun(api, child.executionId) : undefined;
    linked.push({ ...child, status: document?.status ?? null });
  }
  return { parent, children: linked };
}

/** The document of a run, with its links. */
export async function linkedDocument(api: NebulaClient, document: RunDocument): Promise<RunDocument & Partial<Links>> {
  return { ...document, ...present(await linksOf(api, document)) };
}

/** Leaves out empty links. */
export function present({ parent, children }: Links): Partial<Links> {
  return { ...(parent !== null && { parent }), ...(children.length > 0 && { children }) };
}

/** Children that are listed. */
const MAX_CHILDREN = 20;
const LABEL_CELLS = 6;

/** The links below each other, if they do not fit on one line. */
export function linkLines({ parent, children }: Links, view: View): string[] {
  const { colors } = view;
  const own = parent === null ? [] : labelled('for', [`${parent.node} of`, parent.executionId], view);
  const shown = children
    .slice(0, MAX_CHILDREN)
    .flatMap((child, at) => labelled(at === 0 ? 'runs' : '', childWords(child, colors), view));
  const more = children.length - MAX_CHILDREN;
  return [
    ...own,
    ...shown,
    ...(more > 0 ? labelled('', [colors.dim(`… ${plural(more, 'more execution')}`)], view) : []),
  ];
}

function childWords({ node, workflowId, executionId, status }: LinkedChild, colors: Colors): string[] {
  const sign =
    status === null ? colors.dim('deleted') : statusPaint(status, colors)(`${statusGlyph(status)} ${status}`);
  return [`${node} → ${printableLine(workflowId)}`, executionId, sign];
}

function labelled(label: string, parts: readonly string[], { colors, width }: View) {
  return packed(parts, width - LABEL_CELLS).map(
    (line, at) => colors.dim((at === 0 ? label : '').padEnd(LABEL_CELLS)) + line,
  );
}
