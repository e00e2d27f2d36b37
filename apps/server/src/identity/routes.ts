/** Sign-in and sign-out, and the users, keys and projects of the server. */
import type { AnswerOf, OperationId, Role } from '@nebula/client/contract';
import { ROUTES } from '@nebula/client/routes';
import { NebulaError, parseDuration } from '@nebula/core';
import type { RecordChange } from '@nebula/ports';
import { type Call, created, gone, type Handlers, ok, reply } from '../http/handler.ts';
import { DEFAULT_PROJECT, requireProject } from '../http/subject.ts';
import type { Parts } from '../parts.ts';
import { isRegistered } from '../projects.ts';
import {
  changedBySomebody,
  etagOf,
  everyRecord,
  expectedRevision,
  listRecords,
  type ProjectRecord,
  type Read,
  readRecord,
  removeRecord,
  type UserRecord,
  type WorkflowRecord,
} from '../records.ts';
import { draftsOf } from '../routes/drafts.ts';
import { isoTime, isoTimeOrNull } from '../routes/times.ts';
import { type Accounts, type KeyRecord, keyOf } from './accounts.ts';
import { belongingsOf, forgetBeside } from './belongings.ts';
import type { DesktopIdentity } from './desktop.ts';
import { isAtLeast, type Principal, visibleProjects } from './principal.ts';
import { cookieName, type OpenedSession } from './sessions.ts';

interface IdentityOptions {
  /** Marks the cookie `Secure`, also if the request came over HTTP. */
  readonly isSecure: boolean;
  /** The identity of a desktop server; undefined: users sign in. */
  readonly desktop: DesktopIdentity | undefined;
  /** Pages of these origins may call. */
  readonly origins: readonly string[];
  /** Called when a project was deleted, with its announced actions. */
  onRemoved?(): Promise<void>;
}

export function identityRoutes(parts: Parts, accounts: Accounts, options: IdentityOptions) {
  const { onRemoved } = options;
  return {
    ...sessionRoutes(parts, accounts, options),
    ...userRoutes(parts, accounts),
    ...keyRoutes(parts, accounts),
    ...projectRoutes(parts, onRemoved),
  };
}

type SessionCall = Pick<Call<'login'>, 'headers' | 'isSecure'>;

function sessionRoutes({ clock, random }: Parts, accounts: Accounts, { isSecure, desktop, origins }: IdentityOptions) {
  const sessions = desktop?.sessions ?? accounts.sessions;
  const cookie = (value: string, maxAge: number, { headers, isSecure: isHttps }: SessionCall): string => {
    const secure = isSecure || isHttps ? '; Secure' : '';
    return `${cookieName(headers)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${secure}`;
  };
  const opened = ({ user, token, csrfToken, expiresAt }: OpenedSession, call: SessionCall) => {
    const maxAge = Math.ceil((expiresAt - clock.now()) / 1_000);
    return ok({ user, csrfToken, expiresAt: isoTime(expiresAt) }, { 'set-cookie': cookie(token, maxAge, call) });
  };
  const theDesktop = (): DesktopIdentity => {
    if (desktop !== undefined) return desktop;
    throw new NebulaError('NOT_A_DESKTOP', 'This server has users: they sign in with their passwords.', {
      hint: 'Sign in at /login with a name and a password.',
    });
  };

  return {
    async login(call) {
      const { user, password } = call.body;
      return opened(await accounts.login(user, password, call.ip), call);
    },

    async createSignInCode() {
      const { code, expiresAt } = await theDesktop().newCode();
      return created({ code, expiresAt: isoTime(expiresAt) });
    },

    async signIn(call) {
      const own = theDesktop();
      if (isForeignPage(call.headers, origins)) {
        throw new NebulaError('NOT_ALLOWED', 'Pages of other sites may not sign in here.', {
          hint: 'Open the link in the browser itself.',
        });
      }
      return opened(await own.signIn(call.body.code, call.ip), call);
    },

    async logout(call) {
      await sessions.close(call.headers);
      return reply(204, null, { 'set-cookie': cookie('', 0, call) });
    },

    async changeOwnPassword({ body: { current, password }, who, headers }) {
      if (who.kind !== 'user') {
        throw new NebulaError('NOT_ALLOWED', 'Only a signed-in user can change the own password.', {
          hint: 'Sign in with user and password; an administrator can set a new one.',
        });
      }
      await accounts.changeOwnPassword(who.name, { current, password, epoch: random.id('epo') }, headers);
      return gone();
    },

    async getMe({ who, headers }) {
      const { name, kind, isAdmin, roles, scopes } = who;
      if (kind === 'nobody') throw new NebulaError('NOT_SIGNED_IN', 'You are not signed in.');
      const csrfToken = kind === 'key' ? undefined : await sessions.csrfTokenOf(headers);
      return ok({
        user: name,
        kind,
        admin: isAdmin,
        roles: { ...roles },
        scopes: scopes === null ? null : [...scopes],
        ...(csrfToken !== undefined && { csrfToken }),
      });
    },
  } satisfies Partial<Handlers>;
}

