/** Shared by the commands about users and keys. */
import type { Role } from '@nebula/client';
import { NebulaError } from '@nebula/core';
import type { CommandOptions } from './services.ts';

const ROLES: readonly string[] = ['viewer', 'operator', 'editor', 'owner'] satisfies Role[];

/** Reads `--role default=editor`; a role alone applies to the default project. */
export function rolesOf(options: CommandOptions): Record<string, Role> {
  const given = Array.isArray(options.role) ? (options.role as string[]) : [];
  return Object.fromEntries(
    given.map((text) => {
      const [project = '', role = ''] = text.includes('=') ? text.split('=', 2) : ['default', text];
      if (project !== '' && ROLES.includes(role)) return [project, role as Role];
      throw new NebulaError('USAGE', `--role ${text}: not a role in a project`, {
        hint: `e.g. default=operator; roles are ${ROLES.join(', ')}`,
      });
    }),
  );
}

/** The roles of a key, and the operations that it is limited to. */
export function mayText(roles: Readonly<Record<string, string>>, scopes: readonly string[] | null): string {
  const what = rolesText(roles);
  return scopes === null || what === '' ? what : `${what}: ${scopes.join(', ')}`;
}

export function rolesText(roles: Readonly<Record<string, string>>): string {
  return Object.entries(roles)
    .map(([project, role]) => `${project}=${role}`)
    .join(', ');
}
