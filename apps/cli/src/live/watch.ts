/** Watches runs until they have ended or are parked, or until an interrupt. */
import { NebulaError } from '@nebula/core';
import { EXIT } from '../exit-code.ts';
import { anyCommandWriter } from '../report-runs.ts';
import { timelineOf } from '../runs.ts';
import type { ApiSession, OpenCall } from '../services.ts';
import { concealed } from '../terminal/concealed.ts';
import { captureForeignOutput } from '../terminal/foreign-output.ts';
import { listenForInterrupt } from '../terminal/interrupt.ts';
import { type Io, type Output, outliveReaders } from '../terminal/io.ts';
import { noteResumeCommand } from '../terminal/leave.ts';
import { printable, printableLine } from '../terminal/width.ts';
import { type WaitResult, waitForRun } from '../wait-for-run.ts';
import type { Followed } from './followed.ts';
import type { LiveView, WatchedRun } from './live-view.ts';
import type { ShownRun } from './shown-run.ts';

export type Ended =
  | { readonly interrupted: true }
  | { readonly interrupted: false; readonly results: readonly WaitResult[] };

/** How long an attempt may take to end by itself after Ctrl-C. */
const HAND_BACK_MS = 3_000;
/** With more runs than this, logs are not shown. */
const MAX_RUNS_WITH_LOGS = 4;

/**
 * `begin` starts the runs; false means that there is nothing to watch. With `json` one document goes to stdout, so
 * everything else goes to stderr, and only to a terminal.
 */
export async function watch(
  open: OpenCall,
  watched: readonly WatchedRun[],
  options: { readonly json: boolean; readonly quiet: boolean },
  begin: () => Promise<unknown>,
): Promise<Ended> {
  const { io, session } = open;
  const command = anyCommandWriter(open);
  const output: Output = options.json ? io.err : io.out;
  const isFew = watched.length <= MAX_RUNS_WITH_LOGS;
  const quiet = options.quiet || (options.json && !output.live);
  // A quiet run does not load the view.
  const live = quiet ? undefined : await import('./live-view.ts');
  const runs = new Map(live && watched.map((run) => [run.executionId, live.shownRun(run, isFew)]));
  const interrupt = listenForInterrupt();
  const view = live?.openLiveView(io, output, [...runs.values()], command) ?? silentView(io);
  const releaseOutput = captureForeignOutput((line) => view.foreign(concealed(line)));
  const stopOutliving = outliveReaders();
  const forgetCommand = noteResumeCommand(
    command(watched.length === 1 ? watched[0]?.executionId : undefined, 'resume'),
  );
  const stop = new AbortController();
  const stopTrouble = session.onTrouble(troubleTeller(session, view));
  const followed: Followed[] = [];
  try {
    const known = await knownEvents(session, runs);
    if ((await begin()) === false) return { interrupted: false, results: [] };
    for (const [run, events] of known) {
      const { Followed } = await import('./followed.ts');
      followed.push(new Followed(session.api, run, view, { hasLogs: isFew, known: events }));
    }
    const all = Promise.all(
      watched.map(async ({ executionId }) => {
        const result = await waitForRun(session, executionId, stop.signal);
        runs.get(executionId)?.show(result.document);
        return result;
      }),
    );
    // Closing the engine rejects this promise after its last use.
    all.catch(() => undefined);
    const first = await Promise.race([all, interrupt.happened]).catch((error: unknown) => {
      throw new StrandedRun(error);
    });
    if (typeof first === 'string') {
      if (session.server === undefined)
        view.say(
          output.colors.yellow('Interrupted: handing back running attempts. Press Ctrl-C again to exit at once.'),
        );
      await session.stop({ graceMs: HAND_BACK_MS });
      return { interrupted: true };
    }
    await Promise.all(followed.map((one, index) => one.caughtUp((first[index] as WaitResult).document)));
    for (const { document } of first) runs.get(document.executionId)?.show(document);
    return { interrupted: false, results: first };
  } finally {
    stop.abort();
    stopTrouble();
    await Promise.all(followed.map((one) => one.close()));
    releaseOutput();
    view.close();
    stopOutliving();
    forgetCommand();
    interrupt.release();
  }
}

/** Shows nothing of a run; other output goes to stderr. */
function silentView({ err }: Io): LiveView {
  return {
    event: () => undefined,
    log: () => undefined,
    foreign: (line) => err.write(`${printable(line)}\n`),
    say: (line) => err.write(`${line}\n`),
    close: () => undefined,
  };
}

/** The engine failed before the run ended; the journal is intact. */
class StrandedRun extends NebulaError {
  readonly exitCode = EXIT.failed;

  constructor(error: unknown) {
    const code = error instanceof NebulaError ? error.code : 'RUN_STRANDED';
    const hint = error instanceof NebulaError && error.hint !== undefined ? `${error.hint}\n` : '';
    super(code, wordsOf(error), {
      cause: error,
      hint: `${hint}no finished step is lost: \`nebula resume\` continues the run`,
    });
  }
}

/** The number of events of each run before it continues: only later ones are shown. */
async function knownEvents(
  { api }: ApiSession,
  runs: ReadonlyMap<string, ShownRun>,
): Promise<[run: ShownRun, events: number][]> {
  const known: [ShownRun, number][] = [];
  for (const run of runs.values()) {
    known.push([run, run.document === undefined ? 0 : (await timelineOf(api, run.executionId)).length]);
  }
  return known;
}

/** Reports a repeated error once. */
function troubleTeller({ server }: ApiSession, view: LiveView): (error: unknown) => void {
  let said = '';
  return (error) => {
    const what = server === undefined ? 'The store does not take writes: ' : '';
    const words = printableLine(`${what}${wordsOf(error)}. Trying again.${hintOf(error)}`);
    if (words !== said) view.say(words);
    said = words;
  };
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
}

function hintOf(error: unknown): string {
  return error instanceof NebulaError && error.hint !== undefined ? ` ${error.hint}` : '';
}
