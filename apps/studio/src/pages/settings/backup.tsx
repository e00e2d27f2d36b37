/** A backup of all data, as a download. */
import { type ReactElement, useState } from 'react';
import { api, failureOf } from '../../data/api.ts';
import { useFormat, useText } from '../../text/use-text.ts';
import { Button } from '../../ui/controls.tsx';
import { notify } from '../../ui/notices.ts';
import { backupText } from './backup-text.ts';

const NAME = 'nebula-backup.tar';
const REPORT_BYTES = 1_000_000;

export function Backup(): ReactElement {
  const words = useText(backupText);
  const format = useFormat();
  /** Null: none is under way. */
  const [received, setReceived] = useState<number | null>(null);
  const download = async (): Promise<void> => {
    setReceived(0);
    try {
      const size = await saveBackup(setReceived);
      notify({ kind: 'done', message: words.done(format.bytes(size)) });
    } catch (error) {
      notify({ kind: 'failure', ...failureOf(error) });
    } finally {
      setReceived(null);
    }
  };
  return (
    <div className="settings-form">
      <p>{words.what}</p>
      <p className="muted">{words.key}</p>
      <div className="backup-action">
        <Button kind="primary" icon="download" isBusy={received !== null} onClick={() => void download()}>
          {words.download}
        </Button>
        {received !== null && (
          <span className="muted" role="status">
            {words.received(format.bytes(received))}
          </span>
        )}
      </div>
      <p className="muted">{words.restore}</p>
      <pre className="command">npx nebula restore {NAME}</pre>
    </div>
  );
}

/** Returns the number of bytes. The archive is in memory until it is complete: a part of one must not be saved. */
async function saveBackup(onBytes: (count: number) => void): Promise<number> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  let reported = 0;
  for await (const piece of await api.backup()) {
    pieces.push(new Uint8Array(piece));
    size += piece.length;
    if (size - reported < REPORT_BYTES) continue;
    reported = size;
    onBytes(size);
  }
  const url = URL.createObjectURL(new Blob(pieces, { type: 'application/x-tar' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = NAME;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return size;
}
