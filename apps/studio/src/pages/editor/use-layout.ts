/** Positions of nodes that were moved by hand, and closed groups: a record beside the definition, which makes no version. */
import type { Point } from '@nebula/canvas/model';
import { useEffect, useRef, useState } from 'react';
import { api } from '../../data/api.ts';
import { useRead } from '../../data/queries.ts';

const SAVE_MS = 600;

export interface Layout {
  readonly nodes: Readonly<Record<string, Point>>;
  readonly collapsed: readonly string[];
  move(nodes: Readonly<Record<string, Point>>): void;
  collapse(group: string, isCollapsed: boolean): void;
}

/** `workflowId` undefined: the workflow is not registered yet, and its layout is not kept. */
export function useLayout(workflowId: string | undefined): Layout {
  const stored = useRead(
    'getLayout',
    { params: { workflowId: workflowId ?? '' } },
    { enabled: workflowId !== undefined },
  );
  const [own, setOwn] = useState<Pick<Layout, 'nodes' | 'collapsed'>>();
  const shown = own ?? stored.data ?? { nodes: {}, collapsed: [] };
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (next: Pick<Layout, 'nodes' | 'collapsed'>): void => {
    setOwn(next);
    if (workflowId === undefined) return;
    clearTimeout(timer.current);
    // The last one to move a node wins: a position is worth no question.
    timer.current = setTimeout(() => {
      const body = { nodes: { ...next.nodes }, collapsed: [...next.collapsed] };
      void api.call('putLayout', { params: { workflowId }, body }).catch(() => undefined);
    }, SAVE_MS);
  };
  return {
    ...shown,
    move: (nodes) => change({ ...shown, nodes: { ...shown.nodes, ...nodes } }),
    collapse: (group, isCollapsed) => {
      const others = shown.collapsed.filter((one) => one !== group);
      change({ ...shown, collapsed: isCollapsed ? [...others, group] : others });
    },
  };
}
