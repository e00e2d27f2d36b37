/** Operations of remote workers: register, claim tasks under a lease, report outcomes. */
import type { AnswerOf, BodyOf } from '@nebula/client/contract';
import { DEFAULT_LEASE_MS } from '@nebula/client/limits';
import { type ActionDescription, type Json, mayServe, NebulaError, parseDuration, type RunError } from '@nebula/core';
import type { Engine, LeaseState, RemoteOutcome, RemoteTask } from '@nebula/engine';
import { gone, type Handlers, ok } from '../http/handler.ts';
import { DEFAULT_PROJECT, requireProject } from '../http/subject.ts';
import { judge } from '../identity/principal.ts';
import { LEASE_LIMITS } from '../limits.ts';
import type { EngineParts } from '../parts.ts';
import { isoTime, isoTimeOrNull } from '../routes/times.ts';
import type { Announced } from './announced.ts';
import { onlyProjectOf, type Registry } from './registry.ts';

export function workerRoutes(parts: EngineParts, registry: Registry, announced: Announced) {
  const { remote } = parts.engine;
  /** Waiting claims by worker, which end when the worker leaves. */
  const waiting = new Map<string, Set<AbortController>>();
  return {
    async listWorkers({ query, who }) {
      return ok(await registry.list(query, who));
    },

    async registerWorker({ body: { workerId, project: asked, labels = [], actions }, who }) {
      const project = asked ?? onlyProjectOf(who);
      await requireProject(parts, project);
      const descriptions = actions.map(({ version = '1', ...rest }) => ({ ...rest, version }) as ActionDescription);
      // A rejected worker announces no actions.
      await registry.refuseTaken(workerId, project, who);
      const { taken, refused } = await announced.add(descriptions, project);
      const worker = await registry.put(workerId, { project, labels, actions: taken }, who);
      return ok({ ...registry.document(workerId, worker), refused: [...refused] });
    },

    async removeAnnouncedAction({ params: { actionId }, project = DEFAULT_PROJECT }) {
      await announced.remove(actionId, project);
      return gone();
    },

    async claimWork({ params: { workerId }, body, who, operation, signal }) {
      const worker = await registry.seen(workerId, who);
      const labels = new Set(worker.labels);
      const actions = new Set(worker.actions.filter((action) => isAmong(body.actions, action)));
      const leaving = new AbortController();
      const claims = waiting.get(workerId) ?? new Set();
      waiting.set(workerId, claims.add(leaving));
      const claiming = remote.claim({
        holder: workerId,
        principal: who.name,
        max: body.max ?? 1,
        leaseMs: leaseMsOf(body.lease) ?? DEFAULT_LEASE_MS,
        waitMs: Math.min(durationOf('wait', body.wait) ?? 0, LEASE_LIMITS.maxWaitMs),
        signal: AbortSignal.any([signal, leaving.signal]),
        serves: (route, project) =>
          project === (worker.project ?? DEFAULT_PROJECT) &&
          mayServe(route, actions, labels) &&
          judge(who, operation, 'worker', project) === 'allowed',
      });
      try {
        return ok({ work: (await claiming).map(workDocument) });
      } finally {
        claims.delete(leaving);
        if (claims.size === 0) waiting.delete(workerId);
      }
    },

    async beatWorker({ params: { workerId }, who }) {
      return ok(registry.document(workerId, await registry.seen(workerId, who)));
    },

    async deleteWorker({ params: { workerId }, who }) {
      await registry.remove(workerId, who);
      for (const leaving of waiting.get(workerId) ?? []) leaving.abort();
      return gone();
    },

    ...leaseRoutes(remote),
  } satisfies Partial<Handlers>;
}

/** Heartbeats, log lines, outcomes and secrets of a claimed task. */
function leaseRoutes(remote: Engine['remote']) {
  return {
    async extendLease({ params: { leaseId }, body: { lease, progress, message }, who }) {
      const leaseMs = leaseMsOf(lease);
      const beat = {
        ...(leaseMs !== undefined && { leaseMs }),
        ...(progress !== undefined && { progress }),
        ...(message !== undefined && { message }),
      };
      return ok(leaseDocument(await remote.extend(leaseId, beat, who.name)));
    },

    async logLease({ params: { leaseId }, body: { lines }, who }) {
      const taken = lines.map(({ at, fields, ...line }) => ({
        ...line,
        ...(at !== undefined && { at: Date.parse(at) }),
        ...(fields !== undefined && { fields: fields as Record<string, Json> }),
      }));
      return ok(leaseDocument(await remote.log(leaseId, taken, who.name)));
    },

    async completeLease({ params: { leaseId }, body: { output = null }, who }) {
      await remote.end(leaseId, { status: 'completed', output: output as Json }, who.name);
      return ok({ accepted: true });
    },

    async failLease({ params: { leaseId }, body, who }) {
      await remote.end(leaseId, failureOf(body), who.name);
      return ok({ accepted: true });
    },

    async revealCredential({ params: { leaseId, alias }, who }) {
      return ok({ value: revealed(await remote.credential(leaseId, alias, who.name)) });
    },
  } satisfies Partial<Handlers>;
}

function failureOf({
  code = 'ACTION_FAILED',
  message,
  kind = 'USER',
  details,
  outcome = 'failed',
}: BodyOf<'failLease'>): RemoteOutcome {
  if (outcome === 'returned') return { status: 'returned' };
  const error: RunError = { code, kind, message, ...(details !== undefined && { details: details as Json }) };
  return { status: outcome, error };
}

/** `actions` of a claim may name versions. */
function isAmong(wanted: readonly string[] | undefined, action: string): boolean {
  return wanted === undefined || wanted.includes(action) || wanted.includes(action.split('@')[0] as string);
}

function leaseMsOf(text: string | undefined): number | undefined {
  const ms = durationOf('lease', text);
  return ms === undefined ? undefined : Math.min(LEASE_LIMITS.maxMs, Math.max(LEASE_LIMITS.minMs, ms));
}

function durationOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (typeof ms === 'number') return ms;
  throw new NebulaError('BODY_INVALID', `${name}: ${ms.message}`, {
    hint: ms.hint,
    details: { errors: [{ pointer: `/${name}`, detail: ms.message }] },
  });
}

function workDocument({ until, deadline, credentials, ...work }: RemoteTask): AnswerOf<'claimWork'>['work'][number] {
  return {
    ...work,
    leaseUntil: isoTime(until),
    deadline: isoTimeOrNull(deadline),
    credentials: [...credentials],
  };
}

function leaseDocument({ until, cancel }: LeaseState): AnswerOf<'extendLease'> {
  return { leaseUntil: isoTime(until), cancel };
}

/** A secret that was set as an object of texts is passed as an object. */
function revealed(secret: string): string | Record<string, string> {
  if (!secret.startsWith('{')) return secret;
  try {
    const value: unknown = JSON.parse(secret);
    const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isRecord && Object.values(value).every((one) => typeof one === 'string')
      ? (value as Record<string, string>)
      : secret;
  } catch {
    return secret;
  }
}
