/** What the parts of the store's suite share: the subject under test, and short ways to write rows. */
import { test } from 'vitest';
import type { Store, Write, WriteOutcome } from '../store.ts';

export interface StoreSubject {
  readonly store: Store;
  /** Closes the store and opens its data again, as a new process would. */
  readonly reopen?: () => Promise<Store>;
  /** Another store on the same data, as another process beside this one would have it; it never appends. */
  readonly beside?: () => Promise<Store>;
  /** Closes whatever is open and removes the data. */
  readonly close: () => Promise<void>;
}

export type OpenStore = () => Promise<StoreSubject>;

export type StoreTest = (title: string, body: (subject: StoreSubject) => Promise<void>) => void;

/** A test that has a fresh store and always closes it. */
export function storeTests(open: OpenStore): StoreTest {
  return (title, body) =>
    test(title, { timeout: 60_000 }, async () => {
      const subject = await open();
      try {
        await body(subject);
      } finally {
        await subject.close();
      }
    });
}

/** The first write of an execution, with its first frame. */
export function creating(executionId: string, more: Partial<Write> = {}): Write {
  return {
    executionId,
    create: { workflowId: 'orders', version: 1, createdAt: 1_000, owner: 'worker-1' },
    frame: { seq: 1, at: 1_000, entries: `["${executionId} began"]` },
    status: 'running',
    ...more,
  };
}

export function framed(executionId: string, seq: number, more: Partial<Write> = {}): Write {
  return { executionId, frame: { seq, at: 1_000 + seq, entries: `["${seq}"]` }, ...more };
}

/** Puts an execution into the store: created and, where `status` is a final one, finished. */
export async function put(store: Store, executionId: string, more: Partial<Write> = {}): Promise<void> {
  const outcomes = await store.append([creating(executionId, more)]);
  if (outcomes[0]?.ok !== true) throw new Error(`could not create ${executionId}`);
}

/** True and false, write by write. */
export function accepted(outcomes: readonly WriteOutcome[]): readonly boolean[] {
  return outcomes.map((outcome) => outcome.ok);
}

/** Positions of the accepted writes. */
export function positions(outcomes: readonly WriteOutcome[]): readonly number[] {
  return outcomes.flatMap((outcome) => (outcome.ok ? [outcome.position] : []));
}

export async function seqs(store: Store, executionId: string, afterSeq = 0): Promise<readonly number[]> {
  return (await store.frames(executionId, afterSeq)).map((frame) => frame.seq);
}
