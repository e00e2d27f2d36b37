/** Reads single keys from a terminal. In raw mode Ctrl-C is a key like the others. */

export const CTRL_C = '\x03';

/** Listens until the returned function is called. Does nothing when stdin is not a terminal. */
export function listenForKeys(onKey: (key: string) => void): () => void {
  const { stdin } = process;
  if (stdin.isTTY !== true) return () => undefined;
  const listener = (chunk: Buffer): void => {
    for (const key of chunk.toString('utf8')) onKey(key);
  };
  const restore = (): void => {
    stdin.setRawMode(false);
  };
  stdin.setRawMode(true);
  stdin.on('data', listener);
  process.on('exit', restore);
  return () => {
    process.off('exit', restore);
    stdin.off('data', listener);
    restore();
    stdin.pause();
  };
}
