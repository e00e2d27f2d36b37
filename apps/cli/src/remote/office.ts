/** The operations of a server about workflows, people and schedules, in the name of a token or of somebody who signs in. */
import { createClient, type NebulaClient } from '@nebula/client';
import { NebulaError } from '@nebula/core';
import type { OfficeSession } from '../services.ts';
import { asked } from './connection.ts';

export function remoteOffice(client: NebulaClient): OfficeSession {
  return {
    server: client.url,
    // The table of operations types it; here it is any of them.
    call: (operation, input = {}) => asked(client.call(operation, input as never)),
    async as(user, password) {
      if (password === undefined) {
        throw new NebulaError('USAGE', `the password of ${user} is missing`, {
          hint: '--password-stdin reads it from stdin',
        });
      }
      return remoteOffice(await signedIn(client, user, password));
    },
    close: async () => undefined,
  };
}

/** The session is a cookie, and a token that a page of somebody else could not know. */
async function signedIn(client: NebulaClient, user: string, password: string): Promise<NebulaClient> {
  let cookie = '';
  const noting: typeof fetch = async (...args) => {
    const response = await fetch(...args);
    cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    return response;
  };
  const door = createClient({ url: client.url, fetch: noting });
  const { csrfToken } = await asked(door.call('login', { body: { user, password } }));
  return createClient({ url: client.url, headers: { cookie, 'x-csrf-token': csrfToken } });
}