/**
 * Whether a page of another site, or of another port of this machine, has sent the request: its user would work in a
 * session that the page has chosen. Programs send none of these headers, and pages cannot change them.
 */
function isForeignPage({ origin, host, ...headers }: SessionCall['headers'], origins: readonly string[]): boolean {
  if (typeof origin === 'string' && origins.includes(origin)) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && URL.parse(String(origin))?.host !== host;
}

function userRoutes(parts: Parts, accounts: Accounts) {
  const { records, clock } = parts;
  return {
    async listUsers({ query }) {
      const { items, next } = await listRecords<UserRecord>(records, 'user', query);
      return ok({ items: items.map(userDocument), next });
    },

    async putUser({ params: { userId }, body, who, headers }) {
      const before = await readRecord<UserRecord>(records, 'user', userId);
      if (before === undefined && body.password === undefined) {
        throw new NebulaError('BODY_INVALID', 'A new user needs a password.', {
          details: { errors: [{ pointer: '/password', detail: 'is missing' }] },
        });
      }
      if (userId === who.name && (body.disabled === true || body.admin === false)) {
        throw new NebulaError('NOT_ALLOWED', 'You cannot disable or demote yourself.', {
          hint: 'Ask another administrator.',
        });
      }
      await requireProjects(parts, body.roles ?? {});
      const { password } = body;
      // A new password or a disabled user ends all sessions.
      const isEnding = before === undefined || password !== undefined || body.disabled === true;
      const record: UserRecord = {
        name: body.name ?? before?.body.name ?? userId,
        password: password === undefined ? (before?.body.password ?? null) : await accounts.hash(password),
        admin: body.admin ?? before?.body.admin ?? false,
        disabled: body.disabled ?? before?.body.disabled ?? false,
        roles: body.roles ?? before?.body.roles ?? {},
        epoch: isEnding ? parts.random.id('epo') : before.body.epoch,
        createdAt: before?.body.createdAt ?? clock.now(),
      };
      const revision = await put(parts, headers, { kind: 'user', id: userId, body: record }, before);
      const document = userDocument({ id: userId, body: record });
      return reply(before === undefined ? 201 : 200, document, { etag: etagOf({ revision }) });
    },

    async deleteUser({ params: { userId }, who, headers }) {
      if (userId === who.name) throw new NebulaError('NOT_ALLOWED', 'You cannot delete yourself.');
      if ((await readRecord(records, 'user', userId)) === undefined) {
        throw new NebulaError('UNKNOWN_USER', `There is no user '${userId}'.`);
      }
      // Sessions end with the user. Keys are invalid without their user and are deleted afterwards.
      await removeRecord(records, 'user', userId, headers['if-match']);
      const left: RecordChange[] = [];
      for await (const { id, body } of everyRecord<{ keyId: string }>(records, 'key-of', keyOf(userId, ''))) {
        left.push({ kind: 'key', id: body.keyId, body: null }, { kind: 'key-of', id, body: null });
      }
      left.push(...(await draftsOf(records, { userId })));
      if (left.length > 0) await records.commit(left);
      return gone();
    },
  } satisfies Partial<Handlers>;
}

function keyRoutes(parts: Parts, accounts: Accounts) {
  const { records, clock } = parts;
  return {
    async listKeys({ query, who }) {
      if (who.isAdmin) {
        const { items, next } = await listRecords<KeyRecord>(records, 'key', query);
        return ok({ items: items.map(keyDocument), next });
      }
      const prefix = keyOf(who.name, '');
      const { cursor, limit } = query;
      const page = await listRecords<{ keyId: string }>(records, 'key-of', {
        prefix,
        ...(limit !== undefined && { limit }),
        ...(cursor !== undefined && { cursor: prefix + cursor }),
      });
      const own = await Promise.all(page.items.map(({ body }) => readRecord<KeyRecord>(records, 'key', body.keyId)));
      const next = page.next?.slice(prefix.length) ?? null;
      return ok({ items: own.filter((key) => key !== undefined).map(keyDocument), next });
    },

    async createKey({ body: { name, roles, scopes, expires }, who }) {
      if (who.kind === 'key') throw new NebulaError('NOT_ALLOWED', 'A key cannot create keys.', { hint: 'Sign in.' });
      refuseMore(who, roles);
      await requireProjects(parts, roles);
      const unknown = scopes?.find((scope) => !Object.hasOwn(ROUTES, scope));
      if (unknown !== undefined) {
        throw new NebulaError('BODY_INVALID', `There is no operation '${unknown}'.`, {
          hint: 'Scopes are ids of operations: /api/docs.',
          details: { errors: [{ pointer: '/scopes', detail: 'names no operation' }] },
        });
      }
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
      await records.commit([
        { kind: 'key', id: keyId, body: null },
        { kind: 'key-of', id: keyOf(key.body.owner, keyId), body: null },
      ]);
      return gone();
    },
  } satisfies Partial<Handlers>;
}

