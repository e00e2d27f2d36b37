/** Requests to a run that travel through its inbox, so that any process can leave them. */
import { isJsonObject, type Json, type Settlement, type Stimulus } from '@nebula/core';

export type Message =
  | { readonly type: 'cancel'; readonly reason: string }
  | { readonly type: 'retry' }
  /** `attempt`: the one that was looked at. Left out by earlier versions. */
  | { readonly type: 'settle'; readonly node: string; readonly attempt?: number; readonly settlement: Settlement };

export function encodeMessage(message: Message): string {
  return JSON.stringify(message);
}

/** Undefined for a message that this version does not understand: it is dropped with the next frame. */
export function stimulusOf(body: string): Stimulus | undefined {
  const message = parsed(body);
  if (!isJsonObject(message)) return undefined;
  const { type, reason, node, attempt } = message;
  switch (type) {
    case 'cancel':
      return typeof reason === 'string' ? { type, reason } : undefined;
    case 'retry':
      return { type };
    case 'settle': {
      const settlement = settlementOf(message.settlement);
      if (typeof node !== 'string' || settlement === undefined) return undefined;
      return { type, node, by: 'person', settlement, ...(typeof attempt === 'number' ? { attempt } : {}) };
    }
    default:
      return undefined;
  }
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
