/** The commands of `nebula users` and `nebula keys`. */
import type { NebulaClient, Role } from '@nebula/client';
import { NebulaError } from '@nebula/core';
import { allItems, pageOf, withApi } from '../api.ts';
import { definedMembers, textOption, textsOption } from '../command-options.ts';
import { passwordOf } from '../passwords.ts';
import { print, printDone, writeLines } from '../print.ts';
import { ago, deleteCommand, listCommand } from '../record-commands.ts';
import type { Command, CommandOptions } from '../services.ts';
import { printableLine } from '../terminal/width.ts';
import { momentText } from '../views/words.ts';

export const list = listCommand({
  operation: 'listUsers',
  columns: {
    USER: ({ userId }) => userId,
    SINCE: ({ createdAt }, context) => ago(createdAt, context),
    MAY({ admin, disabled, roles }, { io }) {
      if (disabled) return io.out.colors.dim('not sign in');
      return admin ? 'everything' : rolesText(roles) || io.out.colors.dim('nothing');
    },
  },
  none: (program) => `no users yet; ${program} users add NAME --admin makes the first`,
});

export const add: Command = (call, [userId = '']) => {
  const { options, program } = call;
  const roles = rolesOf(options);
  const work = async ({ api }: { readonly api: NebulaClient }): Promise<number> => {
    if (await hasUser(api, userId)) {
      throw new NebulaError('USER_EXISTS', `the user ${userId} exists already`, {
        hint: `${program} users passwd ${userId} changes the password`,
      });
    }
    const password = await passwordOf(call, `new password for ${userId}`);
    const body = { password, admin: options.admin === true, roles };
    const user = await api.call('putUser', { params: { userId }, body });
    return printDone(call, user, `added ${userId}${user.admin ? ' as an administrator' : ''}`);
  };
  return withApi(call, 'change', work, { makesFolder: true });
};

export const passwd: Command = (call, [userId = '']) =>
  withApi(call, 'change', async ({ api }) => {
    if (!(await hasUser(api, userId))) {
      throw new NebulaError('UNKNOWN_USER', `there is no user ${userId}`, { hint: '`nebula users list` shows them' });
    }
    const password = await passwordOf(call, `new password for ${userId}`);
    const user = await api.call('putUser', { params: { userId }, body: { password } });
    return printDone(call, user, `${userId} has a new password; all sessions have ended`);
  });

export const ownPassword: Command = (call, [userId = '']) =>
  withApi(call, 'change', async ({ session }) => {
    if (session.server === undefined) {
      throw new NebulaError('NEEDS_SERVER', 'a data folder needs no sign-in, and knows no own password', {
        hint: `\`nebula users passwd ${userId}\` sets a new one`,
      });
    }
    const current = await passwordOf(call, `current password of ${userId}`);
    const password = await passwordOf(call, `new password for ${userId}`);
    const signedIn = await session.as(userId, current);
    await signedIn.api.call('changeOwnPassword', { body: { current, password } });
    return printDone(call, { userId, changed: true }, `${userId} has a new password; other sessions have ended`);
  });

async function hasUser(api: NebulaClient, userId: string): Promise<boolean> {
  const users = await allItems((cursor) => api.call('listUsers', { query: pageOf(cursor) }));
  return users.some((one) => one.userId === userId);
}

export const remove = deleteCommand('deleteUser', 'userId', (id) => `removed ${id} with all sessions and keys`);

export const listKeys = listCommand({
  operation: 'listKeys',
  columns: {
    KEY: ({ keyId }) => keyId,
    NAME: ({ name }) => printableLine(name),
    OWNER: ({ owner }) => owner,
    ENDS: ({ expiresAt }, { io }) =>
      expiresAt === null ? io.out.colors.dim('never') : momentText(Date.parse(expiresAt)),
    MAY({ roles, scopes }, { io }) {
      const may = rolesText(roles);
      return (scopes === null || may === '' ? may : `${may}: ${scopes.join(', ')}`) || io.out.colors.dim('nothing');
    },
  },
  none: () => 'no keys',
});

export const createKey: Command = (call, [name = '']) => {
  const { io, options } = call;
  const { out, err } = io;
  const roles = rolesOf(options);
  const asked = definedMembers({ scopes: textsOption(options, 'scope'), expires: textOption(options, 'expires') });
  if (textOption(options, 'as') === undefined) {
    throw new NebulaError('USAGE', 'a key belongs to a user: name the user with --as', {
      hint: '`nebula users list` lists users; a desktop server has none and uses the token in the file `token`',
    });
  }
  return withApi(call, 'change', async ({ api }) => {
    const key = await api.call('createKey', { body: { name, roles, ...asked } as never });
    print(call, key, () => [
      `${out.colors.green('✓')} the key ${name} of ${key.owner}; it is shown only once:`,
      out.colors.bold(key.token),
    ]);
    if (options.json !== true && Object.keys(roles).length === 0) {
      writeLines(err, [
        err.colors.yellow('! the key has no role and grants almost no access; add --role default=operator'),
      ]);
    }
    return 0;
  });
};

export const removeKey = deleteCommand('deleteKey', 'keyId', (id) => `revoked the key ${id}`);

const ROLES: readonly string[] = ['viewer', 'operator', 'editor', 'owner'] satisfies Role[];

/** Reads `--role default=editor`; a role alone applies to the default project. */
function rolesOf(options: CommandOptions): Record<string, Role> {
  const roles = (textsOption(options, 'role') ?? []).map((text) => {
    const [project = '', role = ''] = text.includes('=') ? text.split('=', 2) : ['default', text];
    if (project !== '' && ROLES.includes(role)) return [project, role as Role];
    throw new NebulaError('USAGE', `--role ${text}: not a role in a project`, {
      hint: `e.g. default=operator; roles are ${ROLES.join(', ')}`,
    });
  });
  return Object.fromEntries(roles);
}

function rolesText(roles: Readonly<Record<string, string>>): string {
  return Object.entries(roles)
    .map(([project, role]) => `${project}=${role}`)
    .join(', ');
}
