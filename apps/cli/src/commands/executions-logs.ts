import type { NebulaClient } from '@nebula/client';
import { NebulaError } from '@nebula/core';
import type { LogLevel, StoredLogLine } from '@nebula/ports';
import { withApi } from '../api.ts';
import { countOption, definedMembers, textOption } from '../command-options.ts';
import { EXIT } from '../exit-code.ts';
import { storedLine } from '../live/followed.ts';
import { runNamed } from '../runs.ts';
import type { Command, CommandOptions } from '../services.ts';
import { listenForInterrupt } from '../terminal/interrupt.ts';
import { jsonDocument, jsonLine } from '../views/json.ts';
import { storedLogLine } from '../views/logs.ts';

const DEFAULT_LIMIT = 10_000;
const PAGE = 10_000;

interface Filter {
  readonly node?: string;
  readonly level: LogLevel;
  readonly limit: number;
  readonly search?: string;
}

type Show = (line: StoredLogLine) => void;

export const execute: Command = (call, [executionId = '']) =>
  withApi(call, 'read', async (open) => {
    const { io, options } = call;
    await runNamed(open, executionId);
    const filter = filterOf(options);
    if (options.follow === true && filter.search !== undefined) {
      throw new NebulaError('USAGE', '--search looks at stored lines, and --follow waits for new ones');
    }
    if (options.download === true) return await download(open.api, executionId, filter, (text) => io.out.write(text));
    const lines: StoredLogLine[] = [];
    // A stream cannot be one JSON document, so `--follow --json` prints one document per line.
    const isEach = options.json === true && options.follow === true;
    const show: Show = (line) => {
      if (isEach) io.out.write(jsonLine(lineDocument(line)));
      else if (options.json === true) lines.push(line);
      else io.out.write(`${storedLogLine(line, io.out.colors)}\n`);
    };
    const exitCode = await (options.follow === true ? follow : read)(open.api, executionId, filter, show);
    if (options.json === true && !isEach) io.out.write(jsonDocument({ executionId, lines: lines.map(lineDocument) }));
    return exitCode;
  });

function filterOf(options: CommandOptions): Filter {
  const level = (textOption(options, 'level') ?? 'info') as LogLevel;
  return {
    limit: countOption(options, 'limit', DEFAULT_LIMIT),
    level,
    ...definedMembers({ node: textOption(options, 'node'), search: textOption(options, 'search') }),
  };
}

async function read(api: NebulaClient, executionId: string, { limit, ...which }: Filter, show: Show): Promise<number> {
  let after: number | undefined;
  for (let left = limit; left > 0; ) {
    const query = { ...which, limit: Math.min(left, PAGE), ...(after !== undefined && { after }) };
    const { items, next } = await api.call('listLogs', { params: { executionId }, query });
    for (const line of items) show(storedLine(executionId, line));
    left -= items.length;
    if (next === null) break;
    after = Number(next);
  }
  return EXIT.completed;
}

/** Prints the whole log as text. */
async function download(
  api: NebulaClient,
  executionId: string,
  { limit: _, search: __, ...which }: Filter,
  write: (text: string) => void,
): Promise<number> {
  const decoder = new TextDecoder();
  for await (const bytes of await api.logText(executionId, which)) write(decoder.decode(bytes, { stream: true }));
  write(decoder.decode());
  return EXIT.completed;
}

/** Prints lines until the run has ended, or until Ctrl-C. */
async function follow(api: NebulaClient, executionId: string, filter: Filter, show: Show): Promise<number> {
  const stop = new AbortController();
  const { signal } = stop;
  const interrupt = listenForInterrupt();
  let exitCode: number = EXIT.completed;
  void interrupt.happened.then(() => {
    exitCode = EXIT.interrupted;
    stop.abort();
  });
  const { limit: _, search: __, ...which } = filter;
  try {
    for await (const line of api.logs(executionId, { ...which, signal })) show(storedLine(executionId, line));
  } finally {
    interrupt.release();
  }
  return exitCode;
}

function lineDocument(line: StoredLogLine): Record<string, unknown> {
  const { executionId: _, at, ...rest } = line;
  return { at: new Date(at).toISOString(), ...rest };
}