function projectRoutes(parts: Parts, onRemoved: () => Promise<void> = async () => undefined) {
  const { records, clock } = parts;
  return {
    async listProjects({ query, who }) {
      const visible = visibleProjects(who);
      const isShown = ({ id }: Read<ProjectRecord>): boolean => visible?.includes(id) ?? true;
      const { items, next } = await listRecords<ProjectRecord>(records, 'project', query, isShown);
      return ok({ items: await Promise.all(items.map((project) => projectDocument(parts, project))), next });
    },

    async putProject({ params: { projectId }, body, headers }) {
      const before = await readRecord<ProjectRecord>(records, 'project', projectId);
      const ceiling = body.ceiling === undefined ? before?.body.ceiling : (body.ceiling ?? undefined);
      const record: ProjectRecord = {
        name: body.name ?? before?.body.name ?? projectId,
        ...(ceiling !== undefined && { ceiling }),
        createdAt: before?.body.createdAt ?? clock.now(),
      };
      // An earlier project of this name may have been deleted by a version that left its things behind.
      if (before === undefined) await forgetBeside(parts, projectId);
      const leftovers = before === undefined ? await belongingsOf(parts, projectId) : [];
      const made = { kind: 'project', id: projectId, body: record };
      const revision = await put(parts, headers, made, before, leftovers);
      const document = await projectDocument(parts, { id: projectId, body: record });
      return reply(before === undefined ? 201 : 200, document, { etag: etagOf({ revision }) });
    },

    async deleteProject({ params: { projectId }, headers }) {
      if ((await readRecord(records, 'project', projectId)) === undefined || projectId === DEFAULT_PROJECT) {
        throw new NebulaError('UNKNOWN_PROJECT', `There is no project '${projectId}' that can be deleted.`);
      }
      const claims = await claimsOf(parts, projectId);
      if (claims === undefined) throw new NebulaError('PROJECT_NOT_EMPTY', `Project '${projectId}' has workflows.`);
      // A test run has no registered workflow. Without its project it would go on with the ceiling of all others.
      if ((await parts.store.list({ project: projectId, limit: 1 })).rows.length > 0) {
        throw new NebulaError('PROJECT_NOT_EMPTY', `Project '${projectId}' has executions.`, {
          hint: 'Delete its test runs, or wait until they are deleted a day after their end.',
        });
      }
      const claimed = claims.flatMap((id) => ['workflow', 'layout'].map((kind) => ({ kind, id, body: null })));
      const belongings = [...claimed, ...(await belongingsOf(parts, projectId))];
      await removeRecord(records, 'project', projectId, headers['if-match'], belongings);
      await forgetBeside(parts, projectId);
      await onRemoved();
      return gone();
    },
  } satisfies Partial<Handlers>;
}

/** Writes over the revision that the caller has seen, or over the one that was just read. */
async function put(
  { records }: Parts,
  headers: Call<OperationId>['headers'],
  { kind, id, body }: { readonly kind: string; readonly id: string; readonly body: unknown },
  before: { readonly revision: number } | undefined,
  also: readonly RecordChange[] = [],
): Promise<number> {
  const expected = expectedRevision(headers['if-match']) ?? before?.revision ?? 0;
  const outcome = await records.commit([{ kind, id, body: JSON.stringify(body), expected }, ...also]);
  if (outcome.ok) return outcome.revision;
  throw changedBySomebody(id);
}

async function projectDocument(
  { projects }: Parts,
  { id, body }: IdAndBody<ProjectRecord>,
): Promise<AnswerOf<'putProject'>> {
  const ceiling = (await projects.ceilingOf(id)) as AnswerOf<'putProject'>['ceiling'];
  return { projectId: id, name: body.name, ceiling, createdAt: isoTime(body.createdAt) };
}

type IdAndBody<Body> = Pick<Read<Body>, 'id' | 'body'>;

function userDocument({
  id,
  body: { name, admin, disabled, roles, createdAt },
}: IdAndBody<UserRecord>): AnswerOf<'putUser'> {
  return { userId: id, name, admin, disabled, roles: { ...roles }, createdAt: isoTime(createdAt) };
}

function keyDocument({ id, body }: IdAndBody<KeyRecord>): AnswerOf<'listKeys'>['items'][number] {
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

/** A caller can grant only roles that it has. */
function refuseMore(who: Principal, roles: Readonly<Record<string, Role>>): void {
  if (who.isAdmin) return;
  for (const [project, role] of Object.entries(roles)) {
    const own = Object.hasOwn(who.roles, project) ? who.roles[project] : undefined;
    if (own !== undefined && isAtLeast(own, role)) continue;
    throw new NebulaError('NOT_ALLOWED', `${who.name} is not ${role} in project '${project}'.`);
  }
}

/** Ids that the project has claimed but not registered; undefined if it has workflows. */
async function claimsOf({ records, store }: Parts, projectId: string): Promise<readonly string[] | undefined> {
  const claims: string[] = [];
  for await (const { id, body } of everyRecord<WorkflowRecord>(records, 'workflow')) {
    if (body.project !== projectId) continue;
    if (await isRegistered(store, id)) return undefined;
    claims.push(id);
  }
  return claims;
}

async function requireProjects(parts: Parts, roles: Readonly<Record<string, Role>>): Promise<void> {
  for (const project of Object.keys(roles)) await requireProject(parts, project);
}
