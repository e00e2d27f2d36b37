/**
 * The iterations of composite nodes, by the journal. An iteration closes once, and nothing begins in one that is over.
 */
import type { Entry } from '@nebula/core';
import { BUSY, FINAL, type NodeRecord } from './node-record.ts';

interface ScopeRecord {
  /** The composite node. */
  readonly node: string;
  status: 'open' | 'stopping' | 'closed';
  /** While the scope stops: targets of `always` edges run. */
  cleans: boolean;
}

interface Body {
  /** False for other loops, whose iterations replace each other. */
  readonly isForEach: boolean;
  next: number;
  isStopping: boolean;
  cleans: boolean;
}

/** Statuses before the first attempt since the last reopening. */
const UNBEGUN: readonly string[] = ['queued', 'gated'];
/** Statuses that stay when a scope is over: not begun, final, or unknown. */
const STAYS: readonly string[] = [...FINAL, 'unknown', 'idle'];

export class Scopes {
  private readonly nodes: ReadonlyMap<string, NodeRecord>;
  private readonly complain: (complaint: string) => void;
  /** Scopes by path, without the root. */
  private readonly scopes = new Map<string, ScopeRecord>();
  private readonly bodies = new Map<string, Body>();

  constructor(nodes: ReadonlyMap<string, NodeRecord>, complain: (complaint: string) => void) {
    this.nodes = nodes;
    this.complain = complain;
  }

  /** The number of iterations of a forEach that have begun; undefined for any other node. */
  roundsOf(node: string): number | undefined {
    const body = this.bodies.get(node);
    return body?.isForEach === true ? body.next : undefined;
  }

  begin(node: string, { count }: Extract<Entry, { type: 'node.opened' }>): void {
    this.bodies.set(node, { isForEach: count !== undefined, next: 0, isStopping: false, cleans: false });
    // A body that runs once has its scope now; a loop without a known number gets its iterations next.
    if (count === undefined) this.scopes.set(node, { node, status: 'open', cleans: false });
  }

  open(node: string, from: number, to: number): void {
    const body = this.bodies.get(node);
    if (this.nodes.get(node)?.status !== 'open' || body === undefined)
      return this.complain(`${node} has no iterations`);
    if (body.next !== from || to <= from)
      this.complain(`iterations ${from} to ${to} of ${node} begin after ${body.next}`);
    if (body.isStopping) this.complain(`${node} is being stopped, and begins iteration ${from}`);
    body.next = to;
    this.scopes.delete(node);
    if (!body.isForEach) this.remove(node);
    for (let iteration = from; iteration < to; iteration++)
      this.scopes.set(`${node}/${iteration}`, { node, status: 'open', cleans: false });
  }

  stop(scope: string, cleans = false): void {
    const record = this.scopes.get(scope);
    if (record?.status !== 'open') return this.complain(`${scope} is ${record?.status}, and stopped`);
    this.drop(scope, cleans);
    record.status = 'stopping';
    record.cleans = cleans;
  }

  /**
   * Ends the scope early: nodes that have not begun are cancelled, and begin only in a finally. A scope inside that
   * ends early already continues with its own finally, the innermost first, unless this one skips all of them.
   */
  drop(scope: string, cleans: boolean): void {
    const ending = cleans ? this.cleaning(scope) : [];
    for (const [path, record] of this.inside(scope)) {
      if (!UNBEGUN.includes(record.status) || record.hasBegun) continue;
      if (ending.some((inner) => isBelow(path, inner))) continue;
      record.isGatedInCleanup = cleans && record.status === 'gated' && this.isIn(path, scope);
      record.status = 'idle';
    }
  }

  /** Allowed once, unless a person cancels a node that is ending, or asks not to undo. */
  stopNode(node: string, entry: Extract<Entry, { type: 'node.stopping' }>): void {
    const body = this.bodies.get(node);
    const { finally: cleans = false, cancelled = false, cancelRequested = false } = entry;
    const isAnew = entry.compensate === false || cancelRequested || !cleans;
    if (body === undefined || (body.isStopping && !isAnew)) return this.complain(`${node} is stopped twice`);
    if (body.cleans && !cleans && !cancelled && !cancelRequested)
      this.complain(`${node} skips its finally after one cancel`);
    this.drop(node, cleans);
    body.isStopping = true;
    body.cleans = cleans;
  }

