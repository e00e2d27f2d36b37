/** `nebula workflows compare`: a file against a registered version. */
import type { AnswerOf } from '@nebula/client';
import type { Json } from '@nebula/core';
import { ofWorkflow, withApi } from '../api.ts';
import { definedMembers, versionOf } from '../command-options.ts';
import { print } from '../print.ts';
import type { Command } from '../services.ts';
import { type Colors, readingWidth } from '../terminal/io.ts';
import { fit, printableLine } from '../terminal/width.ts';
import { readFile, validDefinition } from '../workflow-file.ts';

type Structure = AnswerOf<'compareWorkflow'>['structure'];

export const compare: Command = async (call, [file = '', version]) => {
  const definition = validDefinition(call.io, await readFile(call.io, file));
  const { id: workflowId } = definition;
  const body = { definition: definition as unknown as Json, ...definedMembers({ version: versionOf(version) }) };
  return await withApi(call, 'read', async ({ api, io: { out } }) => {
    const asked = api.call('compareWorkflow', { params: { workflowId }, body });
    const found = await ofWorkflow(api, workflowId, asked);
    return print(call, { workflowId, file, ...found }, () => {
      const lines = structureLines(found.structure, out.colors);
      if (lines.length === 0) return [`${file} and v${found.from} of ${workflowId} are equal`];
      return lines.map((line) => fit(line, readingWidth(out)));
    });
  });
};

const SIGNS = { added: '+', removed: '-', renamed: '~', changed: '~' } as const;

function structureLines({ workflow, nodes, edges }: Structure, colors: Colors): string[] {
  const paint = (change: keyof typeof SIGNS, text: string): string => {
    const line = printableLine(`${SIGNS[change]} ${text}`);
    return change === 'added' ? colors.green(line) : change === 'removed' ? colors.red(line) : colors.yellow(line);
  };
  return [
    ...workflow.map((key) => paint('changed', key)),
    ...nodes.map(({ change, path, from, keys = [] }) => {
      const more = from === undefined ? (keys.length === 0 ? '' : `: ${keys.join(', ')}`) : ` (was ${from})`;
      return paint(change, `node ${path}${more}`);
    }),
    ...edges.map(({ change, from, to, label }) =>
      paint(change, `edge ${from} → ${to}${label === undefined ? '' : ` (${label})`}`),
    ),
  ];
}
