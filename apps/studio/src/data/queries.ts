/** Operations of the contract as hooks: a read that is cached by its options, and a change that reports its failure. */
import type { AnswerOf, CallOptions, OperationId, QueryOf } from '@nebula/client';
import {
  keepPreviousData,
  QueryClient,
  type UseInfiniteQueryResult,
  type UseMutationResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
} from '@tanstack/react-query';
import { notify } from '../ui/notices.ts';
import { api, failureOf, isNotFound } from './api.ts';

/** Data that live events do not refresh is read again after this time, when the page is looked at. */
const STALE_MS = 5_000;
const RETRIES = 2;

export const queries = new QueryClient({
  defaultOptions: {
    queries: { staleTime: STALE_MS, retry: (count, error) => count < RETRIES && !isNotFound(error) },
  },
});

export interface ReadOptions {
  readonly enabled?: boolean;
  readonly refetchMs?: number | undefined;
  /** Shows the answer before while another one loads: for filters and moments of the past. */
  readonly keepsPrevious?: boolean;
}

/** Reads by an operation. All reads of one operation share the first part of their key. */
export function useRead<K extends OperationId>(
  operation: K,
  options: CallOptions<K>,
  { enabled = true, refetchMs, keepsPrevious = false }: ReadOptions = {},
): UseQueryResult<AnswerOf<K>> {
  return useQuery({
    queryKey: [operation, options],
    queryFn: ({ signal }) => call(operation, { ...options, signal }),
    enabled,
    ...(refetchMs !== undefined && { refetchInterval: refetchMs }),
    ...(keepsPrevious && { placeholderData: keepPreviousData }),
  });
}

type Listed<K extends OperationId> = AnswerOf<K> extends { items: (infer I)[] } ? I : never;

export interface List<T>
  extends Pick<
    UseInfiniteQueryResult,
    'isPending' | 'isError' | 'error' | 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage' | 'refetch'
  > {
  readonly items: readonly T[];
}

/** Reads a list page by page. */
export function useList<K extends OperationId>(
  operation: K,
  options: CallOptions<K>,
  { enabled = true, refetchMs }: ReadOptions = {},
): List<Listed<K>> {
  const result = useInfiniteQuery({
    queryKey: [operation, options, 'pages'],
    queryFn: ({ pageParam, signal }) => {
      const { query } = options as { query?: QueryOf<K> };
      const cursor = pageParam === null ? {} : { cursor: pageParam };
      return call(operation, { ...options, query: { ...query, ...cursor }, signal } as CallOptions<K>) as Promise<Page>;
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    enabled,
    placeholderData: keepPreviousData,
    ...(refetchMs !== undefined && { refetchInterval: refetchMs }),
  });
  const items = (result.data?.pages.flatMap((page) => page.items) ?? []) as Listed<K>[];
  return { ...result, items };
}

interface Page {
  readonly items: readonly unknown[];
  readonly next: string | null;
}

interface ChangeOptions<K extends OperationId> {
  /** Operations whose answers are read again. */
  readonly refreshes?: readonly OperationId[];
  /** Said after a success. */
  readonly done?: string;
  onDone?(answer: AnswerOf<K>): void;
  /** The caller shows failures itself. */
  readonly isQuiet?: boolean;
}

export function useChange<K extends OperationId>(
  operation: K,
  { refreshes = [], done, onDone, isQuiet = false }: ChangeOptions<K> = {},
): UseMutationResult<AnswerOf<K>, unknown, CallOptions<K>> {
  return useMutation({
    mutationFn: (options: CallOptions<K>) => call(operation, options),
    onSuccess: (answer) => {
      refresh(...refreshes);
      if (done !== undefined) notify({ kind: 'done', message: done });
      onDone?.(answer);
    },
    onError: (error) => {
      if (!isQuiet) notify({ kind: 'failure', ...failureOf(error) });
    },
  });
}

/** Reads the answers of these operations again, where they are shown. */
export function refresh(...operations: readonly OperationId[]): void {
  for (const operation of operations) void queries.invalidateQueries({ queryKey: [operation] });
}

/** The options of an operation that needs none are optional, which a type parameter cannot tell. */
const call = api.call.bind(api) as <K extends OperationId>(
  operation: K,
  options: CallOptions<K>,
) => Promise<AnswerOf<K>>;
