/** The actions of a test: everything that is known, behind its mock, and what only the mocks know. */
import { type Action, didYouMean, NebulaError, type WorkflowDefinition } from '@nebula/core';
import { actionsUsed, nodePaths } from './actions-used.ts';
import type { Mock } from './mock.ts';
import type { Outside } from './outside.ts';

export function standIns(
  outside: Outside,
  known: readonly Action[],
  mocks: Readonly<Record<string, Mock>>,
  definitions: readonly WorkflowDefinition[],
): Action[] {
  checkNames(Object.keys(mocks), known, definitions);
  const unknown = unknownActions(known, mocks, definitions);
  return [
    ...known.map((action) => outside.standIn(action, true)),
    ...unknown.map((one) => outside.standIn(one, false)),
  ];
}

/** Actions that the project does not have: a mock of theirs, or of their node, is all that is known of them. */
function unknownActions(
  known: readonly Action[],
  mocks: Readonly<Record<string, Mock>>,
  definitions: readonly WorkflowDefinition[],
): Action[] {
  const ids = new Set(known.map(({ id }) => id));
  const isMocked = (key: string): boolean => Object.hasOwn(mocks, key);
  const found = new Map<string, Action>();
  const add = (id: string, version: string): void => {
    // Without a word about it, an unknown action is taken for one that may be repeated with its key.
    found.set(`${id}@${version}`, { id, version, effect: 'idempotent', run: () => null });
  };
  const uses = definitions.flatMap(actionsUsed);
  for (const { id, version = '1', node } of uses) {
    const names = [node, id, `${id}@${version}`, `${id}@${version.split('.')[0]}`];
    if (!ids.has(id) && names.some(isMocked)) add(id, version);
  }
  // A graph that an action returns may use what nobody else does.
  for (const key of Object.keys(mocks).filter((name) => name.includes('.'))) {
    const [id = '', version = '1'] = key.split('@');
    if (!ids.has(id) && !uses.some((use) => use.id === id)) add(id, version);
  }
  return [...found.values()];
}

/** A mock for nobody is a typing mistake. */
function checkNames(
  keys: readonly string[],
  known: readonly Action[],
  definitions: readonly WorkflowDefinition[],
): void {
  const nodes = new Set(definitions.flatMap((definition) => [...nodePaths(definition), ...undoPaths(definition)]));
  const ids = new Set([...definitions.flatMap(actionsUsed), ...known].map(({ id }) => id));
  // Nobody knows yet which nodes and actions a graph will have that an action returns.
  const isOpen = definitions.some((definition) => JSON.stringify(definition).includes('"dynamic"'));
  for (const key of keys) {
    const isAction = key.includes('.');
    const name = isAction ? (key.split('@')[0] as string) : key.replaceAll(/\/\d+(?=\/|$)/g, '');
    const names = isAction ? ids : nodes;
    if (names.has(name) || isOpen) continue;
    const near = didYouMean(name, names);
    const what = isAction ? `no node runs the action '${name}'` : `there is no node '${name}'`;
    throw new NebulaError('UNKNOWN_MOCK', `a mock is for '${key}', but ${what}`, {
      hint: near === undefined ? `There are: ${[...names].slice(0, 12).join(', ')}` : `Did you mean '${near}'?`,
    });
  }
}

function undoPaths(definition: WorkflowDefinition): string[] {
  return actionsUsed(definition)
    .map(({ node }) => node)
    .filter((node) => node.startsWith('~undo/'));
}
