/** The reference driver of records: the shortest one that keeps every guarantee of the port. */
import type { Clock, CommitOutcome, RecordChange, RecordPage, RecordRow, Records } from '@nebula/ports';
import { byCodePoints } from '@nebula/ports/rows';

/** The data, which outlives its drivers as a disk outlives its processes. */
export interface MemoryRecordsData {
  /** Records by kind, then by id. */
  readonly kinds: Map<string, Map<string, RecordRow>>;
  /** The revision of the last commit. */
  revision: number;
}

export function memoryRecordsData(): MemoryRecordsData {
  return { kinds: new Map(), revision: 0 };
}

export interface MemoryRecordsOptions {
  readonly clock: Clock;
  readonly data?: MemoryRecordsData;
}

export function memoryRecords({ clock, data = memoryRecordsData() }: MemoryRecordsOptions): Records {
  return new MemoryRecords(clock, data);
}

class MemoryRecords implements Records {
  readonly #clock: Clock;
  readonly #data: MemoryRecordsData;

  constructor(clock: Clock, data: MemoryRecordsData) {
    this.#clock = clock;
    this.#data = data;
  }

  async get(kind: string, id: string): Promise<RecordRow | undefined> {
    return this.#there(kind, id);
  }

  async list(kind: string, { prefix = '', after, order, limit }: RecordPage): Promise<readonly RecordRow[]> {
    const now = this.#clock.now();
    const sign = order === 'descending' ? -1 : 1;
    return [...(this.#data.kinds.get(kind)?.values() ?? [])]
      .filter((row) => !isExpired(row, now) && row.id.startsWith(prefix))
      .filter((row) => after === undefined || sign * byCodePoints(row.id, after) > 0)
      .sort((a, b) => sign * byCodePoints(a.id, b.id))
      .slice(0, Math.max(0, limit));
  }

  async commit(changes: readonly RecordChange[]): Promise<CommitOutcome> {
    for (const { kind, id, expected } of changes) {
      const revision = this.#there(kind, id)?.revision ?? 0;
      if (expected !== undefined && expected !== revision) return { ok: false, kind, id, revision };
    }
    const revision = ++this.#data.revision;
    const updatedAt = this.#clock.now();
    for (const { kind, id, body, expiresAt = null } of changes) {
      const rows = this.#data.kinds.get(kind) ?? new Map<string, RecordRow>();
      this.#data.kinds.set(kind, rows);
      if (body === null) rows.delete(id);
      else rows.set(id, { kind, id, body, revision, updatedAt, expiresAt });
    }
    return { ok: true, revision };
  }

  async purge(now: number, limit: number): Promise<number> {
    const gone = [...this.#data.kinds.values()]
      .flatMap((rows) => [...rows.values()].filter((row) => isExpired(row, now)))
      .sort((a, b) => (a.expiresAt as number) - (b.expiresAt as number))
      .slice(0, Math.max(0, limit));
    for (const { kind, id } of gone) this.#data.kinds.get(kind)?.delete(id);
    return gone.length;
  }

  #there(kind: string, id: string): RecordRow | undefined {
    const row = this.#data.kinds.get(kind)?.get(id);
    return row === undefined || isExpired(row, this.#clock.now()) ? undefined : row;
  }
}

function isExpired({ expiresAt }: RecordRow, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}
