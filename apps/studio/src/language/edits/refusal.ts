/** An edit that cannot be made in the text: the reason is shown to the person who asked for it. */
import type { TextEdit } from './text-edit.ts';

export type EditResult = { readonly edits: readonly TextEdit[] } | { readonly refused: string };

/** Ends an operation; `attempt` turns it into a result. */
export class Refusal extends Error {}

export function refuse(reason: string): never {
  throw new Refusal(reason);
}

export function attempt(operation: () => readonly TextEdit[]): EditResult {
  try {
    return { edits: operation() };
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.message };
    throw error;
  }
}
