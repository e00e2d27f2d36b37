/** The caller: a user, a key, or the owner of a data folder. */
import type { Needs, OperationId, Role } from '@nebula/client/contract';
import { NebulaError } from '@nebula/core';
import { DEFAULT_PROJECT } from '@nebula/ports';

export interface Principal {
  readonly kind: 'token' | 'user' | 'key' | 'nobody';
  /** The name in the audit log. */
  readonly name: string;
  /** The user whose key it is: a key answers approvals for its owner. */
  readonly owner?: string;
  /** May do everything, in all projects. */
  readonly isAdmin: boolean;
  /** The role in each project. */
  readonly roles: Readonly<Record<string, Role>>;
  /** Operations that a key is limited to; null: all. */
  readonly scopes: readonly string[] | null;
}

/** The holder of a desktop server's token or data folder. */
export const OWNER: Principal = { kind: 'token', name: 'owner', isAdmin: true, roles: {}, scopes: null };
export const NOBODY: Principal = { kind: 'nobody', name: 'nobody', isAdmin: false, roles: {}, scopes: null };

const RANK: Readonly<Record<Role, number>> = { viewer: 1, operator: 2, editor: 3, owner: 4 };

/** Whether `role` includes the permissions of the other role. */
export function isAtLeast(role: Role, other: Role): boolean {
  return RANK[role] >= RANK[other];
}

/** The ids of renamed operations in the scopes of keys that earlier versions stored. */
const FORMER_IDS: Partial<Record<OperationId, string>> = {
  listPermits: 'listPlaces',
  listSecrets: 'listCredentials',
  putSecret: 'putCredential',
  deleteSecret: 'deleteCredential',
  listLaunchPlans: 'listPlans',
  getLaunchPlan: 'getPlan',
  putLaunchPlan: 'putPlan',
  deleteLaunchPlan: 'deletePlan',
};

/** Whether the scopes of the principal include the operation. */
export function isInScope({ scopes }: Principal, operation: OperationId): boolean {
  return scopes === null || scopes.includes(operation) || scopes.includes(FORMER_IDS[operation] ?? operation);
}

export type Verdict = 'allowed' | 'not-signed-in' | 'forbidden' | 'invisible';

/**
 * Whether the principal may call an operation. `project` is the project that the call concerns; undefined for none
 * or many: then the role in one project is enough, and the operation shows no others.
 */
export function judge(who: Principal, operation: OperationId, needs: Needs, project: string | undefined): Verdict {
  if (needs === 'public') return 'allowed';
  if (who.kind === 'nobody') return 'not-signed-in';
  if (!isInScope(who, operation)) return 'forbidden';
  if (who.isAdmin || needs === 'anyone') return 'allowed';
  if (needs === 'admin') return 'forbidden';
  const least = needs === 'worker' ? 'operator' : needs;
  if (project === undefined)
    return Object.values(who.roles).some((role) => isAtLeast(role, least)) ? 'allowed' : 'forbidden';
  const role = Object.hasOwn(who.roles, project) ? who.roles[project] : undefined;
  // A principal without a role in the project does not learn that it exists.
  if (role === undefined) return 'invisible';
  return isAtLeast(role, least) ? 'allowed' : 'forbidden';
}

/** The projects that the principal may read; undefined: all. */
export function visibleProjects(who: Principal): readonly string[] | undefined {
  return who.isAdmin ? undefined : Object.keys(who.roles);
}

/**
 * The project of a call that names none: the only one in which the principal has the role, and the default one of an
 * administrator. `what`: what the principal may do there. Throws `PROJECT_NEEDED`.
 */
export function onlyProject({ isAdmin, roles }: Principal, least: Role, what: string, hint: string): string {
  if (isAdmin) return DEFAULT_PROJECT;
  const own = Object.keys(roles).filter((project) => isAtLeast(roles[project] as Role, least));
  const [only, ...others] = own;
  if (only !== undefined && others.length === 0) return only;
  throw new NebulaError('PROJECT_NEEDED', `${what} in ${own.join(', ')}: name one of them.`, {
    hint,
    details: { errors: [{ pointer: '/project', detail: 'is missing' }] },
  });
}
