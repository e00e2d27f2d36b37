/** The loop of a side thread: calls in, answers out, in order. A store's calls begin with `open` and end with `close`. */
import { parentPort } from 'node:worker_threads';
import { type Connection, type ConnectionOptions, openConnection } from './connection.ts';
import type { Answer, Call } from './side-thread.ts';

interface Done {
  readonly result: unknown;
  readonly commitMs: number;
}

type Handle = (method: string, args: readonly unknown[]) => Done;

const NOTHING: Done = { result: undefined, commitMs: 0 };

export function serveCalls(handlerFor: (connection: Connection) => Handle): void {
  const port = parentPort;
  if (port === null) throw new Error('invariant broken: a side thread has a parent');
  let connection: Connection | undefined;
  let handle: Handle | undefined;

  const closeConnection = (): void => {
    handle = undefined;
    connection?.close();
    connection = undefined;
  };

  const carryOut: Handle = (method, args) => {
    if (method === 'open') {
      connection = openConnection(args[0] as ConnectionOptions);
      handle = handlerFor(connection);
      return NOTHING;
    }
    if (method === 'close') {
      closeConnection();
      return NOTHING;
    }
    if (handle === undefined) throw new Error('invariant broken: a side thread was opened before it was called');
    return handle(method, args);
  };

  port.on('message', ({ method, args }: Call) => {
    if (method !== 'end') return port.postMessage(answerTo(() => carryOut(method, args)));
    closeConnection();
    // Nothing else keeps the thread's event loop alive.
    port.close();
  });
}

function answerTo(handle: () => Done): Answer {
  try {
    return { ok: true, ...handle() };
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
    return { ok: false, code: String(code ?? 'UNKNOWN'), message: String(message) };
  }
}
