/**
 * The iterations of loops, by the definition:
 *
 *  1 A parallel loop has at most `maxConcurrency` open iterations, any other loop one. Only a reopened loop may have
 *    more: it continues all iterations that failed, and begins another one when there is room.
 *  2 No iteration begins after a `break`, or after the first result of a split whose merge takes any.
 *  3 With that first result the other iterations are stopped.
 */
import type { Entry } from '@nebula/core';
import type { Keys } from './model/graph.ts';

/** `maxConcurrency` of a parallel loop that does not say. */
const DEFAULT_CONCURRENCY = 10;

interface Loop {
  readonly limit: number;
  /** An iteration follows the one before, also after its failure: `while`, `retryUntil`. */
  readonly isChain: boolean;
  /** The first result ends the loop. */
  readonly takesFirst: boolean;
  readonly open: Set<number>;
  readonly failed: Set<number>;
  readonly stopping: Set<number>;
  /** The reason why no further iteration begins. */
  decided: string | undefined;
}

export interface LoopsParts {
  readonly complain: (complaint: string) => void;
  /** The node of the definition at a path, and the nodes beside it. */
  readonly find: (path: string) => { readonly keys: Keys; readonly beside: Readonly<Record<string, Keys>> } | undefined;
}

export class Loops {
  private readonly parts: LoopsParts;
  private readonly loops = new Map<string, Loop>();
  /** Nodes and scopes that were told to stop; the run is the empty path. */
  private readonly stopped = new Set<string>();
  /** Loops that got their first result in this frame. */
  private readonly won = new Set<string>();

  constructor(parts: LoopsParts) {
    this.parts = parts;
  }

  entry(entry: Entry): void {
    switch (entry.type) {
      case 'node.opened':
        return this.begin(entry.node);
      case 'scopes.opened':
        return this.open(entry.node, entry.from, entry.to);
      case 'scope.stopping':
        this.stopped.add(entry.scope);
        this.iteration(entry.scope, (loop, index) => loop.stopping.add(index));
        return;
      case 'scope.closed':
        return this.iteration(entry.scope, (loop, index, node) => {
          loop.open.delete(index);
          if (entry.error !== undefined) loop.failed.add(index);
          else if (loop.takesFirst) this.win(loop, node);
        });
      case 'node.completed':
        if (this.parts.find(entry.node)?.keys.break === true) this.break(entry.node);
        return;
      case 'node.retrying':
        return this.forget(entry.node);
      case 'node.stopping':
        this.stopped.add(entry.node);
        return;
      case 'run.stopping':
        this.stopped.add('');
        return;
      case 'run.reopened':
        return this.reopen(entry);
      default:
    }
  }

  /** The frame is complete. */
  end(): void {
    for (const node of this.won) {
      const loop = this.loops.get(node);
      const left = [...(loop?.open ?? [])].filter((index) => loop?.stopping.has(index) === false);
      if (left.length > 0 && !this.isStopped(node))
        this.parts.complain(`${node} has its first result, and iterations ${left} continue`);
    }
    this.won.clear();
  }

  private begin(node: string): void {
    this.forget(node);
    const { keys, beside } = this.parts.find(node) ?? {};
    if (keys?.do === undefined) return;
    const merges = Object.values(beside ?? {}).filter(
      ({ merge, needs }) => merge !== undefined && ((needs ?? []) as string[]).includes(idOf(node)),
    );
    this.loops.set(node, {
      limit: limitOf(keys),
      isChain: keys.forEach === undefined && keys.split === undefined,
      takesFirst: keys.split !== undefined && merges.some(({ merge }) => (merge as Keys).wait === 'any'),
      open: new Set(),
      failed: new Set(),
      stopping: new Set(),
      decided: undefined,
    });
  }

  private open(node: string, from: number, to: number): void {
    const loop = this.loops.get(node);
    if (loop === undefined) return;
    if (loop.decided !== undefined) this.parts.complain(`iteration ${from} of ${node} begins after ${loop.decided}`);
    if (loop.isChain) loop.failed.clear();
    for (let index = from; index < to; index++) loop.open.add(index);
    if (loop.open.size > loop.limit)
      this.parts.complain(`${node} has ${loop.open.size} open iterations, and may have ${loop.limit}`);
  }

  private win(loop: Loop, node: string): void {
    loop.decided = 'its first result';
    this.won.add(node);
  }

  private break(node: string): void {
    this.iteration(node.slice(0, Math.max(0, node.lastIndexOf('/'))), (loop) => {
      loop.decided = `the break of ${node}`;
    });
  }

  private reopen({ nodes, open = [] }: Extract<Entry, { type: 'run.reopened' }>): void {
    this.stopped.clear();
    for (const node of nodes) this.forget(node);
    for (const node of open) {
      const loop = this.loops.get(node);
      if (loop === undefined) continue;
      for (const index of loop.failed) loop.open.add(index);
      loop.failed.clear();
      loop.stopping.clear();
    }
  }

  /** The node begins anew, with everything inside. */
  private forget(node: string): void {
    for (const known of [this.loops, this.stopped]) {
      for (const path of [...known.keys()]) if (path === node || path.startsWith(`${node}/`)) known.delete(path);
    }
  }

  private iteration(scope: string, act: (loop: Loop, index: number, node: string) => void): void {
    const cut = scope.lastIndexOf('/');
    const node = scope.slice(0, Math.max(0, cut));
    const loop = this.loops.get(node);
    if (loop !== undefined) act(loop, Number(scope.slice(cut + 1)), node);
  }

  private isStopped(node: string): boolean {
    return [...this.stopped].some((path) => path === '' || path === node || node.startsWith(`${path}/`));
  }
}

function limitOf({ forEach, split }: Keys): number {
  const { parallel = split !== undefined, maxConcurrency = DEFAULT_CONCURRENCY } = (forEach ?? {}) as {
    readonly parallel?: boolean;
    readonly maxConcurrency?: number;
  };
  return parallel ? maxConcurrency : 1;
}

function idOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
