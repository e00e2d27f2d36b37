import type { Json } from '@nebula/core';
import { withApi } from '../api.ts';
import { atOnceText, startsText } from '../launch-plans.ts';
import { writeLines } from '../report-runs.ts';
import type { CommandOptions, Context } from '../services.ts';
import { printableLine, wrap } from '../terminal/width.ts';
import { jsonDocument, jsonLines } from '../views/json.ts';
import { agoText } from '../views/words.ts';

export function execute(context: Context, [planId = '']: readonly string[], options: CommandOptions): Promise<number> {
  const { out, now } = context.io;
  const { colors } = out;
  return withApi(context, options, 'look', async ({ api }) => {
    const plan = await api.call('getPlan', { params: { planId } });
    if (options.json === true) {
      out.write(jsonDocument(plan));
      return 0;
    }
    const section = (title: string, values: Readonly<Record<string, unknown>>): string[] =>
      Object.keys(values).length === 0
        ? []
        : ['', colors.dim(title), ...jsonLines(values as Json, { colors, width: out.columns() }).lines];
    writeLines(out, [
      `${colors.bold(planId)}  ${plan.active ? colors.green('active') : colors.yellow('off')}  ${colors.dim(plan.project)}`,
      ...(plan.description === null ? [] : wrap(printableLine(plan.description), out.columns())),
      '',
      `${colors.dim('starts ')}  ${startsText(plan)}`,
      `${colors.dim('at once')}  ${atOnceText(plan) ?? 'any number'}`,
      `${colors.dim('changed')}  ${agoText(Date.parse(plan.updatedAt), now())}`,
      ...section('default inputs', plan.inputs),
      ...section('fixed inputs', plan.fixed),
    ]);
    return 0;
  });
}
