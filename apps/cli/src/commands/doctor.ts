import { checkUp, type Finding } from '../doctor.ts';
import { EXIT } from '../exit-code.ts';
import { locationOf } from '../location.ts';
import { print } from '../print.ts';
import type { Command, Context } from '../services.ts';
import { column, printable, wrap } from '../terminal/width.ts';

const NAME_CELLS = 10;

export const execute: Command = async (call) => {
  const project = await call.services.openProject(locationOf(call.options));
  const findings = await checkUp(call, project);
  const isWell = findings.every(({ ok }) => ok);
  print(call, { ok: isWell, checks: findings }, () => findings.flatMap((finding) => findingLines(call, finding)));
  return isWell ? EXIT.completed : EXIT.failed;
};

function findingLines({ io }: Context, { name, ok, message, hint }: Finding): string[] {
  const { colors } = io.out;
  const indent = NAME_CELLS + 2;
  const room = Math.max(20, io.out.columns() - indent);
  const [first = '', ...rest] = wrap(printable(message), room);
  const below = [
    ...rest,
    ...(hint === undefined ? [] : wrap(`→ ${printable(hint)}`, room).map((line) => colors.cyan(line))),
  ];
  return [
    `${ok ? colors.green('✓') : colors.red('✗')} ${column(name, NAME_CELLS)}${first}`,
    ...below.map((line) => ' '.repeat(indent) + line),
  ];
}
