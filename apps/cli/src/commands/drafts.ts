/** The commands of `nebula drafts`. */
import path from 'node:path';
import { withApi } from '../api.ts';
import { inProject } from '../command-options.ts';
import { readNamedFile } from '../named-file.ts';
import { print, printDone } from '../print.ts';
import { ago, listCommand } from '../record-commands.ts';
import type { Command } from '../services.ts';
import { printable } from '../terminal/width.ts';

export const list = listCommand({
  operation: 'listDrafts',
  query: inProject,
  columns: {
    WORKFLOW: ({ workflowId }) => workflowId,
    'BEGUN FROM': ({ baseVersion }) => (baseVersion === null ? 'nothing' : `v${baseVersion}`),
    FORMAT: ({ format }) => format,
    SAVED: ({ savedAt }, context) => ago(savedAt, context),
    PROJECT: ({ project }) => project,
  },
  none: () => 'you have no drafts here',
});

export const show: Command = (call, [draftId = '']) =>
  withApi(call, 'read', async ({ api }) => {
    const draft = await api.call('getDraft', { params: { draftId }, query: inProject(call.options) });
    return print(call, draft, () => [printable(draft.text.replace(/\n$/, ''))]);
  });

export const save: Command = async (call, [draftId = '', file = '']) => {
  const bytes = file === '-' ? await call.io.readStdin() : await readNamedFile(call.io, file, 'a workflow file');
  const text = new TextDecoder().decode(bytes);
  const name = file === '-' ? {} : { filename: path.basename(file) };
  const format = /\.json$/i.test(file) ? 'json' : 'yaml';
  return await withApi(call, 'change', async ({ api }) => {
    const body = { text, format, ...name } as const;
    const draft = await api.call('putDraft', { params: { draftId }, query: inProject(call.options), body });
    return printDone(call, draft, `saved your draft of ${draftId}`);
  });
};

export const remove: Command = (call, [draftId = '']) =>
  withApi(call, 'change', async ({ api }) => {
    await api.call('deleteDraft', { params: { draftId }, query: inProject(call.options) });
    return printDone(call, { workflowId: draftId, deleted: true }, `your draft of ${draftId} is gone`);
  });
