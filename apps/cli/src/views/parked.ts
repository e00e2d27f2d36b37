/** A run that only a person or a signal can move: what it waits for, and the commands that move it. */
import { idsInOrder, type RunDocument } from '@nebula/core';
import type { Explanation } from '@nebula/engine';
import { type HeldGate, holdersText } from '../holders.ts';
import type { NodeProgress } from '../live/node-progress.ts';
import type { RunProgress } from '../live/progress.ts';
import type { Colors } from '../terminal/io.ts';
import { printable, wrap } from '../terminal/width.ts';
import { nextLines } from './summary.ts';
import { answerCommands, waitingText } from './wait-words.ts';

export interface ParkedRun {
  readonly document: RunDocument;
  /** Of nodes whose outcome is unknown. */
  readonly explanations: readonly Explanation[];
  readonly progress: RunProgress;
  /** Places that others hold. */
  readonly held: readonly HeldGate[];
  /** Executions for which it waits. */
  readonly inside: readonly string[];
}

export interface ParkedOptions {
  readonly colors: Colors;
  readonly width: number;
  readonly now: number;
  readonly command: (executionId: string, verb: string, rest?: string) => string;
}

type Step = [command: string, purpose: string];

/** Nodes whose commands are listed. */
const MAX_NODES = 3;

/** The first is the run itself; the others are those for which it waits. */
export function parkedLines(runs: readonly ParkedRun[], options: ParkedOptions): string[] {
  const { colors, command } = options;
  const [main] = runs;
  if (main === undefined) return [];
  const { executionId } = main.document;
  const lines = [`${colors.yellow(`⏸ ${colors.bold('parked')}`)}  ${colors.dim(executionId)}`, ''];
  for (const run of runs) lines.push(...runLines(run, run === main, options));
  const steps = runs.flatMap((run) => stepsOf(run, options));
  if (steps.length === 0 && !isPaused(main))
    steps.push([command(executionId, 'executions explain'), 'what it waits for']);
  const goOn: Step = [command(executionId, 'resume'), isPaused(main) ? 'go on' : 'go on afterwards'];
  return [...lines, '', ...nextLines([...steps, goOn], options)];
}

function isPaused({ document }: ParkedRun): boolean {
  return document.status === 'paused';
}

function runLines(run: ParkedRun, isMain: boolean, { colors, width, now }: ParkedOptions): string[] {
  const { document, explanations, progress, held, inside } = run;
  const lines: string[] = isMain ? [] : [colors.dim(`${document.workflowId} ${document.executionId}`)];
  const say = (subject: string | null, sentences: readonly string[]): void => {
    if (subject !== null) lines.push(colors.bold(subject));
    lines.push(...sentences.flatMap((one) => wrap(printable(one), width - 2)).map((line) => `  ${line}`));
  };
  if (isPaused(run)) say(null, [`It is paused${progress.pauseReason === null ? '' : `: ${progress.pauseReason}`}.`]);
  for (const { node, reasons } of explanations) say(node, reasons);
  for (const { path, waiting } of waitingIn(run)) {
    if (waiting !== null) say(path, [`It waits ${waitingText(waiting, now)}.`]);
  }
  for (const gate of held) say(gate.node, [`It waits ${gate.text}.`, holdersText(gate, now)]);
  if (inside.length > 0) {
    const children = [...progress.nodes].filter(({ child, status }) => child !== null && status === 'running');
    say(children.map(({ path }) => path).join(', ') || null, [`It waits for what ${inside.join(', ')} waits for:`]);
  }
  return lines;
}

/** In the order of the definition. */
function waitingIn({ document, progress }: ParkedRun): NodeProgress[] {
  const order = new Map(idsInOrder(document).map((path, at) => [path, at]));
  return [...progress.waiting].sort((a, b) => (order.get(a.path) ?? 0) - (order.get(b.path) ?? 0));
}

function stepsOf(run: ParkedRun, { command }: ParkedOptions): Step[] {
  const { document } = run;
  const write = (verb: string, rest?: string): string => command(document.executionId, verb, rest);
  const unknown = idsInOrder(document).filter((path) => document.nodes[path]?.status === 'unknown');
  return [
    ...unknown.slice(0, MAX_NODES).flatMap((path) => settleSteps(write, path)),
    ...waitingIn(run)
      .slice(0, MAX_NODES)
      .flatMap(({ path, waiting }) => answerCommands(write, path, waiting?.waits ?? [])),
    ...holdersOf(run)
      .slice(0, MAX_NODES)
      .map((holder): Step => [command(holder, 'executions explain'), 'what the holder waits for']),
  ];
}

function holdersOf({ document, held }: ParkedRun): string[] {
  const holders = new Set(held.flatMap((gate) => gate.holders.map(({ executionId }) => executionId)));
  holders.delete(document.executionId);
  return [...holders];
}

function settleSteps(write: (verb: string, rest?: string) => string, path: string): Step[] {
  return [
    [write('executions settle', `${path} --happened --output JSON`), 'it took effect, and this is its output'],
    [write('executions settle', `${path} --retry`), 'it did not: run it again'],
    [write('executions settle', `${path} --fail`), 'it did not: let the node fail'],
  ];
}
