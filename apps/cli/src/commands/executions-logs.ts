import type { LogFilter, LogLevel, StoredLogLine } from '@nebula/ports';
import { countOption, documentOf, textOption, withDesk } from '../desk.ts';
import { EXIT } from '../exit-code.ts';
import type { CommandOptions, Context, DeskSession } from '../services.ts';
import { listenForInterrupt } from '../terminal/interrupt.ts';
import { jsonDocument, jsonLine } from '../views/json.ts';
import { storedLogLine } from '../views/logs.ts';

const DEFAULT_LIMIT = 10_000;
/** How often a followed run is asked whether it has ended. */
const POLL_MS = 500;

export function execute(context: Context, args: readonly string[], options: CommandOptions): Promise<number> {
  const { out } = context.io;
  const executionId = args[0] as string;
  return withDesk(context, options, async (session, project) => {
    await documentOf(session, project, executionId);
    const filter = filterOf(executionId, options);
    const lines: StoredLogLine[] = [];
    // What goes on and on cannot be one document: it is one per line.
    const isEach = options.json === true && options.follow === true;
    const show = (line: StoredLogLine): void => {
      if (isEach) out.write(jsonLine(lineDocument(line)));
      else if (options.json === true) lines.push(line);
      else out.write(`${storedLogLine(line, out.colors)}\n`);
    };
    const exitCode = options.follow === true ? await follow(session, filter, show) : await read(session, filter, show);
    if (options.json === true && !isEach) out.write(jsonDocument({ executionId, lines: lines.map(lineDocument) }));
    return exitCode;
  });
}

function filterOf(executionId: string, options: CommandOptions): LogFilter {
  const node = textOption(options, 'node');
  const minLevel = (textOption(options, 'level') ?? 'info') as LogLevel;
  return {
    executionId,
    limit: countOption(options, 'limit', DEFAULT_LIMIT),
    minLevel,
    ...(node !== undefined && { node }),
  };
}

async function read({ logs }: DeskSession, filter: LogFilter, show: (line: StoredLogLine) => void): Promise<number> {
  for (const line of await logs.read(filter)) show(line);
  return EXIT.completed;
}

/** Until the run has ended and its last lines are read, or until Ctrl-C. */
async function follow(session: DeskSession, filter: LogFilter, show: (line: StoredLogLine) => void): Promise<number> {
  const stop = new AbortController();
  const interrupt = listenForInterrupt();
  let exitCode: number = EXIT.completed;
  void interrupt.happened.then(() => {
    exitCode = EXIT.interrupted;
    stop.abort();
  });
  let position = 0;
  const watchEnd = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const document = await session.desk.document(filter.executionId);
      if (document === undefined || document.finishedAt !== null) stop.abort();
      else await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  };
  const ended = watchEnd();
  for await (const line of session.logs.follow(filter, stop.signal)) {
    position = line.position;
    show(line);
  }
  await ended;
  interrupt.release();
  if (exitCode === EXIT.completed) await read(session, { ...filter, afterPosition: position }, show);
  return exitCode;
}

function lineDocument(line: StoredLogLine): Record<string, unknown> {
  const { executionId: _, at, ...rest } = line;
  return { at: new Date(at).toISOString(), ...rest };
}
