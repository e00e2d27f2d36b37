/** Tokens: the holder of the token of a desktop server is its owner. */
import { timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { NOBODY, OWNER, type Principal } from './principal.ts';

export function desktopIdentity(token: string): (request: Pick<FastifyRequest, 'headers'>) => Promise<Principal> {
  return async ({ headers }) => (isSameSecret(bearerOf(headers.authorization) ?? '', token) ? OWNER : NOBODY);
}

export function bearerOf(authorization: string | undefined): string | undefined {
  return authorization?.match(/^Bearer +(\S+)$/i)?.[1];
}

/** Compares in constant time. */
export function isSameSecret(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
