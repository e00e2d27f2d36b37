/** Decides who runs the attempts of a node: this process, or a remote worker with the action and the labels. */
import type { Action, Catalog } from '../action.ts';
import { fitsVersion } from '../catalog.ts';

/** The route of nodes that this process runs. */
export const HERE = '';

/** The requirements of a route on a worker. */
export interface Route {
  readonly action: string;
  readonly version: string;
  readonly labels: readonly string[];
}

export function routeOf(catalog: Pick<Catalog, 'labels'>, action: Action, asked: readonly string[] = []): string {
  const { labels } = catalog;
  const isHere = !action.isRemote && (labels === 'all' || asked.every((label) => labels.includes(label)));
  if (isHere) return HERE;
  // Equal requirements have equal text, regardless of the order of labels.
  return JSON.stringify([action.id, action.version, ...new Set(asked.toSorted())]);
}

export function parseRoute(route: string): Route {
  const [action = '', version = '', ...labels]: readonly string[] = JSON.parse(route);
  return { action, version, labels };
}

/** Whether a worker with these actions (`id@version`) and labels may run tasks of a route. */
export function mayServe(route: string, actions: ReadonlySet<string>, labels: ReadonlySet<string>): boolean {
  if (route === HERE) return false;
  const wanted = parseRoute(route);
  if (!wanted.labels.every((label) => labels.has(label))) return false;
  if (actions.has(`${wanted.action}@${wanted.version}`)) return true;
  for (const one of actions) {
    const [id, version = '1'] = one.split('@');
    if (id === wanted.action && fitsVersion(version, wanted.version)) return true;
  }
  return false;
}
