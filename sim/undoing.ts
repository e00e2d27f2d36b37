/** Compensation, by the journal: completed nodes are undone once, last first, one after the other. */
import { FINAL, type NodeRecord, type Status } from './node-record.ts';

const UNDO = '~undo';

/** A completed node and its generation. */
export interface Item {
  readonly path: string;
  readonly generation: number;
}

export class Undoing {
  private readonly nodes: Map<string, NodeRecord>;
  private readonly complain: (complaint: string) => void;
  /** Completed nodes that can be undone, in the order of completion. */
  private items: Item[] = [];
  /** The nodes that are undone in each scope, in order. */
  private readonly plans = new Map<string, readonly Item[]>();
  /** Scopes whose undo was stopped. */
  private readonly stopped = new Set<string>();

  constructor(nodes: Map<string, NodeRecord>, complain: (complaint: string) => void) {
    this.nodes = nodes;
    this.complain = complain;
  }

  isUndo(path: string): boolean {
    return path.startsWith(`${UNDO}/`) || path.includes(`/${UNDO}/`);
  }

  /** The generation of the node that a compensation undoes; undefined for any other node. */
  generationOf(path: string): number | undefined {
    return this.planned(path)?.item?.generation;
  }

  /** The node that a compensation undoes. */
  undoneBy(path: string): Item | undefined {
    return this.planned(path)?.item;
  }

  /**
   * `isLate`: the node was settled as completed afterwards; if the scope around it is being undone by then, it is
   * undone next.
   */
  done(path: string, generation: number, isLate = false): void {
    const item = { path, generation };
    this.items = [...this.items.filter((other) => other.path !== path), item];
    const scope = isLate ? this.openAround(path) : undefined;
    const plan = scope === undefined ? undefined : this.plans.get(scope);
    if (scope === undefined || plan === undefined || this.stopped.has(scope)) return;
    const current = plan.findIndex((other) => !FINAL.includes(this.statusOf(scope, other)));
    this.plans.set(scope, plan.toSpliced(current < 0 ? plan.length : current + 1, 0, item));
  }

  /** The innermost scope around the node that is being undone. */
  private openAround(path: string): string | undefined {
    for (let scope = parentOf(path); scope !== ''; scope = parentOf(scope)) {
      if (this.plans.has(scope) && this.nodes.get(scope)?.status === 'open') return scope;
    }
    return this.plans.has('') ? '' : undefined;
  }

  open(scope: string, undoes = true): void {
    if (this.plans.has(scope)) this.complain(`${scope || 'the run'} is undone twice`);
    this.collect();
    const items = this.items.filter(({ path }) => scope === '' || path.startsWith(`${scope}/`)).reverse();
    this.plans.set(scope, undoes ? items : []);
    if (!undoes) this.stopped.add(scope);
  }

  /** `path`: the path of the compensations. */
  stop(path: string): void {
    const scope = parentOf(path);
    if (!this.plans.has(scope) || this.stopped.has(scope)) this.complain(`${path} is stopped, and is not under way`);
    this.stopped.add(scope);
  }

  begins(path: string): void {
    if (!this.isUndo(path)) return;
    const { plan, scope, item } = this.planned(path) ?? {};
    if (scope !== undefined && this.stopped.has(scope)) this.complain(`${path} begins, and nobody wants it undone`);
    if (plan === undefined || scope === undefined || item === undefined)
      return this.complain(`${path} undoes what was not done, or is undone already`);
    const before = plan.slice(0, plan.indexOf(item)).map((other) => undoPath(scope, other.path));
    const early = before.find((other) => !FINAL.includes(this.nodes.get(other)?.status ?? 'idle'));
    if (early !== undefined) this.complain(`${path} is undone before ${early}`);
  }

  /** Removes nodes that have been undone. */
  collect(): void {
    for (const [scope, plan] of this.plans) {
      const done = new Set(plan.filter((item) => this.statusOf(scope, item) === 'completed'));
      if (done.size > 0) this.items = this.items.filter((item) => !done.has(item));
    }
  }

  /** The run has ended: everything was undone, or could not be. */
  close(): void {
    this.collect();
    this.mustBeOver('');
  }

  /** A transaction is undone before it, or any scope around it, ends. */
  mustBeOver(node: string): void {
    for (const [scope, plan] of this.plans) {
      const isInside = node === '' || scope === node || scope.startsWith(`${node}/`);
      if (!isInside || this.stopped.has(scope)) continue;
      for (const item of plan) {
        const status = this.statusOf(scope, item);
        if (!FINAL.includes(status)) this.complain(`${item.path} was to be undone, and is ${status}`);
      }
    }
  }

  /** A composite node begins again after it was undone. */
  again(scope: string): void {
    this.mustBeOver(scope);
    this.collect();
    const isInside = (path: string): boolean => path === scope || path.startsWith(`${scope}/`);
    for (const path of [...this.plans.keys()].filter(isInside)) this.plans.delete(path);
    for (const path of [...this.stopped].filter(isInside)) this.stopped.delete(path);
    for (const path of [...this.nodes.keys()]) if (isInside(path) && this.isUndo(path)) this.nodes.delete(path);
  }

  /** Nodes of the run that have been undone since it began, or was last reopened. */
  undone(): string[] {
    const plan = this.plans.get('') ?? [];
    return plan.filter((item) => this.statusOf('', item) === 'completed').map(({ path }) => path);
  }

  /** Called before the run is reopened. */
  forget(): void {
    this.plans.clear();
    this.stopped.clear();
    for (const path of [...this.nodes.keys()]) if (this.isUndo(path)) this.nodes.delete(path);
  }

  /** A node that begins as something new has nothing to undo yet. */
  renew(path: string): void {
    this.items = this.items.filter((item) => item.path !== path && !item.path.startsWith(`${path}/`));
  }

  private statusOf(scope: string, { path }: Item): Status {
    return this.nodes.get(undoPath(scope, path))?.status ?? 'idle';
  }

  private planned(path: string): { plan: readonly Item[]; scope: string; item: Item | undefined } | undefined {
    const cut = path.lastIndexOf('/');
    const around = path.slice(0, Math.max(0, cut));
    if (around !== UNDO && !around.endsWith(`/${UNDO}`)) return undefined;
    const scope = around.slice(0, Math.max(0, around.length - UNDO.length - 1));
    const plan = this.plans.get(scope) ?? [];
    return { plan, scope, item: plan.find((item) => undoPath(scope, item.path) === path) };
  }
}

function undoPath(scope: string, path: string): string {
  return `${scope === '' ? '' : `${scope}/`}${UNDO}/${path.replaceAll('/', ':')}`;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
