/** The files that workflows come from, for the process that registers them. */
import type { AnswerOf } from '@nebula/client/contract';
import { DEFAULT_PROJECT } from '@nebula/ports';
import type { Parts } from './parts.ts';
import { type FileOrigin, putRecord, readRecord, type WorkflowRecord } from './records.ts';

export interface WorkflowOrigins {
  /** Undefined if the workflow comes from no file. */
  read(workflowId: string): Promise<FileOrigin | undefined>;
  /** Undefined: its file is gone. */
  note(workflowId: string, origin: FileOrigin | undefined): Promise<void>;
}

export function workflowOrigins({ records }: Pick<Parts, 'records'>): WorkflowOrigins {
  const read = async (workflowId: string) =>
    (await readRecord<WorkflowRecord>(records, 'workflow', workflowId))?.body.origin;
  return {
    read,
    async note(workflowId, origin) {
      const before = await read(workflowId);
      if (JSON.stringify(before) === JSON.stringify(origin)) return;
      await putRecord<WorkflowRecord>(records, { kind: 'workflow', id: workflowId, ifMatch: undefined }, (record) => {
        const { origin: _, ...rest } = record?.body ?? { project: DEFAULT_PROJECT, active: null };
        return { ...rest, ...(origin !== undefined && { origin }) };
      });
    },
  };
}

/** The origin as the API shows it: the hash of the file stays here. */
export function originDocument(
  { workflowFiles }: Pick<Parts, 'workflowFiles'>,
  origin: FileOrigin | undefined,
): AnswerOf<'getWorkflow'>['origin'] {
  if (origin === undefined) return { kind: 'api' };
  const { path, version } = origin;
  return { kind: 'file', path, version, writable: workflowFiles?.()?.isWritable(path) ?? false };
}
