/** Describes what a node waits for, and the commands that end the wait. */
import {
  type AwaitedDocument,
  type AwaitedEvent,
  type BareRun,
  formatDuration,
  type GateDocument,
  gateWords,
  waitWords,
} from '@nebula/core';
import { printableLine } from '../terminal/width.ts';
import { momentText, shellWord } from './words.ts';

/** A wait from an event or a document. */
interface Waiting {
  readonly events: readonly (AwaitedEvent | AwaitedDocument)[];
  readonly deadline: number | string | null;
  readonly deadlineFixed?: true;
}

/** Since when the run is paused: its timers stand still, apart from those that were written as a date. */
export function pausedAt(document: BareRun | undefined): number | undefined {
  const paused = document?.finishedAt === null ? document.paused : undefined;
  return paused === undefined ? undefined : Date.parse(paused.since);
}

/** `for signal go (key k) or for an approval by ann, at most until 14:03 (in 2h)`. */
export function waitingText({ events, deadline, deadlineFixed }: Waiting, now?: number, paused?: number): string {
  const moment = (at: number, isFixed: boolean): string =>
    paused === undefined || isFixed
      ? momentText(at, now)
      : `${formatDuration(Math.max(0, at - paused))} after it is resumed`;
  const words = printableLine(waitWords(events, moment));
  return deadline === null
    ? words
    : `${words}, at most until ${moment(new Date(deadline).getTime(), deadlineFixed === true)}`;
}

/** Commands with which a person ends a wait, and what they do; times end by themselves. */
export function answerCommands(
  command: (verb: string, rest?: string) => string,
  path: string,
  events: readonly (AwaitedEvent | AwaitedDocument)[],
): [command: string, purpose: string][] {
  return events.flatMap((wait) => answersTo(wait, command, path));
}

function answersTo(
  wait: AwaitedEvent | AwaitedDocument,
  command: (verb: string, rest?: string) => string,
  path: string,
): [command: string, purpose: string][] {
  switch (wait.kind) {
    case 'time':
      return [];
    case 'signal': {
      const key = wait.key === '' ? '' : ` --key ${shellWord(wait.key)}`;
      const words = `${shellWord(wait.signal)}${key}`;
      return [[command('executions signal', words), 'give the signal; --payload JSON with it']];
    }
    case 'approval': {
      const [first] = wait.who ?? [];
      const by = first === undefined ? '' : ` --by ${shellWord(first)}`;
      return [
        [command('executions approve', `${path}${by}`), 'approve it'],
        [command('executions reject', `${path}${by} --comment TEXT`), 'reject it'],
      ];
    }
    case 'callback':
      return [[command('executions callback', `${path} --payload JSON`), 'make the call']];
  }
}

/** `for a permit of bank (limit 2)`. */
export function gateText(gate: GateDocument): string {
  return printableLine(gateWords(gate));
}
