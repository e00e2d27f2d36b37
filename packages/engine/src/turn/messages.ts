/** Messages in the inbox of a run. Any process can send one. */

import { type ExecutionId, isJsonObject, type Json, type JsonObject, type NodePath } from '@nebula/core';
import type {
  ChildCancel,
  ChildResult,
  ChildStart,
  MigrationDecisions,
  Settlement,
  Stimulus,
  StoredValue,
} from '@nebula/core/run';
import { type Clock, DEFAULT_PROJECT, type Inbox, type InboxRow, pauseFor, type Random } from '@nebula/ports';

type MessageType =
  | 'cancel'
  | 'placed'
  | 'restart'
  | 'retry'
  | 'replay'
  | 'pause'
  | 'resume'
  | 'signal'
  | 'answer'
  | 'callback';

/**
 * Messages: stimuli without the members that the engine adds when it reads them (`by` and `jitter`). The writes of
 * other runs send `granted` and `child`.
 */
export type Message =
  | Extract<Stimulus, { type: MessageType }>
  | Omit<Extract<Stimulus, { type: 'granted' }>, 'until' | 'miss'>
  | ChildEnded
  | MigrationRequest
  /** `attempt` was left out by earlier versions. */
  | Omit<Extract<Stimulus, { type: 'settle' }>, 'by'>;

/** The engine that reads the message adds the plan of the version. */
export interface MigrationRequest extends Omit<Extract<Stimulus, { type: 'migrate' }>, 'plan'> {
  readonly version: number;
}

/** A child has ended. The output is as the child stores it: a blob belongs to the child. */
export interface ChildEnded {
  readonly type: 'child';
  readonly node: NodePath;
  readonly executionId: ExecutionId;
  readonly result: Omit<ChildResult, 'output'> & { readonly output: StoredValue };
}

/** A message as it is read: a stimulus, or one that needs something from the store to be a stimulus. */
export type ReceivedMessage = Exclude<Stimulus, { type: 'child' | 'migrate' }> | ChildEnded | MigrationRequest;

/**
 * The name of a published signal, or of a shared key, in the store: each project has its own. In the default project the
 * name is stored as it is, unless it could be taken for that of another project.
 */
export function sharedName(project: string, name: string): string {
  return project === DEFAULT_PROJECT && !name.startsWith('[') ? name : JSON.stringify([project, name]);
}

/** The beginning of all shared names of a project that is not the default one. */
export function sharedPrefix(project: string): string {
  return `[${JSON.stringify(project)},`;
}

export function encodeMessage(message: Message): string {
  return JSON.stringify(message);
}

/** Sends a message to the inbox of a run. Returns false if there is no such run. */
export async function leave(
  { store, random, clock }: { readonly store: Inbox; readonly random: Random; readonly clock: Clock },
  executionId: ExecutionId,
  message: Message,
): Promise<boolean> {
  const body = encodeMessage(message);
  await pauseFor(body.length, clock);
  return store.send({ messageId: random.id('msg'), executionId, body }, clock.now());
}

/** The message of a parent that ends, or gives up the child. */
export function cancelMessage({ executionId, attempt, compensate }: ChildCancel, parentId: ExecutionId): InboxRow {
  const reason = `its parent ${parentId} is ending`;
  const body = encodeMessage({ type: 'cancel', reason, ...(compensate ? {} : { compensate }) });
  return { messageId: `cancel:${parentId}:${attempt}${compensate ? '' : ':leave'}`, executionId, body };
}

/** The message of a run that replaces this one. */
export function replaceMessage(by: string): { readonly messageId: string; readonly body: string } {
  return { messageId: `replaced:${by}`, body: encodeMessage({ type: 'cancel', reason: `replaced by ${by}` }) };
}

/** The message of a parent that is retried: the child replies with its result even if it has nothing left to do. */
export function retryMessage({ executionId, attempt }: ChildStart, parentId: ExecutionId): InboxRow {
  return {
    messageId: `retry:${parentId}:${attempt}`,
    executionId,
    body: encodeMessage({ type: 'retry', reply: true }),
  };
}

