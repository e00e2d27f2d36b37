/** The actions of a test: all known actions, each behind its mock, and actions that only the mocks define. */
import { type Action, didYouMean, NebulaError, type WorkflowDefinition } from '@nebula/core';
import { actionsUsed, nodePaths } from './actions-used.ts';
import type { ExternalWorld } from './external-world.ts';
import type { Mock } from './mock.ts';

export function standIns(
  externalWorld: ExternalWorld,
  known: readonly Action[],
  mocks: Readonly<Record<string, Mock>>,
  definitions: readonly WorkflowDefinition[],
): Action[] {
  checkNames(Object.keys(mocks), known, definitions);
  const unknown = unknownActions(known, mocks, definitions);
  return [
    ...known.map((action) => externalWorld.standIn(action, true)),
    ...unknown.map((one) => externalWorld.standIn(one, false)),
  ];
}

/** Actions that the project does not have. Only a mock of the action, or of its node, describes them. */
function unknownActions(
  known: readonly Action[],
  mocks: Readonly<Record<string, Mock>>,
  definitions: readonly WorkflowDefinition[],
): Action[] {
  const ids = new Set(known.map(({ id }) => id));
  const isMocked = (key: string): boolean => Object.hasOwn(mocks, key);
  const found = new Map<string, Action>();
  const add = (id: string, version: string): void => {
    // An unknown action counts as idempotent unless declared otherwise.
    found.set(`${id}@${version}`, { id, version, effect: 'idempotent', run: () => null });
  };
  const uses = definitions.flatMap(actionsUsed);
  for (const { id, version = '1', node } of uses) {
    const names = [node, id, `${id}@${version}`, `${id}@${version.split('.')[0]}`];
    if (!ids.has(id) && names.some(isMocked)) add(id, version);
  }
  // A graph returned by an action may use actions that no other node uses.
  for (const key of Object.keys(mocks).filter((name) => name.includes('.'))) {
    const [id = '', version = '1'] = key.split('@');
    if (!ids.has(id) && !uses.some((use) => use.id === id)) add(id, version);
  }
  return [...found.values()];
}

/** A mock without a target is a typing error. */
function checkNames(
  keys: readonly string[],
  known: readonly Action[],
  definitions: readonly WorkflowDefinition[],
): void {
  const nodes = new Set(definitions.flatMap((definition) => [...nodePaths(definition), ...undoPaths(definition)]));
  const ids = new Set([...definitions.flatMap(actionsUsed), ...known].map(({ id }) => id));
  // The nodes and actions of returned graphs are not known yet.
  const isOpen = definitions.some((definition) => JSON.stringify(definition).includes('"dynamic"'));
  for (const key of keys) {
    const isAction = key.includes('.');
    const name = isAction ? (key.split('@')[0] as string) : key.replaceAll(/\/\d+(?=\/|$)/g, '');
    const names = isAction ? ids : nodes;
    if (names.has(name) || isOpen) continue;
    const near = didYouMean(name, names);
    const what = isAction ? `no node runs the action '${name}'` : `there is no node '${name}'`;
    throw new NebulaError('UNKNOWN_MOCK', `the mock '${key}' has no target: ${what}`, {
      hint: near === undefined ? `Available: ${[...names].slice(0, 12).join(', ')}` : `Did you mean '${near}'?`,
    });
  }
}

function undoPaths(definition: WorkflowDefinition): string[] {
  return actionsUsed(definition)
    .map(({ node }) => node)
    .filter((node) => node.startsWith('~undo/'));
}
