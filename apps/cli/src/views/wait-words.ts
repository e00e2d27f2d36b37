/** Describes what a node waits for, and the commands that end the wait. */
import { type AwaitedDocument, type AwaitedEvent, type GateDocument, gateWords, waitWords } from '@nebula/core';
import { printableLine } from '../terminal/width.ts';
import { momentText, shellWord } from './words.ts';

/** A wait from an event or a document. */
interface Waiting {
  readonly events: readonly (AwaitedEvent | AwaitedDocument)[];
  readonly deadline: number | string | null;
}

/** `for signal go (key k) or for an approval by ann, at most until 14:03 (in 2h)`. */
export function waitingText({ events, deadline }: Waiting, now?: number): string {
  const words = printableLine(waitWords(events, (at) => momentText(at, now)));
  return deadline === null ? words : `${words}, at most until ${momentText(new Date(deadline).getTime(), now)}`;
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
