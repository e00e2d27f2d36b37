import type { LogFilter, Logs, StoredLogLine } from '@nebula/ports';
import { decodeLine, encodeLine, followLines, News, rankOf } from '@nebula/ports/rows';

export function memoryLogs(): Logs {
  let lines: StoredLogLine[] = [];
  let position = 0;
  const news = new News();
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
      lines.push(decodeLine(encodeLine(line), ++position));
      news.announce();
    },
    async flush() {},
    read,
    follow: (filter, signal) => followLines(filter, AbortSignal.any([signal, ended.signal]), news, read),
    async deleteExecution(executionId) {
      lines = lines.filter((line) => line.executionId !== executionId);
    },
    async close() {
      ended.abort();
    },
  };
}
