import { writeLines } from '../report-runs.ts';
import { openSecrets } from '../secrets.ts';
import type { CommandOptions, Context } from '../services.ts';
import { readingWidth } from '../terminal/io.ts';
import { jsonDocument } from '../views/json.ts';
import { tableLines } from '../views/table.ts';
import { agoText } from '../views/words.ts';

export async function execute(context: Context, _args: readonly string[], options: CommandOptions): Promise<number> {
  const { io, program } = context;
  const { colors } = io.out;
  const list = await (await openSecrets(context, options)).list();
  if (options.json === true) {
    const secrets = list.map(({ name, updatedAt }) => {
      return { name, updatedAt: updatedAt === null ? null : new Date(updatedAt).toISOString() };
    });
    io.out.write(jsonDocument({ items: secrets }));
  } else if (list.length === 0) {
    writeLines(io.out, [`no secrets yet; store one with ${colors.bold(`${program} secrets set NAME`)}`]);
  } else {
    const rows = list.map(({ name, updatedAt }) => {
      return [name, updatedAt === null ? colors.dim('–') : agoText(updatedAt, io.now())];
    });
    writeLines(
      io.out,
      tableLines([{ title: 'NAME' }, { title: 'UPDATED' }], rows, { colors, width: readingWidth(io.out) }),
    );
  }
  return 0;
}
