/** Reads the attempts of a node through the operations of the contract. */
import type { AnswerOf, NebulaClient } from '@nebula/client';
import type { RunDocument } from '@nebula/core';
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

/** Where in an action the error was thrown with which a run failed, as far as it is known. */
export async function stackOfFailure(
  api: NebulaClient,
  { executionId, error }: Pick<RunDocument, 'executionId' | 'error'>,
): Promise<string | undefined> {
  if (error?.node === undefined) return undefined;
  const attempts = await attemptsOf(api, executionId, error.node);
  return attempts?.at(-1)?.stack ?? undefined;
}
