/** Requests to a run that travel through its inbox, so that any process can leave them. */
import {
  type ChildResult,
  type Gate,
  isJsonObject,
  type Json,
  type JsonObject,
  type Settlement,
  type Stimulus,
} from '@nebula/core';
import { DEFAULT_PROJECT, type InboxRow } from '@nebula/ports';

export type Message =
  | { readonly type: 'cancel'; readonly reason: string; readonly compensate?: boolean; readonly node?: string }
  /** A run that is held back is put off, and gets another input. */
  | { readonly type: 'restart'; readonly input: Json; readonly until: number }
  | { readonly type: 'retry' }
  | { readonly type: 'replay'; readonly node: string; readonly input?: Json }
  | { readonly type: 'pause'; readonly reason?: string }
  | { readonly type: 'resume' }
  | { readonly type: 'signal'; readonly signal: string; readonly key: string; readonly payload: Json }
  | {
      readonly type: 'answer';
      readonly node: string;
      readonly approved: boolean;
      readonly by: string;
      readonly comment?: string;
      readonly form?: Json;
    }
  | { readonly type: 'callback'; readonly node: string; readonly payload: Json }
  /** From whoever gave back a place that this run waited for. */
  | { readonly type: 'granted'; readonly node: string; readonly gate: Gate['kind'] }
  /** From a child execution. */
  | { readonly type: 'child'; readonly node: string; readonly executionId: string; readonly result: ChildResult }
  /** `attempt`: the one that was looked at. Left out by earlier versions. */
  | { readonly type: 'settle'; readonly node: string; readonly attempt?: number; readonly settlement: Settlement };

/**
 * What the store knows a published signal by: projects do not hear each other. In the default project it is the name
 * itself, unless that could be taken for another's.
 */
export function publicSignal(project: string, signal: string): string {
  return project === DEFAULT_PROJECT && !signal.startsWith('[') ? signal : JSON.stringify([project, signal]);
}

export function encodeMessage(message: Message): string {
  return JSON.stringify(message);
}

/** From a parent that wants nothing of it any more. */
export function cancelMessage(executionId: string, parentId: string): InboxRow {
  const body = encodeMessage({ type: 'cancel', reason: `its parent ${parentId} is ending` });
  return { messageId: `cancel:${parentId}`, executionId, body };
}

/** Undefined for a message that this version does not understand: it is dropped with the next frame. */
export function stimulusOf(body: string): Stimulus | undefined {
  const message = parsed(body);
  if (!isJsonObject(message)) return undefined;
  const { type, reason, node, attempt } = message;
  switch (type) {
    case 'cancel':
      if (typeof reason !== 'string') return undefined;
      return {
        type,
        reason,
        ...(message.compensate === false ? { compensate: false } : {}),
        ...(typeof node === 'string' ? { node } : {}),
      };
    case 'restart':
      if (typeof message.until !== 'number') return undefined;
      return { type, input: message.input ?? {}, until: message.until };
    case 'retry':
    case 'resume':
      return { type };
    case 'pause':
      return { type, ...(typeof reason === 'string' ? { reason } : {}) };
    case 'replay':
      if (typeof node !== 'string') return undefined;
      return { type, node, ...(message.input === undefined ? {} : { input: message.input }) };
    case 'signal':
      return signalOf(message);
    case 'answer':
      return answerOf(message);
    case 'callback':
      return typeof node === 'string' ? { type, node, payload: message.payload ?? null } : undefined;
    case 'granted':
      if (typeof node !== 'string' || (message.gate !== 'concurrency' && message.gate !== 'reserve')) return undefined;
      return { type, node, gate: message.gate };
    case 'child':
      return childOf(message);
    case 'settle': {
      const settlement = settlementOf(message.settlement);
      if (typeof node !== 'string' || settlement === undefined) return undefined;
      return { type, node, by: 'person', settlement, ...(typeof attempt === 'number' ? { attempt } : {}) };
    }
    default:
      return undefined;
  }
}

function signalOf({ signal, key, payload = null }: JsonObject): Stimulus | undefined {
  return typeof signal === 'string' && typeof key === 'string' ? { type: 'signal', signal, key, payload } : undefined;
}

function answerOf({ node, approved, by, comment, form }: JsonObject): Stimulus | undefined {
  if (typeof node !== 'string' || typeof approved !== 'boolean' || typeof by !== 'string') return undefined;
  return {
    type: 'answer',
    node,
    approved,
    by,
    ...(typeof comment === 'string' ? { comment } : {}),
    ...(form === undefined ? {} : { form }),
  };
}

const ENDS: readonly Json[] = ['completed', 'failed', 'cancelled', 'timed-out'];

/** Written by an engine, with the frame that ended the child. */
function childOf({ node, executionId, result }: JsonObject): Stimulus | undefined {
  if (typeof node !== 'string' || typeof executionId !== 'string' || !isJsonObject(result ?? null)) return undefined;
  const { status, output, error = null } = result as JsonObject;
  if (!ENDS.includes(status ?? null) || !isJsonObject(output ?? null)) return undefined;
  return { type: 'child', node, executionId, result: { status, output, error } as unknown as ChildResult, jitter: 1 };
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
