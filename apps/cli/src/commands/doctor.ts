import { checkUp, type Finding } from '../doctor.ts';
import { EXIT } from '../exit-code.ts';
import { locationOf } from '../location.ts';
import { writeLines } from '../report-runs.ts';
import type { CommandOptions, Context } from '../services.ts';
import { column, printable, wrap } from '../terminal/width.ts';
import { jsonDocument } from '../views/json.ts';

const NAME_CELLS = 10;

export async function execute(context: Context, _args: readonly string[], options: CommandOptions): Promise<number> {
  const { out } = context.io;
  const project = await context.services.openProject(locationOf(options));
  const findings = await checkUp(context, project);
  const isWell = findings.every(({ ok }) => ok);
  if (options.json === true) out.write(jsonDocument({ ok: isWell, checks: findings }));
  else for (const finding of findings) writeLines(out, findingLines(context, finding));
  return isWell ? EXIT.completed : EXIT.failed;
}

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
