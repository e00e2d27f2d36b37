/**
 * The hot path: frames of many executions into one transaction.
 *
 *  1. Runs inside a transaction that its caller began. The caller calls `forget` whenever the database may have changed
 *     otherwise: another connection wrote, or the transaction was rolled back.
 *  2. So the cached number and newest seq of an execution are true, and a conflict is found without asking SQLite.
 *  3. `position` is the highest number of any frame or execution, deleted ones included.
 *  4. Accepted frames wait in `#rows` until `flush`, which must be called before the commit.
 *
 * A frame without a change of status or wake time touches the table `frames` only. Rows go in eight to a statement:
 * 2.1 µs per row against 2.9 one by one.
 */
import type { ExecutionId } from '@nebula/core';
import {
  DEFAULT_PROJECT,
  type PermitHolder,
  type StatusChange,
  type StoredError,
  type Write,
  type WriteOutcome,
} from '@nebula/ports';
import type { Statement } from 'better-sqlite3';
import type { Connection } from './connection.ts';

interface Known {
  readonly number: number;
  head: number;
}

const MAX_KNOWN = 20_000;
const ROWS_PER_STATEMENT = 8;
const COLUMNS_PER_ROW = 5;
const VALUES_PER_STATEMENT = ROWS_PER_STATEMENT * COLUMNS_PER_ROW;

const ACCEPTED: WriteOutcome = { ok: true };
const REFUSED: WriteOutcome = { ok: false };
const GONE: WriteOutcome = { ok: false, isGone: true };
const NO_ERROR: Partial<StoredError> = {};
const PENDING: StatusChange = { status: 'pending', finishedAt: null, expiresAt: null };

export class Appender {
  readonly #find: Statement<[string], Known>;
  readonly #newest: Statement<[], number>;
  readonly #create: Statement<unknown[]>;
  readonly #isDeleted: Statement<[number, string]>;
  readonly #insertOne: Statement<unknown[]>;
  readonly #insertMany: Statement<unknown[]>;
  readonly #take: Statement<[number, string]>;
  readonly #changeWake: Statement<unknown[]>;
  readonly #changeStatus: Statement<unknown[]>;
  readonly #changeBoth: Statement<unknown[]>;
  readonly #changeVersion: Statement<unknown[]>;
  /** Two generations: a full young one becomes the old one, and entries that were not used since are dropped. */
  #young = new Map<string, Known>();
  #old = new Map<string, Known>();
  #position: number | undefined;
  #rows: unknown[] = [];

