import type { Inbox } from '@nebula/ports';
import type { OpenData } from './data.ts';

export function memoryInbox(open: OpenData): Inbox {
  return {
    async send(message, wakeAt) {
      open.get();
      const isKnown = open.deliver(message, wakeAt);
      if (isKnown) open.wrote();
      return isKnown;
    },
    async inbox(executionId) {
      return [...(open.get().runs.get(executionId)?.inbox.values() ?? [])];
    },
    async publish(signal) {
      const executionId = open.get().permits.publish(signal, (message, at) => open.deliver(message, at));
      open.wrote();
      return executionId;
    },
  };
}
