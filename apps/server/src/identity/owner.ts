/** Whoever has the token of a desktop server, or its data folder, owns the machine. */
import type { Principal } from './principal.ts';

export const OWNER: Principal = { kind: 'token', name: 'owner', isAdmin: true, roles: {}, scopes: null };
