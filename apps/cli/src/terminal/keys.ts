/** Single keys, where somebody sits at a terminal. While they are listened to, Ctrl-C is a key like the others. */

export const CTRL_C = '\x03';

/** Until the returned function is called; where nobody sits, nothing happens. */
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
