/**
 * The queue carries hints that a node is ready to be run; the journal decides whether it really is.
 * A lost task is found again by the run's resync; a duplicate is refused by the journal.
 *
 * What every driver promises:
 *  Q1 A task is given to one receiver at a time, until it is acked or its visibility passes.
 *  Q2 An unacked task comes back after `visibilityMs`; `extend` sets that time anew.
 *  Q3 Higher priority first; equal priority in order of arrival.
 *  Q4 A delivery that came back may not be acked by its former receiver (ack returns false).
 *  Q5 Enqueuing the same taskId while it waits or is held is enqueuing it once.
 *  Q6 Tasks of one route are given to nobody who asks for others.
 */

export interface Task {
  /** `<execution>:<path>:<attempt>`. */
  readonly taskId: string;
  readonly executionId: string;
  readonly node: string;
  readonly attempt: number;
  /** 0 to 9; 9 is the most urgent. */
  readonly priority: number;
  /** Who may run it: '' the process that enqueued it or one like it, else a worker outside that fits. */
  readonly route: string;
}

export interface Delivery {
  readonly task: Task;
  /** Changes with each delivery of the same task. */
  readonly receipt: number;
}

export interface Queue {
  /**
   * True when the queue lives and dies with this process: tasks may then be enqueued in the same turn
   * that decides them, before the commit. A remote queue is told only after it.
   */
  readonly local: boolean;
  enqueue(tasks: readonly Task[]): Promise<void> | undefined;
  /** Takes what is here now, without waiting: of these routes, the most urgent first. Without `routes`, of ''. */
  poll(max: number, routes?: readonly string[]): readonly Delivery[];
  /** Those on which something waits to be taken. */
  routes(): readonly string[];
  /** Calls back when `poll` may give something, with the routes on which it may. Returns the way to stop. */
  onAvailable(callback: (routes: readonly string[]) => void): () => void;
  ack(delivery: Delivery): boolean;
  /** Gives the task back, to be delivered again after the delay. */
  nack(delivery: Delivery, delayMs: number): boolean;
  extend(delivery: Delivery): boolean;
  /** Number of tasks that wait or are held. */
  depth(): number;
  /** When the task that has waited longest for a receiver came (again); null when none waits. For people who look: it may cost a walk over what waits. */
  waitingSince(): number | null;
  close(): Promise<void>;
}
