/** Watches runs of an engine in this process until they have ended or somebody interrupts. */
import { NebulaError, type RunDocument, type WorkflowDefinition } from '@nebula/core';
import { EXIT } from '../exit-code.ts';
import type { Context, EngineSession } from '../services.ts';
import { concealed } from '../terminal/concealed.ts';
import { captureForeignOutput } from '../terminal/foreign-output.ts';
import { listenForInterrupt } from '../terminal/interrupt.ts';
import { type Output, outliveReaders } from '../terminal/io.ts';
import { noteResumeCommand } from '../terminal/leave.ts';
import { printableLine } from '../terminal/width.ts';
import { outlineOf } from '../views/outline.ts';
import { type FindWorkflow, graphOf } from '../views/workflow-graph.ts';
import { type LiveView, openLiveView } from './live-view.ts';
import { type Rest, Settling } from './settling.ts';
import { ShownRun } from './shown-run.ts';

export interface WatchOptions {
  /** The one document goes to stdout, so everything else goes to stderr, and only to a terminal. */
  readonly json: boolean;
  readonly quiet: boolean;
  /** Writes a command for a run, or, without one, for all of them. */
  readonly command: (executionId: string | undefined, verb: string, rest?: string) => string;
}

export interface WatchedRun {
  readonly executionId: string;
  readonly definition: WorkflowDefinition | undefined;
  /** Workflows that run inside of it. */
  readonly find?: FindWorkflow;
  readonly title: string;
  /** Where it stands already, for a run that is resumed. */
  readonly document?: RunDocument | undefined;
}

export type Ended = { readonly interrupted: true } | { readonly interrupted: false; readonly rests: readonly Rest[] };

/** How long an attempt may take to end by itself after Ctrl-C. */
const HAND_BACK_MS = 3_000;
const LOG_PAGE = 1_000;
/** Logs of so many runs at once would only be noise. */
const MAX_RUNS_WITH_LOGS = 4;

/** `begin` starts what is to be watched, once somebody looks; when it gives false, there is nothing to watch. */
export async function watch(
  { io }: Context,
  session: EngineSession,
  watched: readonly WatchedRun[],
  options: WatchOptions,
  begin: () => Promise<unknown>,
): Promise<Ended> {
  const output: Output = options.json ? io.err : io.out;
  const runs = new Map(watched.map((run) => [run.executionId, shownRun(run, watched.length)]));
  const quiet = options.quiet || (options.json && !output.live);
  const interrupt = listenForInterrupt();
  const view = openLiveView(io, output, [...runs.values()], quiet, options.command);
  const releaseOutput = captureForeignOutput((line) => view.foreign(concealed(line)));
  const stopOutliving = outliveReaders();
  const forgetCommand = noteResumeCommand(
    options.command(watched.length === 1 ? watched[0]?.executionId : undefined, 'resume'),
  );
  const settling = new Settling(session);
  const looker = new Looker(session, runs);
  const stopEvents = feed(session, runs, view, looker);
  const stopLogs = watched.length <= MAX_RUNS_WITH_LOGS && !quiet ? followLogs(session, runs, view) : undefined;
  try {
    if ((await begin()) === false) return { interrupted: false, rests: [] };
    const all = Promise.all(watched.map(({ executionId }) => settling.rest(executionId)));
    // Closing the engine rejects it, long after anybody waits for it.
    all.catch(() => undefined);
    const first = await Promise.race([all, interrupt.happened]).catch((error: unknown) => {
      throw new StrandedRun(error);
    });
    if (typeof first === 'string') {
      if (session.server === undefined)
        view.say(output.colors.yellow('Interrupted: handing back what runs. Once more to leave at once.'));
      await session.engine.close({ graceMs: HAND_BACK_MS });
      return { interrupted: true };
    }
    for (const { document } of first) runs.get(document.executionId)?.show(document);
    return { interrupted: false, rests: first };
  } finally {
    stopEvents();
    looker.close();
    settling.close();
    await stopLogs?.();
    releaseOutput();
    view.close();
    stopOutliving();
    forgetCommand();
    interrupt.release();
  }
}

/** The engine could not bring a run to its end; what is in its journal stands. */
class StrandedRun extends NebulaError {
  readonly exitCode = EXIT.failed;

  constructor(error: unknown) {
    const code = error instanceof NebulaError ? error.code : 'RUN_STRANDED';
    const hint = error instanceof NebulaError && error.hint !== undefined ? `${error.hint}\n` : '';
    super(code, wordsOf(error), { cause: error, hint: `${hint}nothing finished is lost: \`nebula resume\` goes on` });
  }
}

