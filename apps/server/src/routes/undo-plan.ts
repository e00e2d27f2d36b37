/** What compensation would do if the run failed now, last first. */
import type { AnswerOf } from '@nebula/client/contract';
import { isJsonObject, type Json, type JsonObject } from '@nebula/core';
import type { Parts } from '../parts.ts';

type Step = AnswerOf<'getUndoPlan'>['steps'][number];

const UNDO = '~undo/';

export async function undoPlanOf({ engine }: Parts, executionId: string): Promise<Step[]> {
  const document = await engine.document(executionId);
  // What has ended undoes nothing any more.
  if (document === undefined || document.finishedAt !== null) return [];
  const steps = new Map<string, Step>();
  for (const { entries } of await engine.journal(executionId)) {
    for (const entry of entries) if (isJsonObject(entry)) note(steps, entry);
  }
  return [...steps.values()].reverse();
}

function note(steps: Map<string, Step>, entry: JsonObject): void {
  if (entry.type !== 'node.completed') return;
  const path = String(entry.node);
  const cut = path.indexOf(UNDO);
  if (cut >= 0) steps.delete(path.slice(cut + UNDO.length).replaceAll(':', '/'));
  else if (entry.undo !== undefined || entry.undoError !== undefined) {
    steps.delete(path);
    const problem = isJsonObject(entry.undoError ?? null) ? String((entry.undoError as JsonObject).message) : null;
    const held = isJsonObject(entry.undo ?? null) ? (entry.undo as JsonObject).value : undefined;
    steps.set(path, { node: path, action: null, with: (held ?? null) as Json, problem });
  }
}
