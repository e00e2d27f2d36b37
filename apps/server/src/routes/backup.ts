/** The backup of all data as a download. */
import { Readable } from 'node:stream';
import { NebulaError } from '@nebula/core';
import type { Clock } from '@nebula/ports';
import { type Handlers, ok } from '../http/handler.ts';
import { BACKUP_LIMITS } from '../limits.ts';
import type { Parts } from '../parts.ts';

export function backupRoutes({ backups, clock }: Parts): Pick<Handlers, 'createBackup'> {
  return {
    async createBackup({ body, isLocal, signal }) {
      if (backups === undefined) throw unsupported();
      const withKey = body.withKey === true;
      // Administrators cannot read secrets over HTTP. With the key they could.
      if (withKey && isLocal !== true) throw keyNotAllowed();
      const bytes = backups.create({ withKey })[Symbol.asyncIterator]();
      const stop = (): void => void bytes.return?.();
      signal.addEventListener('abort', stop, { once: true });
      try {
        // Errors of the beginning are an answer; later ones break the download off.
        const first = await bytes.next();
        const download: Readable = Readable.from(
          paced(first, bytes, clock, () => download.destroy(new Error('the caller has stopped reading'))),
          { objectMode: false },
        );
        return ok(download, { 'content-disposition': 'attachment; filename="nebula-backup.tar"' });
      } finally {
        signal.removeEventListener('abort', stop);
      }
    },
  };
}

/** Calls `giveUp` when the caller takes nothing for too long: blobs are held and other backups wait meanwhile. */
async function* paced(
  first: IteratorResult<Uint8Array>,
  bytes: AsyncIterator<Uint8Array>,
  clock: Clock,
  giveUp: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    for (let next = first; next.done !== true; next = await bytes.next()) {
      const timer = clock.timer(BACKUP_LIMITS.maxStallMs, giveUp, { background: true });
      try {
        yield next.value;
      } finally {
        timer.cancel();
      }
    }
  } finally {
    await bytes.return?.();
  }
}

function unsupported(): NebulaError {
  return new NebulaError(
    'BACKUP_UNSUPPORTED',
    'The data is in drivers of the configuration, which Nebula cannot back up.',
    {
      hint: 'Use the means of those drivers. `nebula backup` copies a data folder with SQLite and files.',
    },
  );
}

function keyNotAllowed(): NebulaError {
  return new NebulaError('NOT_ALLOWED', 'The key of the secrets is not sent over HTTP.', {
    hint: 'Make the backup without it, or on the machine of the data folder.',
  });
}
