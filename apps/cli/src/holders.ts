/** Who holds what a node waits for: the places of a key, or the work on an output that others want, too. */
import { formatDuration, type Gate, idsInOrder, permitKey, type RunDocument } from '@nebula/core';
import { RunProgress } from './live/progress.ts';
import type { DeskSession } from './services.ts';
import { gateText } from './views/gate-words.ts';
import { plural } from './views/words.ts';

/** A gate at which a node waits. */
export interface HeldGate {
  readonly node: string;
  /** `for the place for bank`. */
  readonly text: string;
  readonly holders: readonly Holder[];
  /** Those who are granted before it. */
  readonly before: number;
}

export interface Holder {
  readonly executionId: string;
  readonly node: string;
  /** ISO 8601; null when it has not begun, or is gone. */
  readonly since: string | null;
}

/** Nodes that are looked at, and holders that are named, of each. */
const MAX_NODES = 10;
const MAX_HOLDERS = 5;

/** Of one node, or of all that wait. */
export async function heldGates(session: DeskSession, document: RunDocument, node?: string): Promise<HeldGate[]> {
  if (document.finishedAt !== null) return [];
  const progress = new RunProgress(document.executionId, '', []);
  progress.sync(document);
  progress.recall(await session.desk.timeline(document.executionId));
  const paths = node === undefined ? idsInOrder(document) : [node];
  const gates: HeldGate[] = [];
  for (const path of paths) {
    const gate = progress.node(path)?.gate ?? null;
    if (gate !== null && gates.length < MAX_NODES) gates.push(...(await gateAt(session, document, path, gate)));
  }
  return gates;
}

async function gateAt(
  session: DeskSession,
  { executionId }: RunDocument,
  node: string,
  gate: Gate,
): Promise<HeldGate[]> {
  const key = permitKey(gate);
  if (key === undefined) return [];
  const rows = await session.desk.places(executionId, key);
  const own = rows.findIndex((row) => row.executionId === executionId && row.node === node);
  const held = rows.filter(({ isHeld }) => isHeld);
  const holders: Holder[] = [];
  for (const row of held) {
    const document = holders.length < MAX_HOLDERS ? await session.desk.document(row.executionId) : undefined;
    const since = document === undefined ? null : (nodeIn(document, row.node)?.startedAt ?? null);
    holders.push({ executionId: row.executionId, node: row.node, since });
  }
  return [{ node, text: gateText(gate), holders, before: Math.max(0, own - held.length) }];
}

function nodeIn({ nodes }: RunDocument, path: string) {
  return Object.hasOwn(nodes, path) ? nodes[path] : undefined;
}

/** `It is held by charge of exe_1 (for 3m), and 2 others wait before it.` */
export function holdersText({ holders, before }: HeldGate, now: number): string {
  const queue = before === 0 ? '' : `${plural(before, 'other')} ${before === 1 ? 'waits' : 'wait'} before it`;
  if (holders.length === 0) return queue === '' ? 'Nobody holds it now.' : `Nobody holds it now, but ${queue}.`;
  const named = holders.slice(0, MAX_HOLDERS).map((holder) => {
    const since =
      holder.since === null ? 'not begun yet' : `for ${formatDuration(Math.max(0, now - Date.parse(holder.since)))}`;
    return `${holder.node} of ${holder.executionId} (${since})`;
  });
  const more = holders.length > MAX_HOLDERS ? [`${holders.length - MAX_HOLDERS} more`] : [];
  return `It is held by ${[...named, ...more].join(', ')}${queue === '' ? '' : `; ${queue}`}.`;
}
