/** The change of its own graph with which the element answers an event that nobody prevented. */
import type { Change } from '../model/changes.ts';
import { pasteChange } from '../model/clipboard.ts';
import { edgeId, type Graph } from '../model/graph.ts';
import type { GraphEventName, GraphEvents } from './events.ts';

export function editOf(graph: Graph, name: GraphEventName, detail: object): Change | undefined {
  switch (name) {
    case 'nebula-connect': {
      const { port, ...ends } = detail as GraphEvents['nebula-connect'];
      const edge = { ...ends, ...(port === undefined ? {} : { port }) };
      return { type: 'add', nodes: [], edges: [{ id: edgeId(edge), ...edge }] };
    }
    case 'nebula-remove':
      return { type: 'remove', ...(detail as GraphEvents['nebula-remove']) };
    case 'nebula-move':
      return { type: 'move', positions: (detail as GraphEvents['nebula-move']).nodes };
    case 'nebula-paste': {
      const { text, into } = detail as GraphEvents['nebula-paste'];
      return pasteChange(graph, text, into);
    }
    default:
      return undefined;
  }
}
