/** Authentication of a desktop server: the holder of the token is the owner. */
import { timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { OWNER } from './owner.ts';
import { NOBODY, type Principal } from './principal.ts';

export function desktopIdentity(token: string): (request: Pick<FastifyRequest, 'headers'>) => Promise<Principal> {
  const wanted = Buffer.from(token);
  return async ({ headers }) => {
    const given = Buffer.from(bearerOf(headers.authorization) ?? '');
    return given.length === wanted.length && timingSafeEqual(given, wanted) ? OWNER : NOBODY;
  };
}

export function bearerOf(authorization: string | undefined): string | undefined {
  return authorization?.match(/^Bearer +(\S+)$/i)?.[1];
}
