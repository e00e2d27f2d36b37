/** `<NebulaGraph />`: the element for React. Properties of the component are those of the element. */
import type { WorkflowDefinition } from '@nebula/core';
import { createElement, type ReactElement, type Ref } from 'react';
import type { GraphEventName, GraphEvents } from './element/events.ts';
import { defineNebulaGraph, type NebulaGraphElement } from './element/nebula-graph.ts';
import type { Graph, Point } from './model/graph.ts';
import type { DrawnRun, NodeRunState } from './model/run-state.ts';
import type { ThemeName } from './view/theme.ts';

/** `onSelect` for `nebula-select`, and so on. */
type Handlers = {
  readonly [Name in GraphEventName as Name extends `nebula-${infer Rest}` ? `on${Capitalize<Rest>}` : never]?: (
    event: CustomEvent<GraphEvents[Name]>,
  ) => void;
};

export interface NebulaGraphProps extends Handlers {
  readonly definition?: WorkflowDefinition;
  /** Instead of a definition. */
  readonly graph?: Graph;
  readonly run?: DrawnRun | null;
  readonly states?: ReadonlyMap<string, NodeRunState>;
  readonly selection?: readonly string[];
  readonly collapsed?: Iterable<string>;
  readonly positions?: Readonly<Record<string, Point>>;
  readonly direction?: 'right' | 'down';
  readonly theme?: ThemeName | 'auto';
  readonly editable?: boolean;
  readonly minimap?: 'on' | 'off';
  readonly label?: string;
  readonly className?: string;
  readonly style?: Readonly<Record<string, string | number>>;
  readonly ref?: Ref<NebulaGraphElement>;
}

export function NebulaGraph(props: NebulaGraphProps): ReactElement {
  defineNebulaGraph();
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined) continue;
    // React 19 listens to `nebula-select` for the property `onnebula-select`.
    const event = /^on([A-Z]\w*)$/.exec(name)?.[1];
    given[event === undefined ? name : `onnebula-${event.toLowerCase()}`] = value;
  }
  return createElement('nebula-graph', given);
}
