/** The executions that a run belongs to and that belong to it. */
import type { LinkedChild, Links } from '../links.ts';
import type { Colors } from '../terminal/io.ts';
import { printableLine, visibleWidth } from '../terminal/width.ts';
import { runGlyph, runPaint } from './theme.ts';
import { plural } from './words.ts';

/** Children that are listed. */
const MAX_CHILDREN = 20;
const LABEL_CELLS = 6;

/** Below each other where a line would not fit. */
export function linkLines({ parent, children }: Links, view: { colors: Colors; width: number }): string[] {
  const { colors } = view;
  const label = (text: string): string => colors.dim(text.padEnd(LABEL_CELLS));
  const own = parent === null ? [] : fitting([`${label('for')}${parent.node} of`, parent.executionId], view);
  const shown = children
    .slice(0, MAX_CHILDREN)
    .flatMap((child, at) =>
      fitting([`${label(at === 0 ? 'runs' : '')}${child.node} →`, ...childWords(child, colors)], view),
    );
  const more = children.length - MAX_CHILDREN;
  return [...own, ...shown, ...(more > 0 ? [colors.dim(`${label('')}… ${plural(more, 'more execution')}`)] : [])];
}

function childWords({ workflowId, executionId, status }: LinkedChild, colors: Colors): string[] {
  const sign = status === null ? colors.dim('deleted') : runPaint(status, colors)(`${runGlyph(status)} ${status}`);
  return [`${printableLine(workflowId)} ${executionId}`, ` ${sign}`];
}

function fitting(parts: readonly string[], { width }: { width: number }): string[] {
  const line = parts.join(' ');
  if (visibleWidth(line) <= width) return [line];
  const [first = '', ...rest] = parts;
  return [first, ...rest.map((part) => `${' '.repeat(LABEL_CELLS)}${part.trimStart()}`)];
}
