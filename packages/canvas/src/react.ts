/** `<NebulaGraph />`: the element for React. Properties of the component are those of the element. */
import type { WorkflowDefinition } from '@nebula/core';
import { createElement, type ReactElement, type Ref } from 'react';
import type { GraphEventName, GraphEvents } from './element/events.ts';
import { defineNebulaGraph, type NebulaGraphElement } from './element/nebula-graph.ts';
import type { Bodies } from './model/definition.ts';
import type { Graph, Point } from './model/graph.ts';
import type { Iterations, Scopes } from './model/iterations.ts';
import type { Mark } from './model/marks.ts';
import type { DrawnRun, NodeRunState } from './model/run-state.ts';
import type { EdgeState } from './view/painting.ts';
import type { ThemeName } from './view/theme.ts';
import type { GraphWords } from './view/words.ts';

type ById<Value> = ReadonlyMap<string, Value> | Readonly<Record<string, Value>>;

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
  readonly iterations?: ById<Iterations>;
  readonly scopes?: Scopes;
  readonly marks?: ById<Mark>;
  readonly edgeStates?: ById<EdgeState>;
  readonly bodies?: Bodies;
  readonly words?: Partial<GraphWords>;
  readonly selection?: readonly string[];
  readonly collapsed?: Iterable<string>;
  readonly positions?: Readonly<Record<string, Point>>;
  readonly direction?: 'right' | 'down';
  readonly theme?: ThemeName | 'auto';
  readonly editable?: boolean;
  readonly past?: boolean;
  readonly minimap?: 'on' | 'off';
  readonly label?: string;
  readonly empty?: string;
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
