/** The other ports of a process: each call is a crash point, and some calls fail. */
import type { Action } from '@nebula/core';
import { memoryLogs } from '@nebula/drivers/memory';
import type { Blobs, Digest, Invocation, Logs, Queue, Sandbox } from '@nebula/ports';
import type { Chance } from '../chance.ts';
import type { Injector } from '../injector.ts';
import type { Process } from '../process.ts';

const BLOB_DELAY_MS = [5, 30, 900];

export function faultyBlobs(process: Process, stored: Blobs, chance: Chance, faults: Injector): Blobs {
  const asked = async <T>(name: string, executionId: string, work: () => Promise<T>): Promise<T> => {
    const targets = [{ executionId }];
    return process.during(targets, async () => {
      if (faults.strikes('blob delayed', () => targets)) await process.later(chance.pick(BLOB_DELAY_MS));
      return process.call(`blobs.${name}`, async () => {
        if (faults.strikes('blob refused', () => targets)) throw new Error('the disk is full, and unreadable');
        return work();
      });
    });
  };
  return {
    put: (executionId, sha256, data) => asked('put', executionId, () => stored.put(executionId, sha256, data)),
    get: (executionId, sha256) => asked('get', executionId, () => stored.get(executionId, sha256)),
    deleteExecution: (executionId) => asked('delete', executionId, () => stored.deleteExecution(executionId)),
    executions: () => stored.executions(),
  };
}

/** `actions`: those of this process. */
export function edgedSandbox(process: Process, sandbox: Sandbox, actions: ReadonlyMap<string, Action>): Sandbox {
  const own = (invocation: Invocation): Invocation => ({
    ...invocation,
    action: actions.get(invocation.action.id) ?? invocation.action,
  });
  return {
    run: (invocation) => process.call('sandbox.run', () => sandbox.run(own(invocation))),
    verify: (invocation) => process.call('sandbox.verify', () => sandbox.verify(own(invocation))),
    admit: (foreign, outcome) => sandbox.admit(foreign, outcome),
    admitLine: (foreign, line) => sandbox.admitLine(foreign, line),
  };
}

export function edgedLogs(process: Process): Logs {
  const logs = memoryLogs();
  return {
    ...logs,
    append: (line) => process.callNow('logs.append', undefined, () => logs.append(line)),
    flush: () => process.call('logs.flush', () => logs.flush()),
    deleteExecution: (executionId) => process.call('logs.delete', () => logs.deleteExecution(executionId)),
  };
}

export function edgedDigest(process: Process, digest: Digest): Digest {
  return (data) => process.callNow('digest', 'dead', () => digest(data));
}

/** A queue that lives and dies with its process loses nothing; its calls are still crash points. */
export function edgedQueue(process: Process, queue: Queue): Queue {
  return {
    local: queue.local,
    enqueue: (tasks) => process.callNow('queue.enqueue', undefined, () => queue.enqueue(tasks)),
    poll: (max, routes) => process.callNow('queue.poll', [], () => queue.poll(max, routes)),
    routes: () => queue.routes(),
    onAvailable: (callback) => queue.onAvailable(callback),
    ack: (delivery) => process.callNow('queue.ack', undefined, () => queue.ack(delivery)),
    nack: (delivery, delayMs) => process.callNow('queue.nack', undefined, () => queue.nack(delivery, delayMs)),
    extend: (delivery) => process.callNow('queue.extend', undefined, () => queue.extend(delivery)),
    stats: () => queue.stats(),
    close: () => queue.close(),
  };
}