  constructor(connection: Connection) {
    this.#find = connection.prepare(
      `SELECT number, coalesce((SELECT max(seq) FROM frames WHERE execution = number), 0) AS head
       FROM executions WHERE execution_id = ?`,
    );
    this.#newest = connection
      .prepare<[], number>(
        `SELECT max((SELECT value FROM meta WHERE key = 'last_position'),
                    coalesce((SELECT max(position) FROM frames), 0),
                    coalesce((SELECT max(number) FROM executions), 0))`,
      )
      .pluck();
    this.#create = connection.prepare(
      `INSERT INTO executions
         (number, execution_id, workflow_id, version, status, created_at, finished_at, wake_at, owner, expires_at, project,
          parent, trigger_type, started_at, error_code, error_node, error_message)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (execution_id) DO NOTHING`,
    );
    this.#isDeleted = connection.prepare('SELECT 1 FROM deleted_children WHERE parent = ? AND execution_id = ?');
    const insert = 'INSERT INTO frames (position, execution, seq, at, entries) VALUES';
    const row = '(?, ?, ?, ?, ?)';
    this.#insertOne = connection.prepare(`${insert} ${row}`);
    this.#insertMany = connection.prepare(`${insert} ${Array(ROWS_PER_STATEMENT).fill(row).join(', ')}`);
    this.#take = connection.prepare('DELETE FROM inbox WHERE execution = ? AND message_id = ?');
    const change = (columns: string): Statement<unknown[]> =>
      connection.prepare(`UPDATE executions SET ${columns} WHERE number = ?`);
    const status = `status = ?, finished_at = ?, expires_at = ?, started_at = coalesce(started_at, ?), error_code = ?,
      error_node = ?, error_message = ?`;
    this.#changeWake = change(`wake_at = ${WAKE_AT}`);
    this.#changeStatus = change(status);
    this.#changeVersion = change('version = ?');
    this.#changeBoth = change(`${status}, wake_at = ${WAKE_AT}`);
  }

  forget(executionId?: ExecutionId): void {
    if (executionId === undefined) {
      this.#young.clear();
      this.#old.clear();
      this.#position = undefined;
      this.#rows = [];
    } else {
      this.#young.delete(executionId);
      this.#old.delete(executionId);
    }
  }

  /** The highest number given so far. */
  position(): number {
    this.#position ??= this.#newest.get() as number;
    return this.#position;
  }

  /** `heldBy`: the holder of a permit that the write requires. */
  write(write: Write, heldBy?: PermitHolder): WriteOutcome {
    const { frame } = write;
    const known = this.#known(write.executionId);
    if (write.create !== undefined) return known === undefined ? this.#createWith(write, heldBy) : REFUSED;
    if (known === undefined) return REFUSED;
    if (frame !== undefined && frame.seq !== known.head + 1) return REFUSED;
    if (heldBy !== undefined) return { ok: false, heldBy };
    if (frame !== undefined) {
      known.head = frame.seq;
      const position = this.position() + 1;
      this.#position = position;
      this.#rows.push(position, known.number, frame.seq, frame.at, frame.entries);
    }
    // Messages are deleted before the row is written, because its wake time depends on the remaining ones.
    if (write.taken !== undefined) for (const messageId of write.taken) this.#take.run(known.number, messageId);
    this.#changeRow(known.number, write);
    return ACCEPTED;
  }

  flush(): void {
    const rows = this.#rows;
    const inMany = rows.length - (rows.length % VALUES_PER_STATEMENT);
    for (let from = 0; from < inMany; from += VALUES_PER_STATEMENT) {
      this.#insertMany.run(rows.slice(from, from + VALUES_PER_STATEMENT));
    }
    for (let from = inMany; from < rows.length; from += COLUMNS_PER_ROW) {
      this.#insertOne.run(rows[from], rows[from + 1], rows[from + 2], rows[from + 3], rows[from + 4]);
    }
    this.#rows = [];
  }

  #createWith(write: Write, heldBy: PermitHolder | undefined): WriteOutcome {
    const { executionId, create, frame } = write;
    if (create === undefined || (frame !== undefined && frame.seq !== 1)) return REFUSED;
    const parent = create.parent === undefined ? null : this.#parentOf(executionId, create.parent);
    if (parent === 'gone') return GONE;
    if (heldBy !== undefined) return { ok: false, heldBy };
    const number = this.position() + 1;
    const { wakeAt = null } = write;
    const { status, finishedAt, expiresAt, startedAt = null, error } = write.status ?? PENDING;
    const { workflowId, version, createdAt, owner, project = DEFAULT_PROJECT, trigger = null } = create;
    const { changes } = this.#create.run(
      number,
      executionId,
      workflowId,
      version,
      status,
      createdAt,
      finishedAt,
      wakeAt,
      owner,
      expiresAt,
      project,
      parent,
      trigger,
      startedAt,
      error?.code ?? null,
      error?.node ?? null,
      error?.message ?? null,
    );
    if (changes === 0) return REFUSED;
    this.#position = number;
    if (frame !== undefined) this.#rows.push(number, number, 1, frame.at, frame.entries);
    this.#remember(executionId, { number, head: frame === undefined ? 0 : 1 });
    return ACCEPTED;
  }

  /** The number of the parent of a child that is to be created; `gone` if the child or the parent was deleted. */
  #parentOf(executionId: ExecutionId, parentId: ExecutionId): number | 'gone' {
    const parent = this.#known(parentId);
    if (parent === undefined || this.#isDeleted.get(parent.number, executionId) !== undefined) return 'gone';
    return parent.number;
  }

  #known(executionId: ExecutionId): Known | undefined {
    const young = this.#young.get(executionId);
    if (young !== undefined) return young;
    const known = this.#old.get(executionId) ?? this.#find.get(executionId);
    if (known !== undefined) this.#remember(executionId, known);
    return known;
  }

  #remember(executionId: ExecutionId, known: Known): void {
    if (this.#young.size >= MAX_KNOWN) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(executionId, known);
  }

  #changeRow(number: number, write: Write): void {
    const { status: change, wakeAt, version } = write;
    if (version !== undefined) this.#changeVersion.run(version, number);
    if (change === undefined) {
      if (wakeAt !== undefined) this.#changeWake.run(wakeAt, number);
      return;
    }
    const { status, finishedAt, expiresAt, startedAt = null, error } = change;
    const { code = null, node = null, message = null } = error ?? NO_ERROR;
    if (wakeAt === undefined) {
      this.#changeStatus.run(status, finishedAt, expiresAt, startedAt, code, node, message, number);
    } else {
      this.#changeBoth.run(status, finishedAt, expiresAt, startedAt, code, node, message, wakeAt, number);
    }
  }
}

/** The given wake time; while messages wait, the earlier of old and new, so that their wake-up is not lost. */
const WAKE_AT = `(
  SELECT CASE WHEN EXISTS (SELECT 1 FROM inbox WHERE execution = executions.number)
              THEN coalesce(min(executions.wake_at, given), executions.wake_at, given) ELSE given END
  FROM (SELECT ? AS given))`;
