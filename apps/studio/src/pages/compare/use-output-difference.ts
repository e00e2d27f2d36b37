/** Finds the first node whose output differs: nodes are read one after another, in the order in which they began. */
import type { AnswerOf } from '@nebula/client';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../data/api.ts';
import { isSameValue, type NodeDifference } from './differences.ts';

type RunDocument = AnswerOf<'getExecution'>;

/** Reads more than these take too long to wait for. */
const MAX_NODES = 100;

export function useOutputDifference(
  a: RunDocument,
  b: RunDocument,
  nodes: readonly NodeDifference[],
): { readonly path: string | undefined; readonly isPending: boolean } {
  const paths = nodes
    .filter((node) => node.a?.status === 'completed' && node.b?.status === 'completed')
    .map(({ path }) => path);
  const search = useQuery({
    queryKey: ['output-difference', a.executionId, b.executionId, paths],
    queryFn: async ({ signal }) => {
      for (const path of paths.slice(0, MAX_NODES)) {
        const [one, other] = await Promise.all(
          [a, b].map(({ executionId }) =>
            api.call('getValues', { params: { executionId }, query: { node: path }, signal }),
          ),
        );
        if (one !== undefined && other !== undefined && !isSameValue(one.output, other.output)) return path;
      }
      return null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  return { path: search.data ?? undefined, isPending: search.isPending };
}