function shownRun(run: WatchedRun, count: number): ShownRun {
  // Outlines of many runs would be neither seen nor cheap.
  const isOutlined = run.definition !== undefined && count <= MAX_RUNS_WITH_LOGS;
  const outline = isOutlined ? outlineOf(graphOf(run.definition as WorkflowDefinition, run.find)) : [];
  return new ShownRun(run.executionId, run.title, outline, run.document);
}

function feed(session: EngineSession, runs: ReadonlyMap<string, ShownRun>, view: LiveView, looker: Looker): () => void {
  let trouble = '';
  return session.engine.on((event) => {
    if (event.type === 'trouble') {
      const what = session.server === undefined ? 'The store does not take writes: ' : '';
      const words = printableLine(`${what}${wordsOf(event.error)}. Trying again.${hintOf(event.error)}`);
      if (words !== trouble) view.say(words);
      trouble = words;
      return;
    }
    const run = runs.get(event.executionId);
    if (run === undefined) return;
    switch (event.type) {
      case 'progress': {
        const { node, fraction, message } = event;
        run.hint(node, { fraction, ...(message !== undefined && { message }) });
        break;
      }
      case 'timeline':
        view.event(run, event.event);
        break;
      case 'changed':
        looker.changed(run);
        break;
      case 'finished':
        run.show(event.document);
        break;
      default:
        break;
    }
  });
}

/**
 * Looks at runs that have changed. Rarely enough that looking takes a tenth of the time at most, however large a run is:
 * the same process may run it.
 */
class Looker {
  readonly #session: EngineSession;
  readonly #stale = new Set<ShownRun>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(session: EngineSession, runs: ReadonlyMap<string, ShownRun>) {
    this.#session = session;
    for (const run of runs.values()) if (run.document !== undefined) this.changed(run);
  }

  changed(run: ShownRun): void {
    this.#stale.add(run);
    if (!this.#isClosed) this.#timer ??= setTimeout(() => void this.#look(), LOOK_MS);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const begun = performance.now();
    const stale = [...this.#stale];
    this.#stale.clear();
    for (const run of stale) {
      const document = await this.#documentOf(run.executionId).catch(() => undefined);
      if (document !== undefined && !this.#isClosed && run.isOpen) run.show(document);
    }
    const pauseMs = Math.max(LOOK_MS, (performance.now() - begun) * 9);
    this.#timer = undefined;
    if (!this.#isClosed && this.#stale.size > 0) this.#timer = setTimeout(() => void this.#look(), pauseMs);
  }

  /** An engine of this process has it at hand. */
  async #documentOf(executionId: string): Promise<RunDocument | undefined> {
    const { engine, desk, server } = this.#session;
    return server === undefined ? engine.peek(executionId) : await desk.document(executionId);
  }
}

/** So soon after a change a run is looked at; what changes meanwhile is seen with it. */
const LOOK_MS = 40;

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
}

function hintOf(error: unknown): string {
  return error instanceof NebulaError && error.hint !== undefined ? ` ${error.hint}` : '';
}

/** Returns the way to stop, which waits for the lines that are already written. */
function followLogs(session: EngineSession, runs: ReadonlyMap<string, ShownRun>, view: LiveView): () => Promise<void> {
  const stop = new AbortController();
  const positions = new Map<string, number>();
  const followers = [...runs.values()].map(async (run) => {
    const filter = { executionId: run.executionId, minLevel: 'info' as const, limit: LOG_PAGE };
    const earlier = run.document === undefined ? [] : await session.logs.read(filter);
    const afterPosition = earlier.at(-1)?.position ?? 0;
    positions.set(run.executionId, afterPosition);
    for await (const line of session.logs.follow({ ...filter, afterPosition }, stop.signal)) {
      positions.set(run.executionId, line.position);
      view.log(run, line);
    }
  });
  // What is said is not the truth: a run whose log cannot be read is watched all the same.
  for (const follower of followers) follower.catch(() => undefined);
  return async () => {
    stop.abort();
    await Promise.allSettled(followers);
    await session.logs.flush();
    for (const run of runs.values()) {
      const afterPosition = positions.get(run.executionId) ?? 0;
      const filter = { executionId: run.executionId, minLevel: 'info' as const, limit: LOG_PAGE, afterPosition };
      for (const line of await session.logs.read(filter)) view.log(run, line);
    }
  };
}

/** The exit code of several runs is that of the one that ended worst. */
export function worstExitCode(codes: readonly number[]): number {
  const badness = [EXIT.internal, EXIT.failed, EXIT.stopped, EXIT.parked];
  return badness.find((code) => codes.includes(code)) ?? EXIT.completed;
}
