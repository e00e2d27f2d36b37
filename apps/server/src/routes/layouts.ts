/** Layouts: the positions of nodes that were moved by hand. They are no part of the definition. */
import type { AnswerOf } from '@nebula/client/contract';
import { NebulaError } from '@nebula/core';
import { type Handlers, ok } from '../http/handler.ts';
import type { Parts } from '../parts.ts';
import { etagOf, putRecord, readRecord } from '../records.ts';

type LayoutRecord = Omit<AnswerOf<'getLayout'>, 'workflowId' | 'revision'>;

/** One path of a node. */
const MAX_PATH_CHARS = 2_000;

export function layoutRoutes({ records }: Parts) {
  const document = (workflowId: string, body: LayoutRecord, revision: number) =>
    ok({ workflowId, ...body, revision }, { etag: etagOf({ revision }) });
  return {
    async getLayout({ params: { workflowId } }) {
      const record = await readRecord<LayoutRecord>(records, 'layout', workflowId);
      const { body, revision } = record ?? { body: { direction: 'right', nodes: {}, collapsed: [] }, revision: 0 };
      return document(workflowId, body, revision);
    },

    async putLayout({ params: { workflowId }, body, headers }) {
      const { direction = 'right', nodes = {}, collapsed = [] } = body;
      const long = Object.keys(nodes).find((path) => path === '' || path.length > MAX_PATH_CHARS);
      if (long !== undefined) {
        throw new NebulaError('BODY_INVALID', `The path of a node has 1 to ${MAX_PATH_CHARS} characters.`, {
          details: { errors: [{ pointer: '/nodes', detail: `has a path with ${long.length} characters` }] },
        });
      }
      const key = { kind: 'layout', id: workflowId, ifMatch: headers['if-match'] };
      const made: LayoutRecord = { direction, nodes, collapsed: [...new Set(collapsed)] };
      const { revision } = await putRecord<LayoutRecord>(records, key, () => made);
      return document(workflowId, made, revision);
    },
  } satisfies Partial<Handlers>;
}
