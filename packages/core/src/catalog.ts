/** The actions and retry policies that definitions may name, by version. */
import type { Action, Capabilities, Catalog, RetryPolicyFunction } from './action.ts';
import { NebulaError } from './error.ts';

interface Version {
  readonly major: number;
  readonly minor: number;
}

export function createCatalog(
  actions: readonly Action[],
  retryPolicies: Readonly<Record<string, RetryPolicyFunction>> = {},
  capabilities: Capabilities = {},
): Catalog {
  const byId = new Map<string, { readonly version: Version; readonly action: Action }[]>();
  for (const action of actions) {
    const versions = byId.get(action.id) ?? [];
    const version = parseVersion(action.version);
    if (versions.some((one) => compare(one.version, version) === 0)) {
      throw new NebulaError('DUPLICATE_ACTION', `Action '${action.id}@${action.version}' is defined twice.`, {
        hint: 'Give one of them another id or version.',
      });
    }
    versions.push({ version, action });
    versions.sort((a, b) => compare(b.version, a.version));
    byId.set(action.id, versions);
  }
  const policies = new Map(Object.entries(retryPolicies));
  return {
    capabilities,
    action: (reference) => find(byId, reference),
    actionIds: () => byId.keys(),
    versionsOf: (id) => (byId.get(id) ?? []).map(({ action }) => action.version),
    retryPolicy: (name) => policies.get(name),
    retryPolicyNames: () => policies.keys(),
  };
}

/** `name` takes the newest; `name@2` the newest 2.x; `name@2.1` the newest 2.x that is at least 2.1. */
function find(
  byId: ReadonlyMap<string, readonly { readonly version: Version; readonly action: Action }[]>,
  reference: string,
): Action | undefined {
  const [id = '', asked] = reference.split('@');
  const versions = byId.get(id);
  if (asked === undefined) return versions?.[0]?.action;
  const { major, minor } = parseVersion(asked);
  return versions?.find(({ version }) => version.major === major && version.minor >= minor)?.action;
}

function parseVersion(text: string): Version {
  const [major = 0, minor = 0] = text.split('.').map(Number);
  return { major, minor };
}

function compare(a: Version, b: Version): number {
  return a.major - b.major || a.minor - b.minor;
}
