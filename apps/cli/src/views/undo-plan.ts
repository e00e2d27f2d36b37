/** The compensations that would run, and those that have run. */
import type { RunStatus, UndoPlan } from '@nebula/core';
import type { Colors } from '../terminal/io.ts';
import { printableLine } from '../terminal/width.ts';
import { tableLines } from './table.ts';

export function undoPlanLines(
  status: RunStatus,
  { toUndo, undone }: UndoPlan,
  view: { readonly colors: Colors; readonly width: number },
): string[] {
  const { colors } = view;
  const done =
    undone.length === 0 ? [] : [`${colors.green('✓')} undone already: ${undone.map(printableLine).join(', ')}`];
  if (toUndo.length === 0) {
    const isOver = ['completed', 'failed', 'cancelled', 'timed-out'].includes(status);
    const why = isOver
      ? `the run has ended (${status}): nothing will be undone`
      : 'nothing that can be undone is done yet';
    return [...done, done.length > 0 && isOver ? `the run has ended (${status})` : why];
  }
  const headings = [{ title: '', align: 'right' as const }, { title: 'UNDOES' }, { title: 'BY' }, { title: 'WITH' }];
  const rows = toUndo.map(({ node, action, with: input, problem }, at) => [
    colors.dim(String(at + 1)),
    colors.bold(printableLine(node)),
    action,
    problem === null
      ? printableLine(JSON.stringify(input))
      : colors.red(printableLine(`cannot be resolved: ${problem}`)),
  ]);
  const when =
    status === 'compensating' ? 'still to be undone:' : 'if the run failed now, this would be undone, in this order:';
  return [...done, when, ...tableLines(headings, rows, view)];
}
