/** A fork: a new run with the journal of another one, replayed from a node. */
import type { Entry } from '@nebula/core';
import { type RunState, valuesIn } from '@nebula/core/run';
import type { Blobs, Clock, Journal, Random } from '@nebula/ports';
import { decodeFrame, encodeEntries } from '../turn/codec.ts';
import { encodeMessage, type Message } from '../turn/messages.ts';

export interface Fork {
  readonly forkId: string;
  readonly project: string;
  readonly principal: string | undefined;
}

export async function copyRun(
  { store, blobs, random, clock }: { store: Journal; blobs: Blobs; random: Random; clock: Clock },
  { executionId, phase: { status }, plan: { workflowId, version } }: RunState,
  { forkId, project, principal }: Fork,
  replay: Message,
): Promise<void> {
  const now = clock.now();
  const frames = (await store.frames(executionId, 0)).map(decodeFrame);
  const entries = frames.flatMap((frame) => frame.entries).map((entry) => withoutLinks(entry, principal));
  // The blobs are written before the journal that names them.
  for (const { blob } of entries.flatMap(valuesIn)) {
    if (blob === undefined) continue;
    const data = await blobs.get(executionId, blob.sha256);
    if (data !== undefined) await blobs.put(forkId, blob.sha256, data);
  }
  await store.append([
    {
      executionId: forkId,
      create: { project, workflowId, version, createdAt: now, owner: null },
      frame: { seq: 1, at: now, entries: encodeEntries(entries) },
      status: { status, finishedAt: now, expiresAt: null },
      // The replay is part of the same write, so that no copy is left without it.
      sends: [{ messageId: random.id('msg'), executionId: forkId, body: encodeMessage(replay), wakeAt: now }],
    },
  ]);
}

/**
 * A fork has no parent, trace, start key or concurrency slot, and none of the children of the run that it copies. It
 * has the ceiling of that run, which the replay narrows, and the principal that forks.
 */
function withoutLinks(entry: Entry, principal: string | undefined): Entry {
  if (entry.type === 'child.requested') return { ...entry, copied: true };
  if (entry.type !== 'run.started') return entry;
  const { parent: _, key: __, traceparent: ___, place: ____, authority, ...rest } = entry;
  if (authority === undefined) return rest;
  return { ...rest, authority: { ...(principal !== undefined && { principal }), ceiling: authority.ceiling } };
}
