/** The actions and retry policies that definitions may name, by version. */
import type { Action, Capabilities, Catalog, RetryPolicyFunction } from './action.ts';
import { NebulaError } from './error.ts';
import { JOB_ACTION } from './imports/job-action.ts';
import { canonicalJson, type Json } from './value.ts';

interface Version {
  readonly major: number;
  readonly minor: number;
}

type ById = Map<string, { readonly version: Version; readonly action: Action }[]>;

/** A catalog that also contains the actions announced by remote workers. */
export interface OpenCatalog extends Catalog {
  /**
   * Replaces the set of announced actions. An announced action whose id this process owns is ignored, in every version.
   * Returns false when the set did not change.
   */
  announce(actions: readonly Action[]): boolean;
  /** Announced actions of all projects. */
  announced(): readonly Action[];
  /** Whether this process has an action with this id itself. */
  owns(id: string): boolean;
  /** The catalog of one project, without the announced actions of other projects. `undefined` means all projects. */
  within(project: string | undefined): Catalog;
  /** Incremented by every announcement that changes the set; plans compiled under an earlier revision may be stale. */
  readonly revision: number;
}

/** Known to every process, and run by remote workers unless the process has its own implementation. */
const REMOTE_ACTIONS: readonly ActionDescription[] = [JOB_ACTION];

export function createCatalog(
  actions: readonly Action[],
  retryPolicies: Readonly<Record<string, RetryPolicyFunction>> = {},
  capabilities: Capabilities = {},
  labels: readonly string[] | 'all' = [],
): OpenCatalog {
  const own: ById = new Map();
  for (const action of actions) {
    if (add(own, action)) continue;
    throw new NebulaError('DUPLICATE_ACTION', `Action '${action.id}@${action.version}' is defined twice.`, {
      hint: 'Give one of them another id or version.',
    });
  }
  for (const description of REMOTE_ACTIONS) add(own, announcedAction(description));
  const policies = new Map(Object.entries(retryPolicies));
  let all: readonly Action[] = [];
  let revision = 0;
  const views = new Map<string | undefined, ById>();
  const viewOf = (project: string | undefined): ById => {
    const known = views.get(project);
    if (known !== undefined) return known;
    const view: ById = new Map(Array.from(own, ([id, versions]) => [id, [...versions]]));
    for (const action of all) {
      const isSeen = action.project === undefined || project === undefined || action.project === project;
      if (isSeen && !own.has(action.id)) add(view, action);
    }
    views.set(project, view);
    return view;
  };
  const within = (project: string | undefined): Catalog => ({
    capabilities,
    labels,
    action: (reference) => find(viewOf(project), reference),
    actionIds: () => viewOf(project).keys(),
    versionsOf: (id) => (viewOf(project).get(id) ?? []).map(({ action }) => action.version),
    retryPolicy: (name) => policies.get(name),
    retryPolicyNames: () => policies.keys(),
  });
  return {
    ...within(undefined),
    within,
    owns: (id) => own.has(id),
    announced: () => all.filter(({ id }) => !own.has(id)),
    announce: (announced) => {
      if (announced.length === all.length && announced.every((action, at) => isSame(action, all[at]))) return false;
      revision++;
      all = [...announced];
      views.clear();
      return true;
    },
    get revision() {
      return revision;
    },
  };
}

/** The part of an action that a remote worker announces. */
export type ActionDescription = Pick<
  Action,
  | 'id'
  | 'version'
  | 'title'
  | 'description'
  | 'category'
  | 'icon'
  | 'docs'
  | 'examples'
  | 'input'
  | 'output'
  | 'credentials'
> & { readonly effect?: 'pure' | 'idempotent' | 'once' };

/** An action built from an announcement. Calling it here throws: only the remote worker can run it. */
export function announcedAction(description: ActionDescription, project?: string): Action {
  return {
    ...description,
    ...(project !== undefined && { project }),
    isRemote: true,
    run: () => {
      throw new NebulaError(
        'RUNS_OUTSIDE',
        `Action '${description.id}' runs only on remote workers, not in this process.`,
        { hint: 'Start a worker that provides the action: `nebula worker --server URL`.' },
      );
    },
  };
}

/** Two descriptions are compared as text only if they are not the same object: there may be thousands. */
function isSame(one: Action, other: Action | undefined): boolean {
  if (one === other) return true;
  return other !== undefined && canonicalJson(described(one)) === canonicalJson(described(other));
}

function described({ run: _, verify: __, parseInput: ___, parseOutput: ____, ...rest }: Action): Json {
  return rest as unknown as Json;
}

/** Returns false when an action with this id and version exists. */
function add(byId: ById, action: Action): boolean {
  const versions = byId.get(action.id) ?? [];
  const version = parseVersion(action.version);
  if (versions.some((one) => compare(one.version, version) === 0)) return false;
  versions.push({ version, action });
  versions.sort((a, b) => compare(b.version, a.version));
  byId.set(action.id, versions);
  return true;
}

/** `name` selects the newest version, `name@2` the newest 2.x, `name@2.1` the newest 2.x that is at least 2.1. */
function find(byId: ById, reference: string): Action | undefined {
  const [id = '', asked] = reference.split('@');
  const versions = byId.get(id);
  if (asked === undefined) return versions?.[0]?.action;
  const wanted = parseVersion(asked);
  return versions?.find(({ version }) => fits(version, wanted))?.action;
}

/** Whether a version satisfies the requested one: the same major version, and a minor version that is not older. */
export function fitsVersion(version: string, asked: string): boolean {
  return fits(parseVersion(version), parseVersion(asked));
}

function fits(version: Version, wanted: Version): boolean {
  return version.major === wanted.major && version.minor >= wanted.minor;
}

function parseVersion(text: string): Version {
  const [major = 0, minor = 0] = text.split('.').map(Number);
  return { major, minor };
}

function compare(a: Version, b: Version): number {
  return a.major - b.major || a.minor - b.minor;
}
