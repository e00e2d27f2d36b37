/** A painting has everything that a frame shows. The zoom decides how much detail is drawn. */
import type { Camera, Size } from './camera.ts';
import type { Scene } from './scene.ts';
import type { Theme } from './theme.ts';

/** The least zoom at which each level of detail is drawn. */
export const LEVELS = { full: 0.55, label: 0.25, shape: 0.1 } as const;

export interface Highlight {
  readonly nodes: ReadonlySet<string>;
  readonly edges: ReadonlySet<string>;
}

export interface Painting {
  readonly scene: Scene;
  readonly camera: Camera;
  readonly size: Size;
  /** Pixels of the device per pixel of the page. */
  readonly ratio: number;
  readonly theme: Theme;
  /** If present, everything else is dimmed. */
  readonly highlight: Highlight | undefined;
}
