/** Signing in and out, and the people, keys and projects of the server. */
import type { AnswerOf, OperationId, Role } from '@nebula/client/contract';
import { NebulaError, parseDuration } from '@nebula/core';
import { type Call, created, gone, type Handlers, ok, reply } from '../http/handler.ts';
import { DEFAULT_PROJECT } from '../http/subject.ts';
import type { Parts } from '../parts.ts';
import {
  etagOf,
  expectedRevision,
  listRecords,
  type ProjectRecord,
  type Read,
  readRecord,
  type UserRecord,
  type WorkflowRecord,
} from '../records.ts';
import { isoTime, isoTimeOrNull } from '../routes/times.ts';
import { type Accounts, type KeyRecord, SESSION_COOKIE } from './accounts.ts';
import { type Principal, visibleProjects } from './principal.ts';

const OWN = [
  'login',
  'logout',
  'getMe',
  'listUsers',
  'putUser',
  'deleteUser',
  'listKeys',
  'createKey',
  'deleteKey',
  'listProjects',
  'putProject',
  'deleteProject',
] as const satisfies readonly OperationId[];

export interface IdentityOptions {
  /** The cookie goes over HTTPS only. */
  readonly isSecure: boolean;
}

export function identityRoutes(
  parts: Parts,
  accounts: Accounts,
  { isSecure }: IdentityOptions,
): Pick<Handlers, (typeof OWN)[number]> {
  const { records, clock } = parts;
  const cookie = (value: string, maxAge: number): string =>
    `${SESSION_COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${isSecure ? '; Secure' : ''}`;

  const put = async (
    call: Call<'putUser' | 'putProject'>,
    kind: string,
    id: string,
    body: unknown,
    revision: number,
  ) => {
    const expected = expectedRevision(call.headers['if-match']) ?? revision;
    const outcome = await records.commit([{ kind, id, body: JSON.stringify(body), expected }]);
    if (outcome.ok) return outcome.revision;
    throw new NebulaError('ETAG_MISMATCH', `'${id}' was changed by somebody else.`, { hint: 'Look at it again.' });
  };

  return {
    async login({ body: { user, password }, ip }) {
      const session = await accounts.login(user, password, ip);
      const { csrfToken, expiresAt } = session;
      const maxAge = Math.floor((expiresAt - clock.now()) / 1_000);
      return ok(
        { user: session.user, csrfToken, expiresAt: isoTime(expiresAt) },
        { 'set-cookie': cookie(session.token, maxAge) },
      );
    },

    async logout({ headers }) {
      await accounts.logout(typeof headers['cookie'] === 'string' ? headers['cookie'] : undefined);
      return reply(204, null, { 'set-cookie': cookie('', 0) });
    },

    async getMe({ who }) {
      const { name, kind, isAdmin, roles, scopes } = who;
      if (kind === 'nobody') throw new NebulaError('NOT_SIGNED_IN', 'Nobody is signed in.');
      return ok({
        user: name,
        kind,
        admin: isAdmin,
        roles: { ...roles },
        scopes: scopes === null ? null : [...scopes],
      });
    },

    async listUsers({ query }) {
      const { items, next } = await listRecords<UserRecord>(records, 'user', query);
      return ok({ items: items.map(userDocument), next });
    },

    async putUser(call) {
      const {
        params: { userId },
        body,
      } = call;
      const before = await readRecord<UserRecord>(records, 'user', userId);
      if (before === undefined && body.password === undefined) {
        throw new NebulaError('BODY_INVALID', 'A new user needs a password.', {
          details: { errors: [{ pointer: '/password', detail: 'is missing' }] },
        });
      }
      const { password } = body;
      const record: UserRecord = {
        name: body.name ?? before?.body.name ?? userId,
        password: password === undefined ? (before?.body.password ?? null) : await accounts.hash(password),
        admin: body.admin ?? before?.body.admin ?? false,
        disabled: body.disabled ?? before?.body.disabled ?? false,
        roles: body.roles ?? before?.body.roles ?? {},
        createdAt: before?.body.createdAt ?? clock.now(),
      };
      const revision = await put(call as Call<'putUser'>, 'user', userId, record, before?.revision ?? 0);
      // Whoever has a new password, or none any more, signs in anew.
      if (password !== undefined || record.disabled) await endSessions(parts, userId);
      const document = userDocument({ id: userId, body: record });
      return reply(before === undefined ? 201 : 200, document, { etag: etagOf({ revision }) });
    },

    async deleteUser({ params: { userId }, who }) {
      if (userId === who.name) throw new NebulaError('NOT_ALLOWED', 'Nobody can delete themselves.');
      const before = await readRecord<UserRecord>(records, 'user', userId);
      if (before === undefined) throw new NebulaError('UNKNOWN_USER', `There is no user '${userId}'.`);
      await endSessions(parts, userId);
      const keys = await keysOf(parts, userId);
      await records.commit([
        { kind: 'user', id: userId, body: null },
        ...keys.map(({ id }) => ({ kind: 'key', id, body: null })),
      ]);
      return gone();
    },

    async listKeys({ query, who }) {
      const { items, next } = await listRecords<KeyRecord>(records, 'key', query);
      const own = items.filter(({ body }) => who.isAdmin || body.owner === who.name);
      return ok({ items: own.map(keyDocument), next });
    },

    async createKey({ body: { name, roles, scopes, expires }, who }) {
      if (who.kind === 'key') throw new NebulaError('NOT_ALLOWED', 'A key cannot make keys.', { hint: 'Sign in.' });
      refuseMore(who, roles);
      const lifeMs = expires === undefined ? undefined : parseDuration(expires);
      if (typeof lifeMs === 'object')
        throw new NebulaError('BODY_INVALID', `expires: ${lifeMs.message}`, { hint: lifeMs.hint });
      const { keyId, token, record } = await accounts.newKey({
        name,
        owner: who.name,
        roles,
        scopes: scopes ?? null,
        expiresAt: lifeMs === undefined ? null : clock.now() + lifeMs,
      });
      return created({ ...keyDocument({ id: keyId, body: record }), token });
    },

    async deleteKey({ params: { keyId }, who }) {
      const key = await readRecord<KeyRecord>(records, 'key', keyId);
      if (key === undefined || !(who.isAdmin || key.body.owner === who.name)) {
        throw new NebulaError('UNKNOWN_KEY', `There is no key '${keyId}'.`);
      }
      await records.commit([{ kind: 'key', id: keyId, body: null }]);
      return gone();
    },

    async listProjects({ query, who }) {
      const visible = visibleProjects(who);
      const { items, next } = await listRecords<ProjectRecord>(records, 'project', query);
      const shown = items.filter(({ id }) => visible?.includes(id) ?? true);
      return ok({ items: shown.map(projectDocument), next });
    },

    async putProject(call) {
      const {
        params: { projectId },
        body,
      } = call;
      const before = await readRecord<ProjectRecord>(records, 'project', projectId);
      const record: ProjectRecord = {
        name: body.name ?? before?.body.name ?? projectId,
        createdAt: before?.body.createdAt ?? clock.now(),
      };
      const revision = await put(
        call as unknown as Call<'putProject'>,
        'project',
        projectId,
        record,
        before?.revision ?? 0,
      );
      const document = projectDocument({ id: projectId, body: record });
      return reply(before === undefined ? 201 : 200, document, { etag: etagOf({ revision }) });
    },

    async deleteProject({ params: { projectId } }) {
      if ((await readRecord(records, 'project', projectId)) === undefined || projectId === DEFAULT_PROJECT) {
        throw new NebulaError('UNKNOWN_PROJECT', `There is no project '${projectId}' that could be deleted.`);
      }
      if (await hasWorkflows(parts, projectId)) {
        throw new NebulaError('PROJECT_NOT_EMPTY', `Project '${projectId}' has workflows.`);
      }
      await records.commit([{ kind: 'project', id: projectId, body: null }]);
      return gone();
    },
  };
}

