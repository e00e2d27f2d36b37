/** The owner: the holder of a desktop server's token or data folder. */
import type { Principal } from './principal.ts';

export const OWNER: Principal = { kind: 'token', name: 'owner', isAdmin: true, roles: {}, scopes: null };
