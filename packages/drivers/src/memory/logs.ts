import {
  type FoundLines,
  type LogFilter,
  type LogSearch,
  type Logs,
  MAX_SEARCHED_LINES,
  type StoredLogLine,
} from '@nebula/ports';
import { decodeLine, encodeLine, LogFollowers, rankOf } from '@nebula/ports/rows';

export function memoryLogs(): Logs {
  let lines: StoredLogLine[] = [];
  let position = 0;
  const followers = new LogFollowers();
  const ended = new AbortController();

  const within = (filter: LogFilter): readonly StoredLogLine[] => {
    const { afterPosition = 0, beforePosition = Number.POSITIVE_INFINITY } = filter;
    const found = lines.filter(
      (line) =>
        line.executionId === filter.executionId &&
        line.position > afterPosition &&
        line.position < beforePosition &&
        (filter.node === undefined || line.node === filter.node) &&
        rankOf(line.level) >= rankOf(filter.minLevel ?? 'debug'),
    );
    return filter.order === 'newest' ? found.reverse() : found;
  };

  const read = async (filter: LogFilter): Promise<readonly StoredLogLine[]> => within(filter).slice(0, filter.limit);

  const search = async ({ text, ...filter }: LogSearch): Promise<FoundLines> => {
    const examined = within(filter).slice(0, MAX_SEARCHED_LINES);
    const wanted = text.toLowerCase();
    const found = examined.filter(({ message }) => message.toLowerCase().includes(wanted)).slice(0, filter.limit);
    const isWhole = found.length < filter.limit && examined.length < MAX_SEARCHED_LINES;
    const lastOne = found.length < filter.limit ? examined.at(-1) : found.at(-1);
    return { lines: found, last: isWhole ? null : (lastOne?.position ?? null) };
  };

  return {
    append(line) {
      if (ended.signal.aborted) return;
      const encoded = encodeLine(line);
      lines.push(decodeLine(encoded, ++position));
      followers.announce(encoded);
    },
    async flush() {},
    read,
    search,
    follow: (filter, signal) => followers.follow(filter, AbortSignal.any([signal, ended.signal]), read),
    async deleteExecution(executionId) {
      lines = lines.filter((line) => line.executionId !== executionId);
    },
    async close() {
      ended.abort();
    },
  };
}
