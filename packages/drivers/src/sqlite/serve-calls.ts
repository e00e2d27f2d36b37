/** The loop of a side thread: calls in, answers out, in order. */
import { parentPort } from 'node:worker_threads';
import type { Connection } from './connection.ts';
import type { Answer, Call } from './side-thread.ts';

export function serveCalls(
  connection: Connection,
  handle: (method: string, args: readonly unknown[]) => { readonly result: unknown; readonly commitMs: number },
): void {
  const port = parentPort;
  if (port === null) throw new Error('invariant broken: a side thread has a parent');
  port.on('message', ({ method, args }: Call) => {
    if (method === 'close') {
      connection.close();
      port.close();
    } else {
      port.postMessage(answerTo(() => handle(method, args)));
    }
  });
}

function answerTo(handle: () => { readonly result: unknown; readonly commitMs: number }): Answer {
  try {
    return { ok: true, ...handle() };
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
    return { ok: false, code: String(code ?? 'UNKNOWN'), message: String(message) };
  }
}
