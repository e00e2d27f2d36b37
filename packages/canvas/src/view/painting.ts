/** A painting has everything that a frame shows. The zoom decides how much detail is drawn. */
import type { Camera, Size } from './camera.ts';
import type { Scene } from './scene.ts';
import type { Theme } from './theme.ts';
import type { GraphWords } from './words.ts';

/** The least zoom at which each level of detail is drawn. */
export const LEVELS = { full: 0.55, label: 0.25, shape: 0.16 } as const;

export interface Highlight {
  readonly nodes: ReadonlySet<string>;
  readonly edges: ReadonlySet<string>;
}

/** Open: it is not decided yet whether the run takes the edge. */
export type EdgeState = 'taken' | 'untaken' | 'open';

export interface Painting {
  readonly scene: Scene;
  readonly camera: Camera;
  readonly size: Size;
  /** Pixels of the device per pixel of the page. */
  readonly ratio: number;
  readonly theme: Theme;
  /** If present, everything else is dimmed. */
  readonly highlight: Highlight | undefined;
  /** By edge; an edge that is missing is judged by the states of its ends. */
  readonly edgeStates: ReadonlyMap<string, EdgeState>;
  /** The drawing shows a moment of the past. */
  readonly isPast: boolean;
  readonly isEditable: boolean;
  /** The camera moves: edges are drawn as hairlines, which cost little (decision 016). */
  readonly isMoving: boolean;
  readonly words: GraphWords;
  /** The iteration that a loop shows. */
  iterationOf(loop: string): number | undefined;
}

/** Nodes outside of a highlighted path. */
export const DIMMED = 0.25;

export function isDimmed({ highlight, scene }: Painting, node: number): boolean {
  return highlight !== undefined && !highlight.nodes.has(scene.nodes[node]!.id);
}
