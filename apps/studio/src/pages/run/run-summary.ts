/**
 * A run that is too long for its events to be loaded: its document stands for them. Each node has then one span from its
 * start to its end, iterations are counts, and moments in between are not known to the page.
 */
import type { AnswerOf, LiveEvent } from '@nebula/client';

type RunDocument = AnswerOf<'getExecution'>;
type NodeDocument = RunDocument['nodes'][string];

/** The events of a run below this number are loaded: about 2 MB. */
const MAX_EVENTS = 20_000;
/** Events of a node or an iteration: scheduled, started, ended, and a few more. */
const EVENTS_PER_NODE = 4;
const EVENTS_PER_ITERATION = 8;

export function isTooLong({ seq, nodes }: RunDocument): boolean {
  if (seq > MAX_EVENTS) return true;
  let events = 0;
  for (const { rounds } of Object.values(nodes)) {
    events += EVENTS_PER_NODE;
    if (rounds !== undefined) events += EVENTS_PER_ITERATION * (rounds.succeeded + rounds.failed + rounds.open);
    if (events > MAX_EVENTS) return true;
  }
  return false;
}

const ENDS: Readonly<Record<string, string>> = {
  completed: 'NodeCompleted',
  failed: 'NodeFailed',
  cancelled: 'NodeCancelled',
  unknown: 'NodeUnknown',
};

/** Events that lead to the state of the document, in the order of time. */
export function eventsOf(document: RunDocument): LiveEvent[] {
  const events = Object.entries(document.nodes).flatMap(([path, node]) => eventsOfNode(path, node, document.seq));
  return events.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
}

function eventsOfNode(node: string, document: NodeDocument, seq: number): LiveEvent[] {
  const { status, queuedAt, startedAt, finishedAt, attempts, error, rounds } = document;
  const event = (at: string, type: string, details: unknown = {}): LiveEvent => ({ seq, at, type, node, details });
  const events: LiveEvent[] = [];
  if (queuedAt !== null) events.push(event(queuedAt, 'NodeScheduled'));
  if (startedAt !== null) {
    const items = rounds?.total ?? undefined;
    if (rounds !== undefined) events.push(event(startedAt, 'NodeOpened', items === undefined ? {} : { items }));
    else events.push(event(startedAt, 'NodeStarted', { attempt: attempts, worker: document.attempt?.worker ?? '' }));
  }
  const last = finishedAt ?? startedAt ?? queuedAt;
  if (last === null) return events;
  if (status === 'waiting') events.push(event(last, 'NodeWaiting', { waits: [], deadline: null }));
  const end = ENDS[status];
  if (end !== undefined) events.push(event(last, end, error === null ? {} : { error, handling: 'fatal' }));
  return events;
}
