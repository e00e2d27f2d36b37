/** The states of a list that is read page by page: loading, failed, empty, its items, and a button for more of them. */
import type { ReactElement, ReactNode } from 'react';
import type { List } from '../data/queries.ts';
import { defineText } from '../text/define-text.ts';
import { useText } from '../text/use-text.ts';
import { Button } from './controls.tsx';
import { Failed, Loading } from './page.tsx';
import './listed.css';

const text = defineText({ en: { more: 'Load more' }, de: { more: 'Mehr laden' } });

interface ListedProps<T> {
  readonly list: List<T>;
  /** Shown when there is no item. */
  readonly empty: ReactNode;
  readonly children: (items: readonly T[]) => ReactNode;
}

export function Listed<T>({ list, empty, children }: ListedProps<T>): ReactElement {
  const words = useText(text);
  if (list.isPending) return <Loading />;
  if (list.isError) return <Failed error={list.error} onRetry={() => void list.refetch()} />;
  if (list.items.length === 0) return <>{empty}</>;
  return (
    <>
      {children(list.items)}
      {list.hasNextPage && (
        <div className="more">
          <Button isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {words.more}
          </Button>
        </div>
      )}
    </>
  );
}
