/** Whoever calls: a person, a program with a key, or the owner of this machine. */
import type { Needs, OperationId, Role } from '@nebula/client/contract';

export interface Principal {
  readonly kind: 'token' | 'user' | 'key' | 'nobody';
  /** What the audit log and approvals call them. */
  readonly name: string;
  /** May do everything, in all projects. */
  readonly isAdmin: boolean;
  /** By project. */
  readonly roles: Readonly<Record<string, Role>>;
  /** Operations that a key is limited to; null: none is forbidden. */
  readonly scopes: readonly string[] | null;
}

export const NOBODY: Principal = { kind: 'nobody', name: 'nobody', isAdmin: false, roles: {}, scopes: null };

const RANK: Readonly<Record<Role, number>> = { viewer: 1, operator: 2, editor: 3, owner: 4 };

/** Whoever has the role may do what is asked of the other one. */
export function isAtLeast(role: Role, other: Role): boolean {
  return RANK[role] >= RANK[other];
}

/** Whether a key is limited to other operations. */
export function isInScope({ scopes }: Principal, operation: OperationId): boolean {
  return scopes === null || scopes.includes(operation);
}

export type Verdict = 'allowed' | 'not-signed-in' | 'forbidden' | 'invisible';

/**
 * Whether somebody may call an operation. `project` is that of the thing it concerns; undefined where it concerns none,
 * or many: then it is enough to have the role in one, and the operation shows no others.
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
  // Somebody without any role in it is not told that it exists.
  if (role === undefined) return 'invisible';
  return isAtLeast(role, least) ? 'allowed' : 'forbidden';
}

/** The projects in which somebody may look; undefined: all. */
export function visibleProjects(who: Principal): readonly string[] | undefined {
  return who.isAdmin ? undefined : Object.keys(who.roles);
}
