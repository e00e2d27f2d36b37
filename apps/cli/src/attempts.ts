/** Reads the attempts of a node through the operations of the contract. */
import type { AnswerOf, NebulaClient } from '@nebula/client';
import type { RunDocument } from '@nebula/core';
import { STACK_FIELD } from '@nebula/ports';
import { allItems, unlessAbsent } from './api.ts';

export type Attempt = AnswerOf<'listAttempts'>['items'][number];

/** The most attempts that an operation returns at once. */
const MAX_ATTEMPTS = 1_000;

/** Returns undefined if the run has no such node. */
export function attemptsOf(api: NebulaClient, executionId: string, node: string): Promise<Attempt[] | undefined> {
  return unlessAbsent(
    allItems((cursor) => {
      const query = { node, limit: MAX_ATTEMPTS, ...(cursor !== undefined && { cursor }) };
      return api.call('listAttempts', { params: { executionId }, query });
    }),
  );
}

/** The lines of a page. */
const MAX_LINES = 10_000;

/**
 * Where in an action the error was thrown with which a run failed, as far as it is known: the line with the stack is
 * among the log lines of the node, so the journal need not be read.
 */
export async function stackOfFailure(
  api: NebulaClient,
  { executionId, error, nodes }: Pick<RunDocument, 'executionId' | 'error'> & Partial<Pick<BareDocument, 'nodes'>>,
): Promise<string | undefined> {
  const node = error?.node;
  if (node === undefined) return undefined;
  let found: { readonly attempt: number | null; readonly message: string } | undefined;
  for (let after: number | undefined, isMore = true; isMore; ) {
    const query = { node, level: 'debug' as const, limit: MAX_LINES, ...(after !== undefined && { after }) };
    const page = await unlessAbsent(api.call('listLogs', { params: { executionId }, query }));
    found = page?.items.findLast(({ fields }) => fields?.[STACK_FIELD] === true) ?? found;
    after = Number(page?.next ?? 0);
    isMore = (page?.next ?? null) !== null;
  }
  // An earlier attempt may have a stack, and the last one none.
  const last = nodes?.[node]?.attempts;
  return found === undefined || (last !== undefined && found.attempt !== last) ? undefined : found.message;
}

type BareDocument = { readonly nodes: Readonly<Record<string, { readonly attempts: number }>> };
