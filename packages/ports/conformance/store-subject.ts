/** The subject of the store's suites, and short ways to write rows. */

import type {
  CacheRow,
  ExecutionFilter,
  ExecutionStatus,
  Position,
  StatusChange,
  Store,
  Write,
  WriteOutcome,
} from '@nebula/ports';
import { describe, test } from 'vitest';

export interface StoreSubject {
  readonly store: Store;
  /** Closes the store and opens its data again, as a new process would. */
  readonly reopen?: () => Promise<Store>;
  /** Another store on the same data, as another process has it; it never appends. */
  readonly beside?: () => Promise<Store>;
  /** Closes every store and removes the data. */
  readonly close: () => Promise<void>;
}

export type OpenStore = () => Promise<StoreSubject>;

type StoreTest = (title: string, body: (subject: StoreSubject) => Promise<void>) => void;

/** The suite of one port. Every test has a fresh store, which is closed in the end. */
export function portSuite(port: string, define: (test: StoreTest) => void): (name: string, open: OpenStore) => void {
  return (name, open) =>
    describe(`${port} contract: ${name}`, () =>
      define((title, body) =>
        test(title, { timeout: 60_000 }, async () => {
          const subject = await open();
          try {
            await body(subject);
          } finally {
            await subject.close();
          }
        }),
      ));
}

/** A write whose status is flat, for short tests. */
export interface Parts extends Omit<Partial<Write>, 'executionId' | 'status'>, Partial<StatusChange> {}

/** The first write of an execution, with its first frame. */
export function creating(executionId: string, parts: Parts = {}): Write {
  return {
    create: { workflowId: 'orders', version: 1, createdAt: 1_000, owner: 'worker-1' },
    frame: { seq: 1, at: 1_000, entries: `["${executionId} began"]` },
    ...writing(executionId, { status: 'running', ...parts }),
  };
}

export function framed(executionId: string, seq: number, parts: Parts = {}): Write {
  return { frame: { seq, at: 1_000 + seq, entries: `["${seq}"]` }, ...writing(executionId, parts) };
}

/** A write that only changes the status. */
export function changing(executionId: string, status: ExecutionStatus): Write {
  return writing(executionId, { status });
}

function writing(executionId: string, { status, finishedAt = null, expiresAt = null, ...parts }: Parts): Write {
  return { executionId, ...parts, ...(status !== undefined && { status: { status, finishedAt, expiresAt } }) };
}

export async function put(store: Store, executionId: string, parts: Parts = {}): Promise<void> {
  const outcomes = await store.append([creating(executionId, parts)]);
  if (outcomes[0]?.ok !== true) throw new Error(`could not create ${executionId}`);
}

/** True and false, write by write. */
export function accepted(outcomes: readonly WriteOutcome[]): readonly boolean[] {
  return outcomes.map((outcome) => outcome.ok);
}

export async function positions(store: Store, executionId: string): Promise<readonly Position[]> {
  return (await store.frames(executionId, 0)).map((frame) => frame.position);
}

export async function seqs(store: Store, executionId: string, afterSeq = 0): Promise<readonly number[]> {
  return (await store.frames(executionId, afterSeq)).map((frame) => frame.seq);
}

/** The bodies of the messages that wait for an execution. */
export async function bodies(store: Store, executionId: string): Promise<string[]> {
  return (await store.inbox(executionId)).map(({ body }) => body);
}

/** The ids of all pages of a list. */
export async function listed(store: Store, filter: ExecutionFilter): Promise<readonly string[]> {
  const seen: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const { rows, next } = await store.list({ ...filter, ...(cursor === undefined ? {} : { cursor }) });
    if (rows.length > filter.limit) throw new Error(`${rows.length} rows on a page of ${filter.limit}`);
    seen.push(...rows.map((row) => row.executionId));
    if (next === null) return seen;
    cursor = next;
  }
}

export function outputRow(key: string, more: Partial<CacheRow> = {}): CacheRow {
  return { key, family: 'f', input: '{}', output: '1', executionId: 'a', node: 'n', at: 1, expiresAt: null, ...more };
}
