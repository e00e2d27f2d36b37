import type { LogFilter, Logs, StoredLogLine } from '@nebula/ports';
import { decodeLine, encodeLine, LogFollowers, rankOf } from '@nebula/ports/rows';

export function memoryLogs(): Logs {
  let lines: StoredLogLine[] = [];
  let position = 0;
  const followers = new LogFollowers();
  const ended = new AbortController();

  const read = async (filter: LogFilter): Promise<readonly StoredLogLine[]> =>
    lines
      .filter(
        (line) =>
          line.executionId === filter.executionId &&
          line.position > (filter.afterPosition ?? 0) &&
          (filter.node === undefined || line.node === filter.node) &&
          rankOf(line.level) >= rankOf(filter.minLevel ?? 'debug'),
      )
      .slice(0, filter.limit);

  return {
    append(line) {
      if (ended.signal.aborted) return;
      const encoded = encodeLine(line);
      lines.push(decodeLine(encoded, ++position));
      followers.announce(encoded);
    },
    async flush() {},
    read,
    follow: (filter, signal) => followers.follow(filter, AbortSignal.any([signal, ended.signal]), read),
    async deleteExecution(executionId) {
      lines = lines.filter((line) => line.executionId !== executionId);
    },
    async close() {
      ended.abort();
    },
  };
}
