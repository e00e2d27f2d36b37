/**
 * Actions run in this process and may print. Their output must neither break the document of `--json` nor tear the live
 * tree, so both streams are captured while an engine runs.
 */

/** Passes foreign output to `onLine`, line by line, until the returned function is called. */
export function captureForeignOutput(onLine: (line: string) => void): () => void {
  const streams = [process.stdout, process.stderr];
  const originals = streams.map((stream) => stream.write);
  let rest = '';
  const take = (chunk: Uint8Array | string, encodingOrDone?: unknown, done?: unknown): boolean => {
    const lines = (rest + (typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8'))).split('\n');
    rest = lines.pop() as string;
    for (const line of lines) onLine(line);
    const callback = typeof encodingOrDone === 'function' ? encodingOrDone : done;
    if (typeof callback === 'function') queueMicrotask(() => callback());
    return true;
  };
  for (const stream of streams) stream.write = take as typeof stream.write;
  return () => {
    streams.forEach((stream, index) => {
      stream.write = originals[index] as typeof stream.write;
    });
    if (rest !== '') onLine(rest);
    rest = '';
  };
}
