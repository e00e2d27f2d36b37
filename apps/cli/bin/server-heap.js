// Limits the young generation of a server's heap. V8 lets it grow with the memory of the machine (128 MB where there are
// 24 GB), and a scavenge then copies all large requests under way at once: it stops the event loop for up to 53 ms, with
// this limit for up to 8 ms. bench/RESULTS.md (H1) has the figures. Plain JavaScript, like nebula.js.

export const SERVER_FLAGS = ['--max-semi-space-size=4'];

/** V8 takes the limit only when a process starts, so this process becomes one that has it. Windows has no `execve`. */
export function limitServerHeap() {
  const isLimited = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].some((flags) => /semi[-_]space/.test(flags));
  const canReplace = process.platform !== 'win32' && process.execve !== undefined && process.channel === undefined;
  if (isLimited || !canReplace) return;
  process.execve(process.execPath, [process.execPath, ...SERVER_FLAGS, ...process.execArgv, ...process.argv.slice(1)]);
}
