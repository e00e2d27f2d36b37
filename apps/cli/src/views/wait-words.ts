/** What a wait waits for, in words and as commands that end it. */
import { isJsonObject, type Json } from '@nebula/core';
import { printableLine } from '../terminal/width.ts';
import { momentText, shellWord } from './words.ts';

/** As the journal has it. */
export type Awaited =
  | { readonly kind: 'time'; readonly at: number }
  | { readonly kind: 'signal'; readonly signal: string; readonly key: string }
  | { readonly kind: 'approval'; readonly title?: string; readonly who?: readonly string[] }
  | { readonly kind: 'callback' };

export interface Waiting {
  readonly waits: readonly Awaited[];
  readonly deadline: number | null;
}

const KINDS: ReadonlySet<unknown> = new Set(['time', 'signal', 'approval', 'callback']);

/** From the details of an event. */
export function waitingOf(details: Json): Waiting {
  const { waits, deadline } = isJsonObject(details) ? details : {};
  const known = (Array.isArray(waits) ? (waits as readonly Json[]) : []).filter(
    (wait) => isJsonObject(wait) && KINDS.has(wait.kind),
  );
  return { waits: known as unknown as Awaited[], deadline: typeof deadline === 'number' ? deadline : null };
}

/** `signal go (key k) or an approval by ann, at most until 14:03 (in 2h)`. */
export function waitingText({ waits, deadline }: Waiting, now?: number): string {
  const what = waits.map((wait) => awaitedText(wait, now)).join(' or ');
  return deadline === null ? what : `${what}, at most until ${momentText(deadline, now)}`;
}

function awaitedText(wait: Awaited, now: number | undefined): string {
  switch (wait.kind) {
    case 'time':
      return `until ${momentText(wait.at, now)}`;
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

/** Commands of a person who ends a wait, with what they do; times end by themselves. */
export function answerCommands(
  command: (verb: string, rest?: string) => string,
  path: string,
  waits: readonly Awaited[],
): [command: string, purpose: string][] {
  return waits.flatMap((wait) => answersTo(wait, command, path));
}

function answersTo(
  wait: Awaited,
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
