/** Long reads on a thread and a connection of their own: statistics, and searches in logs. Imports little, to start quickly. */
import type { LogSearch, StatisticsFilter } from '@nebula/ports';
import { searchedLines } from './log-search.ts';
import { serveCalls } from './serve-calls.ts';
import { Statements } from './statements.ts';
import { statisticsOf } from './statistics.ts';

serveCalls((connection) => {
  const statements = new Statements(connection);
  return (method, args) => {
    const result =
      method === 'statistics'
        ? statisticsOf(statements, args[0] as StatisticsFilter)
        : searchedLines(statements, args[0] as LogSearch);
    return { result, commitMs: 0 };
  };
});
