/** The registered remote workers: one record each, until the worker leaves or has been silent for a day. */
import type { AnswerOf } from '@nebula/client/contract';
import { NebulaError } from '@nebula/core';
import { DEFAULT_PROJECT } from '../http/subject.ts';
import { onlyProject, type Principal, visibleProjects } from '../identity/principal.ts';
import type { EngineParts } from '../parts.ts';
import { listRecords, type Read, readRecord } from '../records.ts';
import { isoTime } from '../routes/times.ts';

const KIND = 'worker';
/** A claim waits at most a minute, so a worker that is silent for longer is away. */
const LIVE_MS = 90_000;
/** The least time between writes of `seenAt`. */
const SEEN_EVERY_MS = 10_000;
const FORGET_MS = 24 * 3_600_000;

export interface WorkerRecord {
  /** The worker gets work of this project only. */
  readonly project: string;
  readonly labels: readonly string[];
  /** `id@version`. */
  readonly actions: readonly string[];
  /** The principal that registered the worker. Others may not act for it. */
  readonly owner: string;
  /** Missing in records of older versions. */
  readonly registeredAt?: number;
  readonly seenAt: number;
}

type Announcement = Pick<WorkerRecord, 'project' | 'labels' | 'actions'>;

type OfRegistry = Pick<EngineParts, 'records' | 'clock' | 'engine'>;

export class Registry {
  private readonly parts: OfRegistry;

  constructor(parts: OfRegistry) {
    this.parts = parts;
  }

  /** Rejects with `NOT_ALLOWED` if the id is taken. */
  async refuseTaken(workerId: string, project: string, who: Principal): Promise<Read<WorkerRecord> | undefined> {
    const before = await readRecord<WorkerRecord>(this.parts.records, KIND, workerId);
    if (before !== undefined && !mayUse(before, project, who)) throw taken(workerId);
    return before;
  }

  async put(workerId: string, worker: Announcement, who: Principal): Promise<WorkerRecord> {
    const before = await this.refuseTaken(workerId, worker.project, who);
    const seenAt = this.parts.clock.now();
    const { owner = who.name, registeredAt = seenAt } = before?.body ?? {};
    const record = { ...worker, owner, registeredAt, seenAt };
    await this.write(workerId, record);
    return record;
  }

  /** Updates the record of a worker that registers with every claim: writes only changes, or after some time. */
  async keep(workerId: string, worker: Announcement, who: Principal): Promise<void> {
    const { clock } = this.parts;
    const body = (await this.refuseTaken(workerId, worker.project, who))?.body;
    const isNew = body === undefined || clock.now() - body.seenAt >= SEEN_EVERY_MS;
    if (isNew || String(body.labels) !== String(worker.labels)) await this.put(workerId, worker, who);
  }

  /** Notes that the worker called. Rejects with `UNKNOWN_WORKER`. */
  async seen(workerId: string, who: Principal): Promise<WorkerRecord> {
    const found = await readRecord<WorkerRecord>(this.parts.records, KIND, workerId);
    if (found === undefined || !isVisible(found, who)) {
      throw new NebulaError('UNKNOWN_WORKER', `There is no worker '${workerId}'.`, {
        hint: 'Announce it first: POST /api/v1/workers.',
      });
    }
    checkOwner(found, who);
    return await this.touch(found);
  }

  /** Notes that a worker reported on a lease. A worker that was removed, or belongs to others, stays as it is. */
  async reported(workerId: string, { name, isAdmin }: Principal): Promise<void> {
    const found = await readRecord<WorkerRecord>(this.parts.records, KIND, workerId);
    if (found !== undefined && (isAdmin || found.body.owner === name)) await this.touch(found);
  }

  private async touch({ id, body }: Read<WorkerRecord>): Promise<WorkerRecord> {
    const seenAt = this.parts.clock.now();
    if (seenAt - body.seenAt < SEEN_EVERY_MS) return body;
    const record = { ...body, seenAt };
    await this.write(id, record);
    return record;
  }

  async remove(workerId: string, who: Principal): Promise<void> {
    await this.seen(workerId, who);
    await this.parts.records.commit([{ kind: KIND, id: workerId, body: null }]);
  }

  /** The workers of the projects that `who` sees. */
  async list(
    query: { readonly cursor?: string; readonly limit?: number },
    who: Principal,
  ): Promise<AnswerOf<'listWorkers'>> {
    const isShown = (worker: Read<WorkerRecord>): boolean => isVisible(worker, who);
    const { items, next } = await listRecords<WorkerRecord>(this.parts.records, KIND, query, isShown);
    return { items: items.map(({ id, body }) => this.document(id, body)), next };
  }

  document(workerId: string, worker: WorkerRecord): AnswerOf<'beatWorker'> {
    const { project = DEFAULT_PROJECT, labels, actions, registeredAt, seenAt } = worker;
    const { clock, engine } = this.parts;
    return {
      workerId,
      project,
      labels: [...labels],
      actions: [...actions],
      status: isLive(worker, clock.now()) ? 'live' : 'gone',
      running: engine.remote.running(workerId),
      registeredAt: isoTime(registeredAt ?? seenAt),
      lastSeenAt: isoTime(seenAt),
    };
  }

  private async write(workerId: string, record: WorkerRecord): Promise<void> {
    const expiresAt = record.seenAt + FORGET_MS;
    await this.parts.records.commit([{ kind: KIND, id: workerId, body: JSON.stringify(record), expiresAt }]);
  }
}

export function isLive({ seenAt }: WorkerRecord, now: number): boolean {
  return now - seenAt < LIVE_MS;
}

/** The project of a worker that names none. */
export function onlyProjectOf(who: Principal): string {
  return onlyProject(who, 'operator', 'This key may work', 'Send `project`; `nebula worker --project NAME`.');
}

/** Records without a project, from before projects existed, belong to the default one. */
function projectOf({ body }: Read<WorkerRecord>): string {
  return body.project ?? DEFAULT_PROJECT;
}

function isVisible(worker: Read<WorkerRecord>, who: Principal): boolean {
  return visibleProjects(who)?.includes(projectOf(worker)) ?? true;
}

/** Returns whether `who` may register the worker again in the project. */
function mayUse(worker: Read<WorkerRecord>, project: string, { name, isAdmin }: Principal): boolean {
  return (isAdmin || worker.body.owner === name) && projectOf(worker) === project;
}

/** Worker ids are unique over all projects. The error does not name the owner of a taken id. */
function taken(workerId: string): NebulaError {
  return new NebulaError('NOT_ALLOWED', `The worker id '${workerId}' is taken.`, {
    hint: 'Choose another workerId, or remove that worker first.',
  });
}

function checkOwner({ id, body }: Read<WorkerRecord>, { name, isAdmin }: Principal): void {
  if (isAdmin || body.owner === name) return;
  throw new NebulaError('NOT_ALLOWED', `The worker '${id}' belongs to another principal.`, {
    hint: 'Choose another workerId.',
  });
}
