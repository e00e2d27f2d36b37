/**
 * Access to the endpoints of workflow-graph. Workers and clients without a token are admitted only if the configuration
 * says so.
 */
import type { Needs, OperationId } from '@nebula/client/contract';
import { NebulaError } from '@nebula/core';
import type { FastifyRequest } from 'fastify';
import { type AppParts, notSignedIn } from '../http/app.ts';
import { judge, NOBODY, type Principal } from '../identity/principal.ts';
import { isSameSecret } from '../identity/tokens.ts';

/** Which programs are admitted without a token, as members of this project only. */
export interface TokenlessPrograms {
  readonly project: string;
  /** Admits workers on this machine. */
  readonly loopback?: boolean;
  /** Admits workers that call below `/workflow-graph/<path>`. */
  readonly path?: string;
  /** Admits clients in the same ways. */
  readonly clients?: boolean;
}

export interface Access extends Pick<AppParts, 'authenticate'> {
  readonly tokenless?: TokenlessPrograms | undefined;
}

/** The secret path for programs without a token. */
export const SECRET_PREFIX = '/workflow-graph/:secret';

const WORKER_SCOPES: readonly OperationId[] = [
  'registerWorker',
  'beatWorker',
  'claimWork',
  'extendLease',
  'completeLease',
  'failLease',
  'logLease',
];

const CLIENT_SCOPES: readonly OperationId[] = [
  'registerWorkflow',
  'listWorkflows',
  'startExecution',
  'getExecution',
  'cancelExecution',
  'listLogs',
  'followLogs',
  'listWorkers',
];

/**
 * The caller, if allowed. `like`: the equivalent operation of our API. `project`: the project of the resource,
 * undefined for none or many. `missing`: the error for callers who may not know of the resource.
 */
export async function allowed(
  access: Access,
  request: FastifyRequest,
  like: OperationId,
  needs: Needs,
  project: string | undefined,
  missing?: () => NebulaError,
): Promise<Principal> {
  const who = await callerOf(access, request, needs);
  const verdict = judge(who, like, needs, project);
  if (verdict === 'allowed') return who;
  if (verdict === 'not-signed-in') throw notSignedIn();
  if (verdict === 'invisible' && missing !== undefined) throw missing();
  throw new NebulaError('NOT_ALLOWED', `${who.name} may not do this.`, { hint: `It needs the role ${needs}.` });
}

/** Rejects with `NOT_SIGNED_IN` if the caller may call none of the endpoints. */
export async function refuseStrangers(access: Access, request: FastifyRequest): Promise<void> {
  if ((await callerOf(access, request, 'worker')).kind === 'nobody') throw notSignedIn();
}

/** The caller: one with a token, a program that is admitted without, or nobody. */
export async function callerOf(access: Access, request: FastifyRequest, needs: Needs): Promise<Principal> {
  const { authenticate, tokenless } = access;
  const { secret } = request.params as { secret?: string };
  if (secret !== undefined) {
    if (tokenless?.path === undefined || !isSameSecret(secret, tokenless.path)) return NOBODY;
    return admitted(tokenless, needs) ?? workerOf(tokenless);
  }
  const who = await authenticate(request);
  if (who.kind !== 'nobody' || tokenless?.loopback !== true || !isPlainLoopback(request)) return who;
  return admitted(tokenless, needs) ?? who;
}

function admitted(tokenless: TokenlessPrograms, needs: Needs): Principal | undefined {
  if (needs === 'worker') return workerOf(tokenless);
  return tokenless.clients === true ? clientOf(tokenless) : undefined;
}

function workerOf({ project }: TokenlessPrograms): Principal {
  const name = 'workflow-graph worker';
  return { kind: 'key', name, isAdmin: false, roles: { [project]: 'operator' }, scopes: WORKER_SCOPES };
}

function clientOf({ project }: TokenlessPrograms): Principal {
  const name = 'workflow-graph client';
  return { kind: 'key', name, isAdmin: false, roles: { [project]: 'editor' }, scopes: CLIENT_SCOPES };
}

const LOOPBACK = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/;
/** Headers of proxies, which forward other callers, of web pages, and of requests with a token, which may be wrong. */
const SPEAKS_FOR_OTHERS =
  /^(authorization|cookie|forwarded|origin|sec-fetch-site|via|x-real-ip|x-forwarded|x-forwarded-.*)$/;

function isPlainLoopback({ socket, headers }: FastifyRequest): boolean {
  return (
    LOOPBACK.test(socket.remoteAddress ?? '') && !Object.keys(headers).some((name) => SPEAKS_FOR_OTHERS.test(name))
  );
}