  close(scope: string, isFailed: boolean): void {
    const record = this.scopes.get(scope);
    if (record === undefined || record.status === 'closed') return this.complain(`${scope} is closed twice`);
    if (isFailed) return this.cut(scope, `${scope} is closed`);
    for (const [path, { status }] of this.inside(scope)) {
      const isDirect = !path.slice(scope.length + 1).includes('/');
      const isLeft = record.status === 'stopping' ? !STAYS.includes(status) : !FINAL.includes(status);
      if (isDirect && isLeft) this.complain(`${scope} is closed while ${path} is ${status}`);
    }
    this.scopes.delete(scope);
  }

  /** The composite node is final. */
  end(node: string, isCompleted: boolean): void {
    for (const [path, scope] of this.scopes) {
      if (scope.node !== node || scope.status === 'closed') continue;
      const isLoop = path !== node;
      if (isCompleted && isLoop) this.complain(`${node} is completed before ${path}`);
      if (isCompleted && !isLoop) this.close(path, false);
      else this.cut(path, `${node} ends`);
    }
    if (isCompleted) this.remove(node);
  }

  /** The scope is over; nodes in it that have not ended never will. Unknown outcomes stay unknown. */
  cut(scope: string, why: string): void {
    for (const [path, record] of this.inside(scope)) {
      if (BUSY.includes(record.status)) this.complain(`${why} while ${path} is ${record.status}`);
      if (!STAYS.includes(record.status)) record.status = 'cancelled';
    }
    for (const [path, record] of this.scopes) {
      if (scope === '' || path === scope || path.startsWith(`${scope}/`)) record.status = 'closed';
    }
  }

  /** The nodes inside begin anew, or never began. */
  forget(node: string): void {
    this.bodies.delete(node);
    for (const path of [...this.scopes.keys()]) if (isBelow(path, node) || path === node) this.scopes.delete(path);
    for (const path of [...this.nodes.keys()]) {
      if (isBelow(path, node)) (this.nodes as Map<string, NodeRecord>).delete(path);
    }
  }

  /** The loop continues with the iterations that did not succeed. */
  reopen(node: string): void {
    const record = this.nodes.get(node);
    const body = this.bodies.get(node);
    if (record === undefined || body === undefined) return this.complain(`${node} goes on, and never began`);
    record.status = 'open';
    body.isStopping = false;
    for (const scope of this.scopes.values()) if (scope.node === node) scope.status = 'open';
  }

  /** Returns whether the iteration of that path, and all scopes around it, are not over. */
  isHere(path: string): boolean {
    return this.holds(path, (scope) => scope.status !== 'closed');
  }

  /** Returns whether something may also begin in it. */
  isLive(path: string): boolean {
    return this.holds(path, ({ status, node, cleans }) => {
      const body = this.bodies.get(node);
      return (status === 'open' || cleans) && body !== undefined && (!body.isStopping || body.cleans);
    });
  }

  private holds(path: string, test: (scope: ScopeRecord) => boolean): boolean {
    const parts = path.split('/');
    if (parts.at(-2) === '~undo') parts.splice(-2);
    for (let length = parts.length - 1; length > 0; length--) {
      const scope = this.scopes.get(parts.slice(0, length).join('/'));
      // Between a loop and its iteration there is no scope.
      if (scope !== undefined && !test(scope)) return false;
      if (scope === undefined && length === parts.length - 1) return false;
    }
    return true;
  }

  private remove(node: string): void {
    for (const [path, scope] of this.scopes) if (scope.node === node) this.scopes.delete(path);
  }

  /** Iterations and composite nodes, the scope itself or inside it, whose finally runs. */
  private cleaning(scope: string): string[] {
    const scopes = [...this.scopes].filter(([, { status, cleans }]) => status === 'stopping' && cleans);
    const bodies = [...this.bodies].filter(([, { isStopping, cleans }]) => isStopping && cleans);
    const paths = [...scopes, ...bodies].map(([path]) => path);
    return paths.filter((path) => scope === '' || path === scope || isBelow(path, scope));
  }

  /** A composite node of the scope, open and not told to stop, contains the node at the path. */
  private isIn(path: string, scope: string): boolean {
    for (let cut = path.lastIndexOf('/'); cut > scope.length; cut = path.lastIndexOf('/', cut - 1))
      if (this.nodes.get(path.slice(0, cut))?.status === 'open') return true;
    return false;
  }

  private inside(scope: string): [string, NodeRecord][] {
    return [...this.nodes].filter(([path]) => scope === '' || path.startsWith(`${scope}/`));
  }
}

function isBelow(path: string, node: string): boolean {
  return path.startsWith(`${node}/`);
}
