/** Finds values that a journal names and that are gone, in a store that nobody else uses: a restored copy. */
import { valuesIn } from '@nebula/core/run';
import { FEED_START, type Journal } from '@nebula/ports';
import { decodeFrame } from '../turn/codec.ts';

const PAGE_FRAMES = 500;

export interface MissingBlob {
  readonly executionId: string;
  readonly sha256: string;
}

/** `has`: whether there is such a blob. Each missing one is returned once. */
export async function missingBlobs(
  store: Pick<Journal, 'feed'>,
  has: (executionId: string, sha256: string) => boolean,
): Promise<readonly MissingBlob[]> {
  const missing = new Map<string, MissingBlob>();
  for (let after = FEED_START; ; ) {
    const rows = await store.feed({ after, limit: PAGE_FRAMES });
    for (const row of rows) {
      after = row.position;
      for (const { blob } of decodeFrame(row).entries.flatMap(valuesIn)) {
        if (blob === undefined || has(row.executionId, blob.sha256)) continue;
        missing.set(`${row.executionId}/${blob.sha256}`, { executionId: row.executionId, sha256: blob.sha256 });
      }
    }
    if (rows.length < PAGE_FRAMES) return [...missing.values()];
  }
}
