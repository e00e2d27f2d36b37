import { NebulaGraph } from '@nebula/canvas/react';
import { createElement, useState } from 'react';
import { createRoot } from 'react-dom/client';

const definition = {
  id: 'order',
  nodes: { fetch: { action: 'http.request@1' }, ship: { needs: ['fetch'], action: 'core.log@1' } },
};

function App() {
  const [chosen, setChosen] = useState('nothing');
  const onSelect = ({ detail }: CustomEvent<{ readonly nodes: readonly string[] }>): void =>
    setChosen(detail.nodes.join());
  return createElement(
    'main',
    null,
    createElement('p', null, chosen),
    createElement(NebulaGraph, { definition, onSelect, className: 'graph' }),
  );
}
createRoot(document.getElementById('root')!).render(createElement(App));
