/**
 * Places the nodes of one scope. `along` is the direction of the flow, `across` the other one; `length` and `breadth`
 * are sizes in these directions. Components without an edge between them are placed one by one and packed into rows.
 */

import { layoutComponent } from './component.ts';
import { componentsOf } from './components.ts';
import type { Placed, ScopeInput } from './scope-input.ts';

/** The space between components, and the proportion of a packed scope. */
const COMPONENT_GAP = 56;
const PROPORTION = 1.6;

export function layoutScope(input: ScopeInput): Placed {
  const components = componentsOf(input);
  const [only] = components;
  if (only === undefined) {
    return { along: new Float64Array(), across: new Float64Array(), bends: [], length: 0, breadth: 0 };
  }
  if (components.length === 1) return layoutComponent(input);
  const along = new Float64Array(input.length.length);
  const across = new Float64Array(input.length.length);
  const bends: (readonly number[] | undefined)[] = new Array(input.from.length);
  const parts = components.map((component) => ({ ...component, placed: layoutComponent(component.input) }));
  const area = parts.reduce(
    (sum, { placed }) => sum + (placed.length + COMPONENT_GAP) * (placed.breadth + COMPONENT_GAP),
    0,
  );
  const rowLength = Math.max(Math.sqrt(area * PROPORTION), ...parts.map(({ placed }) => placed.length));

  let [begin, top, breadth, length] = [0, 0, 0, 0];
  for (const { nodes, edges, placed } of parts) {
    if (begin > 0 && begin + placed.length > rowLength) {
      top += breadth + COMPONENT_GAP;
      begin = 0;
      breadth = 0;
    }
    nodes.forEach((node, index) => {
      along[node] = placed.along[index]! + begin;
      across[node] = placed.across[index]! + top;
    });
    edges.forEach((edge, index) => {
      bends[edge] = placed.bends[index]?.map((at, axis) => at + (axis % 2 === 0 ? begin : top));
    });
    length = Math.max(length, begin + placed.length);
    breadth = Math.max(breadth, placed.breadth);
    begin += placed.length + COMPONENT_GAP;
  }
  return { along, across, bends, length, breadth: top + breadth };
}
