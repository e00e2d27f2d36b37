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

/** A catalogue to which workers outside add what they can run. */
export interface OpenCatalog extends Catalog {
  /**
   * From now on these are the announced actions. An id that this process has is its own in every version: what is
   * announced under it is left out. False when nothing is different.
   */
  announce(actions: readonly Action[]): boolean;
  /** Announced actions of all projects. */
  announced(): readonly Action[];
  /** The ids that this process has itself. */
  owns(id: string): boolean;
  /** The actions of a project: announced actions of other projects are left out. Undefined: of all projects. */
  within(project: string | undefined): Catalog;
  /** Grows with every announcement that changes something: plans of an earlier one may be out of date. */
  readonly revision: number;
}

/** Known everywhere, and run by workers outside unless the process has them. */
const OUTSIDE: readonly ActionDescription[] = [JOB_ACTION];

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
  for (const description of OUTSIDE) add(own, announcedAction(description));
  const policies = new Map(Object.entries(retryPolicies));
  let all: readonly Action[] = [];
  let revision = 0;
  let told = canonicalJson([]);
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
      const text = canonicalJson(announced.map(described));
      if (text === told) return false;
      told = text;
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

/** What is known of an action that a worker outside runs. */
export type ActionDescription = Pick<
  Action,
  'id' | 'version' | 'title' | 'description' | 'input' | 'output' | 'credentials'
> & { readonly effect?: 'pure' | 'idempotent' | 'once' };

/** Made from what a worker tells; only such a worker can run it. */
export function announcedAction(description: ActionDescription, project?: string): Action {
  return {
    ...description,
    ...(project !== undefined && { project }),
    isOutside: true,
    run: () => {
      throw new NebulaError('RUNS_OUTSIDE', `${description.id} is run by workers outside this process.`, {
        hint: 'Start a worker that has it: `nebula worker --server URL`.',
      });
    },
  };
}

function described({ run: _, verify: __, parseInput: ___, parseOutput: ____, ...rest }: Action): Json {
  return rest as unknown as Json;
}

/** False when there is one of this id and version. */
function add(byId: ById, action: Action): boolean {
  const versions = byId.get(action.id) ?? [];
  const version = parseVersion(action.version);
  if (versions.some((one) => compare(one.version, version) === 0)) return false;
  versions.push({ version, action });
  versions.sort((a, b) => compare(b.version, a.version));
  byId.set(action.id, versions);
  return true;
}

/** `name` takes the newest; `name@2` the newest 2.x; `name@2.1` the newest 2.x that is at least 2.1. */
function find(byId: ById, reference: string): Action | undefined {
  const [id = '', asked] = reference.split('@');
  const versions = byId.get(id);
  if (asked === undefined) return versions?.[0]?.action;
  return versions?.find(({ action }) => fitsVersion(action.version, asked))?.action;
}

/** Whether an action of this version is what `asked` means: the same major version, and no older minor one. */
export function fitsVersion(version: string, asked: string): boolean {
  const has = parseVersion(version);
  const wants = parseVersion(asked);
  return has.major === wants.major && has.minor >= wants.minor;
}

function parseVersion(text: string): Version {
  const [major = 0, minor = 0] = text.split('.').map(Number);
  return { major, minor };
}

function compare(a: Version, b: Version): number {
  return a.major - b.major || a.minor - b.minor;
}
