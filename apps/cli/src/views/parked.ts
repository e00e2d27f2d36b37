/** A parked run: what it waits for, and the commands that continue it. */
import { idsInOrder, type RunDocument } from '@nebula/core';
import type { Explanation } from '@nebula/engine';
import { waitingIn } from '../live/shown-run.ts';
import { openChildren } from '../run-waits.ts';
import type { View } from '../terminal/io.ts';
import { printable, wrap } from '../terminal/width.ts';
import { nextLines } from './summary.ts';
import { answerCommands, pausedAt, waitingText } from './wait-words.ts';

export interface ParkedRun {
  readonly document: RunDocument;
  /** Explanations of nodes with an unknown outcome and of nodes that wait for a permit. */
  readonly explanations: readonly Explanation[];
  /** Executions that the run waits for. */
  readonly inside: readonly string[];
}

export interface ParkedOptions extends View {
  readonly now: number;
  readonly command: (executionId: string, verb: string, rest?: string) => string;
}

type Step = [command: string, purpose: string];

/** Nodes whose commands are listed. */
const MAX_NODES = 3;

/** The first one is the run itself; the others are the runs that it waits for. */
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
  const resumeStep: Step = [
    command(executionId, 'resume'),
    isPaused(main) ? 'continue the run' : 'then continue the run',
  ];
  return [...lines, '', ...nextLines([...steps, resumeStep], options)];
}

function isPaused({ document }: ParkedRun): boolean {
  return document.status === 'paused';
}

function runLines(run: ParkedRun, isMain: boolean, { colors, width, now }: ParkedOptions): string[] {
  const { document, explanations, inside } = run;
  const lines: string[] = isMain ? [] : [colors.dim(`${document.workflowId} ${document.executionId}`)];
  const say = (subject: string | null, sentences: readonly string[]): void => {
    if (subject !== null) lines.push(colors.bold(subject));
    lines.push(...sentences.flatMap((one) => wrap(printable(one), width - 2)).map((line) => `  ${line}`));
  };
  const paused = document.finishedAt === null ? document.paused : undefined;
  if (paused !== undefined) say(null, [`It is paused${paused.reason === null ? '' : `: ${paused.reason}`}.`]);
  for (const { node, reasons } of explanations) say(node, reasons);
  for (const [path, { waitsFor }] of waitingIn(document)) {
    if (waitsFor?.kind === 'event') say(path, [`It waits ${waitingText(waitsFor, now, pausedAt(document))}.`]);
  }
  if (inside.length > 0) {
    const children = openChildren(document).map(({ node }) => node);
    say(children.join(', ') || null, [`It waits for what ${inside.join(', ')} waits for:`]);
  }
  return lines;
}

function stepsOf(run: ParkedRun, { command }: ParkedOptions): Step[] {
  const { document } = run;
  const write = (verb: string, rest?: string): string => command(document.executionId, verb, rest);
  const unknown = idsInOrder(document).filter((path) => document.nodes[path]?.status === 'unknown');
  return [
    ...unknown.slice(0, MAX_NODES).flatMap((path) => settleSteps(write, path)),
    ...waitingIn(document)
      .slice(0, MAX_NODES)
      .flatMap(([path, { waitsFor }]) =>
        waitsFor?.kind === 'event' ? answerCommands(write, path, waitsFor.events) : [],
      ),
    ...holdersOf(run)
      .slice(0, MAX_NODES)
      .map((holder): Step => [command(holder, 'executions explain'), 'what the holder waits for']),
  ];
}

function holdersOf({ document, explanations }: ParkedRun): string[] {
  const held = explanations.flatMap(({ causes }) => causes.filter(({ code }) => code === 'held-by'));
  const holders = new Set(held.flatMap(({ link }) => (link === undefined ? [] : [link.executionId])));
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
