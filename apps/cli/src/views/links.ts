/** The executions that a run belongs to and that belong to it. */
import type { LinkedChild, Links } from '../links.ts';
import type { Colors } from '../terminal/io.ts';
import { packed, printableLine } from '../terminal/width.ts';
import { statusGlyph, statusPaint } from './theme.ts';
import { plural } from './words.ts';

/** Children that are listed. */
const MAX_CHILDREN = 20;
const LABEL_CELLS = 6;

/** Below each other where a line would not fit. */
export function linkLines({ parent, children }: Links, view: { colors: Colors; width: number }): string[] {
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

function labelled(label: string, parts: readonly string[], { colors, width }: { colors: Colors; width: number }) {
  return packed(parts, width - LABEL_CELLS).map(
    (line, at) => colors.dim((at === 0 ? label : '').padEnd(LABEL_CELLS)) + line,
  );
}
