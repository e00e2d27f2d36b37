/** `nebula workflows rehearse`: the last runs, decided again with a file as it is now. */
import type { AnswerOf } from '@nebula/client';
import type { Json } from '@nebula/core';
import { ofWorkflow, withSession } from '../api.ts';
import { countOption } from '../command-options.ts';
import { EXIT } from '../exit-code.ts';
import { print } from '../print.ts';
import type { Command } from '../services.ts';
import { readingWidth, type View } from '../terminal/io.ts';
import { wrap } from '../terminal/width.ts';
import { statusGlyph, statusPaint } from '../views/theme.ts';
import { plural } from '../views/words.ts';
import { loadForLocation } from '../workflow-file.ts';

type Rehearsal = AnswerOf<'rehearseWorkflow'>;

export const execute: Command = async (call, [file = '']) => {
  const { loaded, project } = await loadForLocation(call, file);
  const { definition, checks } = loaded;
  const limit = countOption(call.options, 'limit', 20);
  const session = await call.services.openApi(project, 'read', { checks });
  return await withSession({ ...call, project }, session, async ({ api }) => {
    const params = { workflowId: definition.id };
    const body = { definition: definition as unknown as Json, limit };
    const rehearsal = await ofWorkflow(api, definition.id, api.call('rehearseWorkflow', { params, body }));
    const { out } = call.io;
    print(call, rehearsal, () => linesOf(rehearsal, { colors: out.colors, width: readingWidth(out) }));
    return rehearsal.counts.differs === 0 ? EXIT.completed : EXIT.failed;
  });
};

function linesOf({ counts, runs }: Rehearsal, { colors, width }: View): string[] {
  const lines = runs.flatMap(({ executionId, status, result, difference, reason }) => {
    const run = `${executionId}  ${statusPaint(status, colors)(`${statusGlyph(status)} ${status}`)}`;
    if (result === 'same') return [`${colors.green('✓')} ${run}`];
    const sign = result === 'differs' ? colors.red('✗') : colors.yellow('–');
    const text = wrap(difference?.text ?? reason ?? '', width - 4);
    return [`${sign} ${run}`, ...text.map((line) => `    ${line}`)];
  });
  if (runs.length === 0) return ['no run has ended'];
  const left = counts.notReplayed === 0 ? '' : `, ${counts.notReplayed} not replayed`;
  return [...lines, `${plural(runs.length, 'run')}: ${counts.same} same, ${counts.differs} would differ${left}`];
}
