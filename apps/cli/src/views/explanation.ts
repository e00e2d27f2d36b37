/** Explains in plain sentences why a run or a node is in its state. Commands are not wrapped, so that they can be copied. */
import type { Explanation } from '@nebula/engine';
import type { View } from '../terminal/io.ts';
import { printable, wrap } from '../terminal/width.ts';

export function explanationLines(explanation: Explanation, { colors, width }: View): string[] {
  const bullet = (sign: string, text: string): string[] => {
    const [first = '', ...rest] = wrap(printable(text), Math.max(20, width - 4));
    return [`  ${sign} ${first}`, ...rest.map((line) => `    ${line}`)];
  };
  const subject = explanation.node === null ? 'the run' : colors.bold(explanation.node);
  const lines = [`${subject} is ${colors.bold(explanation.status)}`];
  for (const reason of explanation.reasons) lines.push(...bullet(colors.dim('•'), reason));
  for (const step of explanation.next) lines.push(`  ${colors.cyan('→')} ${printable(step)}`);
  return lines;
}
