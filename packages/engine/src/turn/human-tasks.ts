/** The human tasks of a run: what its nodes wait for that a person, or another system, has to give. */
import type { AwaitedEvent, Entry, Json, RunError } from '@nebula/core';
import { isFinished, type NodeState, nodeAt, pathOf, type RunState, type Turn } from '@nebula/core/run';
import type { HumanTask, HumanTaskChanges } from '@nebula/ports';

/** A larger form is left out of the task: it is in the definition. */
const MAX_FORM_CHARS = 8_192;
const MAX_TEXT_CHARS = 1_000;
const MAX_NAMES = 100;

/** Entries after which any node of the run may wait for something else, or until another time. */
const CHANGES_ALL: ReadonlySet<Entry['type']> = new Set<Entry['type']>([
  'run.resumed',
  'run.stopping',
  'run.reopened',
  'run.migrated',
]);

const CHANGES: ReadonlySet<Entry['type']> = new Set<Entry['type']>([
  ...CHANGES_ALL,
  'node.waiting',
  'node.unknown',
  'run.finished',
]);

/** Undefined for a frame in which no node begins or ends to wait for a person: nearly all. */
export function humanTaskChanges(state: RunState, turn: Turn): HumanTaskChanges | undefined {
  const { entries, unsubscribed, leftUnknown } = turn;
  const left = unsubscribed.length + leftUnknown.length;
  if (left === 0 && !entries.some(({ type }) => CHANGES.has(type))) return undefined;
  if (isFinished(state.phase.status)) return left + state.unknown.size === 0 ? undefined : { isAll: true };
  if (entries.some(({ type }) => CHANGES_ALL.has(type))) {
    const isWithout = left + state.listening.size + state.unknown.size === 0;
    return isWithout ? undefined : { isAll: true, add: humanTasksOf(state) };
  }
  const begun = new Set<string>();
  for (const entry of entries)
    if (entry.type === 'node.waiting' || entry.type === 'node.unknown') begun.add(entry.node);
  const remove = [...unsubscribed, ...leftUnknown];
  const add = [...begun].flatMap((path) => {
    const node = nodeAt(state, path);
    return node === undefined ? [] : tasksOfNode(node);
  });
  return add.length + remove.length === 0 ? undefined : { add, remove };
}

/** All human tasks of a run. */
export function humanTasksOf(state: RunState): HumanTask[] {
  if (isFinished(state.phase.status)) return [];
  return [...state.listening, ...state.unknown].flatMap(tasksOfNode);
}

/** The event of a task to settle an unknown outcome; names of awaited events are never empty. */
const SETTLE = '';

function tasksOfNode(node: NodeState): HumanTask[] {
  const { phase, attempts } = node;
  const path = pathOf(node);
  if (phase.status === 'unknown') {
    const details = JSON.stringify({ attempt: attempts, error: shortError(phase.error) });
    return [{ node: path, event: SETTLE, kind: 'unknown', since: phase.at, deadline: null, details }];
  }
  if (phase.status !== 'listening') return [];
  const { since, deadline } = phase;
  return phase.waits.flatMap((wait) =>
    wait.kind === 'time'
      ? []
      : [
          {
            node: path,
            event: wait.name,
            kind: wait.kind,
            since,
            deadline,
            details: JSON.stringify(detailsOf(node, wait)),
          },
        ],
  );
}

function detailsOf(node: NodeState, wait: Exclude<AwaitedEvent, { kind: 'time' }>): Json {
  switch (wait.kind) {
    case 'approval': {
      const { title, who } = wait;
      return {
        ...(title !== undefined && { title: title.slice(0, MAX_TEXT_CHARS) }),
        ...(who !== undefined && { who: who.slice(0, MAX_NAMES) }),
        ...formOf(node, wait.name),
      };
    }
    case 'signal':
      return { signal: wait.signal, key: wait.key.slice(0, MAX_TEXT_CHARS) };
    case 'callback':
      return {};
  }
}

function formOf({ plan: { work } }: NodeState, event: string): { readonly form?: Json } {
  const found = work.kind === 'wait' ? work.waits.find(({ name }) => name === event) : undefined;
  const form = found?.kind === 'approval' ? found.form : undefined;
  if (form === undefined || JSON.stringify(form).length > MAX_FORM_CHARS) return {};
  return { form: form as Json };
}

function shortError({ code, message }: RunError): Json {
  return { code, message: message.slice(0, MAX_TEXT_CHARS) };
}
