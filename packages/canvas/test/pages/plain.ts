import { NebulaGraphElement } from '@nebula/canvas';

NebulaGraphElement.workerUrl = '/layout-worker.js';

const graph = document.querySelector('nebula-graph') as NebulaGraphElement;
graph.definition = {
  id: 'order',
  nodes: {
    fetch: { action: 'http.request@1' },
    pick: { needs: ['fetch'], forEach: { in: [1, 2] }, do: { nodes: { one: { action: 'core.set@1' } } } },
    pack: { needs: ['fetch'], action: 'core.set@1' },
    ship: { needs: ['pick', 'pack'], action: '<img src=x onerror=alert(1)>' },
  },
};
graph.run = {
  nodes: {
    fetch: { status: 'completed' },
    pick: { status: 'running' },
    pack: { status: 'failed' },
    ship: { status: 'pending' },
  },
};
