/** Requests to a run that travel through its inbox, so that any process can leave them. */
import type { Settlement, Stimulus } from '@nebula/core';

export type Message =
  | { readonly type: 'cancel'; readonly reason: string }
  | { readonly type: 'retry' }
  | { readonly type: 'settle'; readonly node: string; readonly settlement: Settlement };

export function encodeMessage(message: Message): string {
  return JSON.stringify(message);
}

/** Undefined for a message that this version does not know: it is dropped with the next frame. */
export function stimulusOf(body: string): Stimulus | undefined {
  const message = JSON.parse(body) as Message;
  switch (message.type) {
    case 'cancel':
      return { type: 'cancel', reason: message.reason };
    case 'retry':
      return { type: 'retry' };
    case 'settle':
      return { type: 'settle', node: message.node, by: 'person', settlement: message.settlement };
    default:
      return undefined;
  }
}