/** Returns undefined for a message that this version does not understand: the next frame drops it. */
export function receivedMessage(body: string): ReceivedMessage | undefined {
  const message = parsed(body);
  if (!isJsonObject(message)) return undefined;
  const { type } = message;
  return isMessageType(type) ? READERS[type](message) : undefined;
}

function isMessageType(type: Json | undefined): type is Message['type'] {
  return typeof type === 'string' && Object.hasOwn(READERS, type);
}

type Reader<T> = (message: JsonObject) => Extract<ReceivedMessage, { type: T }> | undefined;

const READERS: { readonly [T in Message['type']]: Reader<T> } = {
  cancel: ({ reason, compensate, node }) => {
    if (typeof reason !== 'string') return undefined;
    return {
      type: 'cancel',
      reason,
      ...(compensate === false ? { compensate } : {}),
      ...(typeof node === 'string' ? { node } : {}),
    };
  },
  restart: ({ until, input = {} }) => (typeof until === 'number' ? { type: 'restart', input, until } : undefined),
  retry: ({ reply }) => ({ type: 'retry', ...(reply === true ? { reply } : {}) }),
  resume: () => ({ type: 'resume' }),
  placed: () => ({ type: 'placed' }),
  pause: ({ reason }) => ({ type: 'pause', ...(typeof reason === 'string' ? { reason } : {}) }),
  replay: ({ node, input }) => {
    if (typeof node !== 'string') return undefined;
    return { type: 'replay', node, ...(input === undefined ? {} : { input }) };
  },
  signal: ({ signal, key, payload = null }) =>
    typeof signal === 'string' && typeof key === 'string' ? { type: 'signal', signal, key, payload } : undefined,
  answer: ({ node, approved, by, comment, form }) => {
    if (typeof node !== 'string' || typeof approved !== 'boolean' || typeof by !== 'string') return undefined;
    return {
      type: 'answer',
      node,
      approved,
      by,
      ...(typeof comment === 'string' ? { comment } : {}),
      ...(form === undefined ? {} : { form }),
    };
  },
  callback: ({ node, payload = null, generation }) => {
    if (typeof node !== 'string') return undefined;
    return { type: 'callback', node, payload, ...(typeof generation === 'number' ? { generation } : {}) };
  },
  granted: ({ node, gate, ask }) => {
    if (typeof node !== 'string' || (gate !== 'concurrency' && gate !== 'reserve')) return undefined;
    return { type: 'granted', node, gate, ...(typeof ask === 'string' ? { ask } : {}) };
  },
  migrate: ({ version, decisions, input, back }) => {
    if (typeof version !== 'number') return undefined;
    return {
      type: 'migrate',
      version,
      ...(decisions !== undefined && isJsonObject(decisions) && { decisions: decisions as MigrationDecisions }),
      ...(input !== undefined && { input }),
      ...(back === true && { back }),
    };
  },
  child: childOf,
  settle: ({ node, attempt, settlement: received }) => {
    const settlement = settlementOf(received);
    if (typeof node !== 'string' || settlement === undefined) return undefined;
    return { type: 'settle', node, by: 'person', settlement, ...(typeof attempt === 'number' ? { attempt } : {}) };
  },
};

const ENDS: readonly Json[] = ['completed', 'failed', 'cancelled', 'timed-out'];

/** Reads the message of a child that has ended, which an engine wrote with the last frame of the child. */
function childOf({ node, executionId, result }: JsonObject): ChildEnded | undefined {
  if (typeof node !== 'string' || typeof executionId !== 'string' || !isJsonObject(result ?? null)) return undefined;
  const { status, output, error = null } = result as JsonObject;
  if (!ENDS.includes(status ?? null) || !isJsonObject(output ?? null)) return undefined;
  return { type: 'child', node, executionId, result: { status, output, error } as unknown as ChildEnded['result'] };
}

function settlementOf(value: Json | undefined): Settlement | undefined {
  if (value === undefined || !isJsonObject(value)) return undefined;
  const { happened, output = null } = value;
  if (happened === true) return { happened, output };
  if (happened === 'unknown') return { happened };
  return happened === false && (value.then === 'retry' || value.then === 'fail')
    ? { happened, then: value.then }
    : undefined;
}

function parsed(body: string): Json {
  try {
    return JSON.parse(body) as Json;
  } catch {
    return null;
  }
}
