/**
 * The queue carries hints that a node is ready to run; the journal decides whether it is. A lost task is offered again
 * when its run resyncs, and a duplicate is refused by the journal. So nothing waits for the queue's answers: `ack`,
 * `nack` and `extend` return at once, and a driver may batch them. A lost ack brings the task back, which is harmless.
 *
 * Every driver guarantees:
 *  Q1 A task is given to one receiver at a time, until it is acked or its visibility passes.
 *  Q2 An unacked task comes back after `visibilityMs`; `extend` restarts that time.
 *  Q4 A receiver whose delivery has come back changes nothing by acking, nacking or extending it.
 *  Q6 Tasks of one route are not given to a receiver that asks for others.
 *
 * A queue with `local` guarantees besides:
 *  Q3 Higher priority first; equal priority in order of arrival, which a task that comes back keeps.
 *  Q5 Enqueuing the same taskId while it waits or is held is enqueuing it once.
 */
import type { ExecutionId, NodePath } from '@nebula/core';

export interface Task {
  /** `<execution>:<path>:<attempt>`. */
  readonly taskId: string;
  readonly executionId: ExecutionId;
  readonly node: NodePath;
  readonly attempt: number;
  /** 0 to 9; 9 is the most urgent. */
  readonly priority: number;
  /**
   * The receivers that may run the task: '' for processes like the one that enqueued it, else matching remote workers.
   */
  readonly route: string;
}

export interface Delivery {
  readonly task: Task;
  /** Changes with each delivery of the same task. */
  readonly receipt: number;
}

export interface QueueStats {
  /** The number of tasks that wait or are held, delayed ones included. */
  readonly depth: number;
  /**
   * Since when the longest-waiting task waits for a receiver; null if none waits. Held and delayed tasks do not wait.
   */
  readonly waitingSince: number | null;
  /** The number of waiting tasks of each route that has some. */
  readonly waiting: ReadonlyMap<string, number>;
}

export interface Queue {
  /**
   * True if the queue lives and dies with this process: tasks may then be enqueued in the turn that decides them,
   * before the commit. Other queues are notified after the commit.
   */
  readonly local: boolean;
  enqueue(tasks: readonly Task[]): Promise<void> | undefined;
  /** Takes available tasks of these routes without waiting, most urgent first. Without `routes`, of ''. */
  poll(max: number, routes?: readonly string[]): readonly Delivery[];
  /** Routes on which tasks wait. */
  routes(): readonly string[];
  /** Calls back when `poll` may return something, with the routes on which it may. Returns a function that stops it. */
  onAvailable(callback: (routes: readonly string[]) => void): () => void;
  /** The task is done, or no longer needed. */
  ack(delivery: Delivery): void;
  /** Returns the task to the queue, to be delivered again after the delay. */
  nack(delivery: Delivery, delayMs: number): void;
  extend(delivery: Delivery): void;
  /** Statistics for metrics; may be expensive. */
  stats(): Promise<QueueStats>;
  /** Waits for acks that are under way. */
  close(): Promise<void>;
}
