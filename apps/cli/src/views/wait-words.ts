/** Describes what a node waits for, and the commands that end the wait. */
import type { AwaitedDocument, AwaitedEvent, GateDocument } from '@nebula/core';
import { printableLine } from '../terminal/width.ts';
import { momentText, shellWord } from './words.ts';

/** A wait from an event or a document. */
interface Waiting {
  readonly events: readonly (AwaitedEvent | AwaitedDocument)[];
  readonly deadline: number | string | null;
}

/** `signal go (key k) or an approval by ann, at most until 14:03 (in 2h)`. */
export function waitingText({ events, deadline }: Waiting, now?: number): string {
  const what = events.map((wait) => awaitedText(wait, now)).join(' or ');
  return deadline === null ? what : `${what}, at most until ${momentText(msOf(deadline), now)}`;
}

function msOf(moment: number | string): number {
  return typeof moment === 'number' ? moment : Date.parse(moment);
}

function awaitedText(wait: AwaitedEvent | AwaitedDocument, now: number | undefined): string {
  switch (wait.kind) {
    case 'time':
      return `until ${momentText(msOf(wait.at), now)}`;
    case 'signal':
      return `for signal ${printableLine(wait.signal)}${wait.key === '' ? '' : ` (key ${printableLine(wait.key)})`}`;
    case 'approval': {
      const title = wait.title === undefined ? '' : ` “${printableLine(wait.title)}”`;
      return `for an approval${title}${wait.who === undefined ? '' : ` by ${wait.who.map(printableLine).join(' or ')}`}`;
    }
    case 'callback':
      return 'for a call';
  }
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
  switch (gate.kind) {
    case 'concurrency':
      return `for a permit of ${printableLine(gate.key)} (limit ${gate.limit})`;
    case 'rate':
      return `for its turn under the rate limit of ${printableLine(gate.key)}`;
    case 'reserve':
      return 'for a run that computes the same output';
    case 'cache':
      return 'for the cache';
  }
}
