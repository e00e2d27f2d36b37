/**
 * Warns of capabilities beyond the ceiling of the project. The definition runs, and access beyond the ceiling is
 * denied.
 */
import type { Capabilities } from '../action.ts';
import { entriesOf, type OverCeiling, overCeiling } from '../capability/narrow.ts';
import type { DocumentPath } from '../problem.ts';
import type { CompileContext } from './context.ts';

export function checkCeiling(
  { ceiling, problems }: Pick<CompileContext, 'ceiling' | 'problems'>,
  asked: Capabilities | undefined,
  path: DocumentPath,
): void {
  if (asked === undefined) return;
  for (const { list, entry } of overCeiling(asked, ceiling)) {
    const allowed = ceiling === 'all' ? [] : entriesOf(ceiling, list);
    problems.warning({
      code: 'OVER_CEILING',
      message: `'${entry}' in ${list} exceeds the ceiling of the project, which allows ${allowed.length === 0 ? 'none' : allowed.join(', ')}`,
      hint: `an owner of the project can allow it: nebula projects set PROJECT --allow ${list}=${entry}`,
      path: [...path, ...list.split('.'), indexIn(asked, { list, entry })],
    });
  }
}

function indexIn(asked: Capabilities, { list, entry }: OverCeiling): number {
  return entriesOf(asked, list).indexOf(entry);
}
