/** Events of the element. Those that ask for a change of the graph can be prevented; then the page makes the change. */
import type { EdgeKind, Point } from '../model/graph.ts';

export interface GraphEvents {
  /** The selection has changed. */
  readonly 'nebula-select': { readonly nodes: readonly string[]; readonly edges: readonly string[] };
  /** A node was opened: by Enter or a double click. */
  readonly 'nebula-open': { readonly node: string };
  readonly 'nebula-hover': { readonly node: string | null };
  readonly 'nebula-toggle': { readonly group: string; readonly isCollapsed: boolean };
  /** An iteration of a loop was chosen. Without an objection, the nodes in the loop show it. */
  readonly 'nebula-iteration': { readonly group: string; readonly iteration: number };
  /** The menu of a node, an edge or the background is wanted, at a point relative to the element. */
  readonly 'nebula-menu': { readonly node: string | null; readonly edge: string | null; readonly at: Point };
  /** Nodes were moved by hand. */
  readonly 'nebula-move': { readonly nodes: Readonly<Record<string, Point>> };
  readonly 'nebula-connect': {
    readonly from: string;
    readonly to: string;
    readonly kind: EdgeKind;
    readonly port: string | undefined;
  };
  readonly 'nebula-remove': { readonly nodes: readonly string[]; readonly edges: readonly string[] };
  /** Nodes are copied. A page that prevents it writes its own text into the clipboard. */
  readonly 'nebula-copy': { readonly nodes: readonly string[]; readonly clipboard: DataTransfer };
  readonly 'nebula-paste': { readonly text: string; readonly into: string | undefined };
  /** Something was dropped: `data` by its type. `edge`: it is to be inserted into this edge. */
  readonly 'nebula-drop': {
    readonly data: Readonly<Record<string, string>>;
    readonly at: Point;
    readonly into: string | undefined;
    readonly edge: string | undefined;
  };
  /** A new node is wanted after this one, or at the start; `edge`: into this edge; `kind` and `port`: from this outlet. */
  readonly 'nebula-add': {
    readonly after: string | undefined;
    readonly edge?: string;
    readonly at?: Point;
    readonly kind?: EdgeKind;
    readonly port?: string;
  };
  readonly 'nebula-rename': { readonly node: string };
  readonly 'nebula-undo': { readonly isRedo: boolean };
}

export type GraphEventName = keyof GraphEvents;

/** Returns whether the page prevented the default. */
export type Dispatch = <Name extends GraphEventName>(name: Name, detail: GraphEvents[Name]) => boolean;
