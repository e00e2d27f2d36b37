/**
 * The commits of a record: the database after each of them, as it is when nothing is lost, and the facts that are in it.
 *
 *  1. A commit is complete when the last frame of its transaction is in the write-ahead log.
 *  2. The content of a database file after recovery and a full checkpoint depends on its commits alone. So a rebuilt state
 *     is that of a commit exactly if its file has the same bytes.
 */
import path from 'node:path';
import Database from 'better-sqlite3';
import { Disk } from './disk.ts';
import { fileHash } from './image.ts';
import { fact, type Mark } from './marks.ts';
import { Promises } from './promises.ts';
import { RebuiltFolder } from './rebuilt.ts';
import type { Operation } from './recording.ts';
import { recover } from './recover.ts';
import { DATA_FOLDER, DATABASE } from './workload-options.ts';

const DATABASE_FILE = path.join(DATA_FOLDER, DATABASE);
const FRAME_HEADER_BYTES = 24;
/** The place, in the header of a frame, of the size of the database after a commit: 0 if the frame ends none. */
const COMMIT_SIZE_AT = 4;

export interface Reference {
  /** First and last number of the commits after which the database has this content. */
  readonly commits: ReadonlyMap<string, { readonly first: number; readonly last: number }>;
  /** The number of the first commit that has a fact. */
  readonly factCommit: ReadonlyMap<string, number>;
  /** For each commit, the number of operations after which it is complete. */
  readonly completeAt: readonly number[];
  /** Promises and blobs that do not fit the commits. */
  readonly failures: readonly string[];
}

export async function referenceOf(operations: readonly Operation[], scratch: string): Promise<Reference> {
  const disk = new Disk();
  const promises = new Promises();
  const rebuilt = new RebuiltFolder(scratch);
  const reader = new FactReader();
  const commits = new Map<string, { first: number; last: number }>();
  const completeAt: number[] = [];
  const failures: string[] = [];
  const note = async (count: number): Promise<void> => {
    const kept = new Map(disk.pending().map((pending) => [pending, 'all' as const]));
    rebuilt.write(disk.files({ kept, grown: new Set() }));
    await recover(path.join(rebuilt.folder, DATA_FOLDER));
    const file = path.join(rebuilt.folder, DATABASE_FILE);
    const hash = fileHash(file);
    const number = completeAt.length;
    completeAt.push(count);
    commits.set(hash, { first: commits.get(hash)?.first ?? number, last: number });
    for (const blob of reader.read(file, number)) {
      if (!promises.blobs.has(blob)) failures.push(`commit ${number} names the blob ${blob}, which was not put before`);
    }
    rebuilt.used(DATA_FOLDER);
  };
  let endsCommit = false;
  for (const [index, operation] of operations.entries()) {
    disk.apply(operation);
    if (operation.kind === 'mark') promises.apply(JSON.parse(operation.text) as Mark);
    if (operation.kind === 'rename' && operation.to === DATABASE_FILE) await note(index + 1);
    if (operation.kind !== 'write' || !disk.isAt(operation.inode, `${DATABASE_FILE}-wal`)) continue;
    if (operation.data.length === FRAME_HEADER_BYTES) endsCommit = operation.data.readUInt32BE(COMMIT_SIZE_AT) !== 0;
    else if (endsCommit) {
      endsCommit = false;
      await note(index + 1);
    }
  }
  for (const promised of promises.facts) {
    if (!reader.factCommit.has(promised)) failures.push(`no commit has what was promised: ${promised}`);
  }
  return { commits, factCommit: reader.factCommit, completeAt, failures };
}

/** Reads the tables after each commit, and remembers the first one that has a fact. */
class FactReader {
  readonly factCommit = new Map<string, number>();
  #position = 0;
  #line = 0;
  #runs = new Set<string>();

  /** Returns the blobs that new frames name. */
  read(file: string, commit: number): string[] {
    const database = new Database(file, { readonly: true });
    try {
      if (database.pragma('integrity_check', { simple: true }) !== 'ok') throw new Error(`commit ${commit} is damaged`);
      return this.#read(database, commit);
    } finally {
      database.close();
    }
  }

  #read(database: Database.Database, commit: number): string[] {
    const all = <Row>(sql: string, ...values: unknown[]): Row[] => database.prepare(sql).all(...values) as Row[];
    const add = (text: string): void => {
      if (!this.factCommit.has(text)) this.factCommit.set(text, commit);
    };
    const blobs: string[] = [];
    const frames = all<{ position: number; id: string; seq: number; entries: string }>(
      `SELECT position, execution_id AS id, seq, entries FROM frames JOIN executions ON number = execution
       WHERE position > ? ORDER BY position`,
      this.#position,
    );
    for (const { position, id, seq, entries } of frames) {
      this.#position = position;
      add(fact.frame(id, seq, entries));
      for (const [, sha256] of entries.matchAll(/"sha256":"([0-9a-f]{64})"/g)) blobs.push(`${id}/${sha256}`);
    }
    const lines = all<{ position: number; id: string; message: string }>(
      'SELECT position, execution_id AS id, message FROM logs WHERE position > ? ORDER BY position',
      this.#line,
    );
    for (const { position, id, message } of lines) {
      this.#line = position;
      add(fact.line(id, message));
    }
    const runs = new Set(all<{ id: string }>('SELECT execution_id AS id FROM executions').map(({ id }) => id));
    for (const id of runs) add(fact.run(id));
    for (const id of this.#runs) if (!runs.has(id)) add(fact.deleted(id));
    this.#runs = runs;
    const messages = `SELECT execution_id AS id, message_id AS message FROM inbox JOIN executions ON number = execution`;
    for (const { id, message } of all<{ id: string; message: string }>(messages)) {
      add(fact.message(id, message));
      add(fact.signal(message));
    }
    for (const { message } of all<{ message: string }>('SELECT message_id AS message FROM signals')) {
      add(fact.signal(message));
    }
    const snapshots = 'SELECT execution_id AS id, seq FROM snapshots JOIN executions ON number = execution';
    for (const { id, seq } of all<{ id: string; seq: number }>(snapshots)) add(fact.snapshot(id, seq));
    for (const row of all<{ id: string; version: number; hash: string }>(
      'SELECT workflow_id AS id, version, hash FROM workflow_versions',
    )) {
      add(fact.workflow(row.id, row.version, row.hash));
    }
    for (const { worker, until } of all<{ worker: string; until: number }>(
      'SELECT worker, expires_at AS until FROM workers',
    )) {
      add(fact.lease(worker, until));
    }
    for (const row of all<{ kind: string; id: string; revision: number; body: string }>('SELECT * FROM records')) {
      add(fact.record(row.kind, row.id, row.revision, row.body));
    }
    for (const { key, at } of all<{ key: string; at: number }>('SELECT key, at FROM cache')) add(fact.cached(key, at));
    return blobs;
  }
}
