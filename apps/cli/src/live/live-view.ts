/** The ways to watch runs: a live tree on a terminal, and lines elsewhere. */
import type { RunDocument, TimelineEvent, WorkflowDefinition } from '@nebula/core';
import type { StoredLogLine } from '@nebula/ports';
import type { Io, Output } from '../terminal/io.ts';
import { Screen } from '../terminal/screen.ts';
import { printable } from '../terminal/width.ts';
import { EventLines, logLine } from '../views/event-line.ts';
import { outlineOf } from '../views/outline.ts';
import { headerLine, type TreeOptions, treeLines } from '../views/tree.ts';
import { answerCommands } from '../views/wait-words.ts';
import { plural } from '../views/words.ts';
import { type FindWorkflow, graphOf } from '../views/workflow-graph.ts';
import { ShownRun } from './shown-run.ts';

export interface LiveView {
  event(run: ShownRun, event: TimelineEvent): void;
  log(run: ShownRun, line: StoredLogLine): void;
  /** Prints a line of foreign code in this process. */
  foreign(line: string): void;
  /** Prints a message of the command, e.g. that it is being interrupted. */
  say(line: string): void;
  /** Leaves the last picture, and restores the terminal. */
  close(): void;
}

/** The least time between two paintings: at most 12 per second. */
const FRAME_MS = 85;
/** The last picture may scroll, up to this height. */
const MAX_FINAL_ROWS = 60;
const STILL = -1;
/** The indent below the text of an event. */
const STEP_INDENT = ' '.repeat(12);
/** More runs than this are shown with one line each. */
const MAX_TREES = 4;

type CommandWriter = NonNullable<TreeOptions['command']>;

export interface WatchedRun {
  readonly executionId: string;
  readonly definition: WorkflowDefinition | undefined;
  /** Finds inline workflows. */
  readonly find?: FindWorkflow;
  readonly title: string;
  /** The document before the command, for a run that is resumed. */
  readonly document?: RunDocument | undefined;
  /** The folder of the workflow's file, if the command knows it. */
  readonly folder?: string | undefined;
}

/** `isOutlined`: includes pending nodes; outlines of many runs would be neither visible nor cheap. */
export function shownRun(
  { executionId, definition, find, title, document }: WatchedRun,
  isOutlined: boolean,
): ShownRun {
  const outline = isOutlined && definition !== undefined ? outlineOf(graphOf(definition, find)) : [];
  return new ShownRun(executionId, title, outline, document);
}

export function openLiveView(io: Io, output: Output, runs: readonly ShownRun[], command: CommandWriter): LiveView {
  return output.live ? new TreeView(io, output, runs, command) : new LineView(io, output, runs, command);
}

class LineView implements LiveView {
  readonly #output: Output;
  readonly #startedAt: number;
  readonly #isSingle: boolean;
  readonly #command: CommandWriter;
  readonly #lines = new Map<ShownRun, EventLines>();

  constructor(io: Io, output: Output, runs: readonly ShownRun[], command: CommandWriter) {
    this.#output = output;
    this.#command = command;
    this.#startedAt = io.now();
    this.#isSingle = runs.length === 1;
    const options = { colors: output.colors, startedAt: this.#startedAt };
    for (const run of runs) this.#lines.set(run, new EventLines(run, options));
  }

  event(run: ShownRun, event: TimelineEvent): void {
    const line = this.#lines.get(run)?.line(event);
    if (line !== undefined) this.#write(run, line);
    if (event.type !== 'NodeWaiting' || event.node === null) return;
    const write = (verb: string, rest?: string): string => this.#command(run.executionId, verb, rest);
    for (const [command] of answerCommands(write, event.node, event.details.waits)) {
      this.#write(run, `${STEP_INDENT}${this.#output.colors.bold(command)}`);
    }
  }

  log(run: ShownRun, line: StoredLogLine): void {
    this.#write(run, logLine(line, { colors: this.#output.colors, startedAt: this.#startedAt }));
  }

  foreign(line: string): void {
    this.#output.write(`${printable(line)}\n`);
  }

  say(line: string): void {
    this.#output.write(`${line}\n`);
  }

  close(): void {}

  #write(run: ShownRun, line: string): void {
    this.#output.write(this.#isSingle ? `${line}\n` : `${this.#output.colors.dim(run.executionId)} ${line}\n`);
  }
}

/** Paints when something has changed, and while something runs (durations tick, spinners turn). */
class TreeView implements LiveView {
  readonly #io: Io;
  readonly #output: Output;
  readonly #runs: readonly ShownRun[];
  readonly #command: CommandWriter;
  readonly #screen: Screen;
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: () => void;
  #frame = 0;
  #paintedRevision = -1;
  #printed: string[] = [];

  constructor(io: Io, output: Output, runs: readonly ShownRun[], command: CommandWriter) {
    this.#io = io;
    this.#output = output;
    this.#runs = runs;
    this.#command = command;
    this.#screen = new Screen(output);
    this.#stopListening = output.onResize(() => {
      this.#paintedRevision = -1;
    });
    this.#timer = setInterval(() => this.#tick(), FRAME_MS);
  }

  event(): void {}

  log(run: ShownRun, line: StoredLogLine): void {
    if (line.node !== null) run.hint(line.node, { log: line.message });
  }

  foreign(line: string): void {
    this.#printed.push(this.#output.colors.dim(`│ ${printable(line)}`));
  }

  say(line: string): void {
    this.#printed.push(line);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#stopListening();
    if (!this.#hasBegun) {
      this.#screen.print(this.#printed.splice(0));
      return;
    }
    // Nothing changes any more, so the whole picture may scroll; only graphs too large to read stay folded.
    this.#frame = STILL;
    this.#paint(Math.max(this.#output.rows() - 1, MAX_FINAL_ROWS));
    this.#screen.close();
  }

  /** A run that is refused at its start leaves no empty tree behind. */
  get #hasBegun(): boolean {
    return this.#runs.some((run) => run.document !== undefined);
  }

  #tick(): void {
    if (!this.#hasBegun) return;
    const revision = this.#runs.reduce((sum, run) => sum + run.revision, 0);
    const isMoving = this.#runs.some((run) => run.isOpen);
    if (revision === this.#paintedRevision && !isMoving && this.#printed.length === 0) return;
    this.#paintedRevision = revision;
    this.#paint(this.#output.rows() - 1);
  }

  #paint(height: number): void {
    if (this.#printed.length > 0) this.#screen.print(this.#printed.splice(0));
    if (this.#frame !== STILL) this.#frame++;
    this.#screen.paint(this.#lines(height));
  }

  #lines(height: number): string[] {
    const options = {
      colors: this.#output.colors,
      width: this.#output.columns(),
      now: this.#io.now(),
      frame: this.#frame,
      command: this.#command,
    };
    if (this.#runs.length <= MAX_TREES) {
      const each = Math.max(4, Math.floor(height / Math.max(1, this.#runs.length)) - 1);
      return this.#runs.flatMap((run) => [...treeLines(run, { ...options, height: each }), '']);
    }
    if (this.#frame === STILL) return this.#runs.slice(0, height).map((run) => headerLine(run, options));
    const open = this.#runs.filter((run) => run.isOpen);
    const shown = open.slice(0, height - 2);
    const done = this.#runs.length - open.length;
    return [
      ...shown.map((run) => headerLine(run, options)),
      options.colors.dim(`${plural(done, 'run')} ended, ${plural(open.length, 'run')} open`),
    ];
  }
}