type Own<Body> = Pick<Read<Body>, 'id' | 'body'>;

function userDocument({ id, body: { name, admin, disabled, roles, createdAt } }: Own<UserRecord>): AnswerOf<'putUser'> {
  return { userId: id, name, admin, disabled, roles: { ...roles }, createdAt: isoTime(createdAt) };
}

function keyDocument({ id, body }: Own<KeyRecord>): AnswerOf<'listKeys'>['items'][number] {
  const { name, owner, roles, scopes, createdAt, expiresAt } = body;
  return {
    keyId: id,
    name,
    owner,
    roles: { ...roles },
    scopes: scopes === null ? null : [...scopes],
    createdAt: isoTime(createdAt),
    expiresAt: isoTimeOrNull(expiresAt),
  };
}

function projectDocument({ id, body: { name, createdAt } }: Own<ProjectRecord>): AnswerOf<'putProject'> {
  return { projectId: id, name, createdAt: isoTime(createdAt) };
}

const RANK: readonly Role[] = ['viewer', 'operator', 'editor', 'owner'];

/** Nobody hands on what they do not have. */
function refuseMore(who: Principal, roles: Readonly<Record<string, Role>>): void {
  if (who.isAdmin) return;
  for (const [project, role] of Object.entries(roles)) {
    const own = Object.hasOwn(who.roles, project) ? who.roles[project] : undefined;
    if (own !== undefined && RANK.indexOf(own) >= RANK.indexOf(role)) continue;
    throw new NebulaError('NOT_ALLOWED', `${who.name} is not ${role} in project '${project}'.`);
  }
}

async function endSessions({ records }: Parts, userId: string): Promise<void> {
  for (let after: string | undefined; ; ) {
    const page = await records.list('session', { limit: 500, ...(after !== undefined && { after }) });
    const own = page.filter(({ body }) => (JSON.parse(body) as { user: string }).user === userId);
    if (own.length > 0) await records.commit(own.map(({ id }) => ({ kind: 'session', id, body: null })));
    after = page.at(-1)?.id;
    if (page.length < 500) return;
  }
}

async function keysOf({ records }: Parts, owner: string): Promise<Read<KeyRecord>[]> {
  const own: Read<KeyRecord>[] = [];
  let cursor: string | undefined;
  do {
    const page = await listRecords<KeyRecord>(records, 'key', { limit: 500, ...(cursor !== undefined && { cursor }) });
    own.push(...page.items.filter(({ body }) => body.owner === owner));
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return own;
}

async function hasWorkflows({ records }: Parts, projectId: string): Promise<boolean> {
  let cursor: string | undefined;
  do {
    const page = await listRecords<WorkflowRecord>(records, 'workflow', {
      limit: 500,
      ...(cursor !== undefined && { cursor }),
    });
    if (page.items.some(({ body }) => body.project === projectId)) return true;
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return false;
}
