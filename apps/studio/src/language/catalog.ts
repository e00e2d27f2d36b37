/** The actions of the server as the compiler needs them: their names, schemas and effects. Nothing can be run here. */
import { type Action, type Catalog, createCatalog, type JsonSchema, NebulaError } from '@nebula/core';

/** An action as the API lists it. */
export interface ActionInfo {
  readonly id: string;
  readonly version: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly effect: string;
  readonly capabilities: readonly string[];
  readonly credentials: readonly string[] | null;
  readonly runs: 'server' | 'worker';
}

export function catalogOf(actions: readonly ActionInfo[]): Catalog {
  const distinct = new Map(actions.map((action) => [`${action.id}@${action.version}`, action]));
  return createCatalog([...distinct.values()].map(actionOf), {}, {}, 'all');
}

function actionOf({
  id,
  version,
  title,
  description,
  input,
  output,
  effect,
  capabilities,
  credentials,
}: ActionInfo): Action {
  return {
    id,
    version,
    ...(title !== null && { title }),
    ...(description !== null && { description }),
    ...(isSchema(input) && { input }),
    ...(isSchema(output) && { output }),
    ...((effect === 'pure' || effect === 'idempotent' || effect === 'once') && { effect }),
    capabilities: capabilities as NonNullable<Action['capabilities']>,
    ...(credentials !== null && { credentials }),
    run: () => {
      throw new NebulaError('NOT_HERE', `Action '${id}' cannot be run in the browser.`);
    },
  };
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));
}

/** `http.request@1` names the newest 1.x, `http.request` the newest of all. */
export function findAction(actions: readonly ActionInfo[], reference: string): ActionInfo | undefined {
  const [id, asked] = reference.split('@');
  const major = asked?.split('.')[0];
  return actions
    .filter((action) => action.id === id && (major === undefined || action.version.split('.')[0] === major))
    .sort((a, b) => compareVersions(b.version, a.version))[0];
}

function compareVersions(a: string, b: string): number {
  const [major = 0, minor = 0] = a.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = b.split('.').map(Number);
  return major - otherMajor || minor - otherMinor;
}

/** The name by which nodes call the action. */
export function referenceOf({ id, version }: Pick<ActionInfo, 'id' | 'version'>): string {
  return `${id}@${version.split('.')[0]}`;
}

/** The newest version of each action, by id. */
export function newestActions(actions: readonly ActionInfo[]): ActionInfo[] {
  const ids = [...new Set(actions.map(({ id }) => id))].sort();
  return ids.flatMap((id) => findAction(actions, id) ?? []);
}
