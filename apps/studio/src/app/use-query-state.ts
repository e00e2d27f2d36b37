/** View state in the address: a value that is left out has its default. */
import { useCallback } from 'react';
import { useLocation, useSearch } from 'wouter';
import { queryText } from './routes.ts';

export type QueryState<Name extends string> = Readonly<Record<Name, string | undefined>>;

/** Changes some values; undefined removes one. `replace`: without a step in the history. */
export type SetQuery<Name extends string> = (
  change: Partial<Readonly<Record<Name, string | undefined>>>,
  options?: { readonly replace?: boolean },
) => void;

export function useQueryState<Name extends string>(...names: readonly Name[]): [QueryState<Name>, SetQuery<Name>] {
  const search = useSearch();
  const [, navigate] = useLocation();
  const given = new URLSearchParams(search);
  const state = Object.fromEntries(names.map((name) => [name, given.get(name) ?? undefined])) as QueryState<Name>;
  const set = useCallback<SetQuery<Name>>(
    (change, { replace = false } = {}) => {
      const { pathname, search: before } = globalThis.location;
      const query = { ...Object.fromEntries(new URLSearchParams(before)), ...change };
      navigate(`${pathname}${queryText(query)}`, { replace });
    },
    [navigate],
  );
  return [state, set];
}
