/** Where the glyph of a node's status is: drawn with the node, and turning above it while it runs. */
import type { Point } from '../model/graph.ts';
import { GROUP_PADDING, TITLE_ROW } from './group-parts.ts';
import { hasTime } from './run-words.ts';
import type { Scene } from './scene.ts';

export const CARD_PADDING = 12;
/** Lines of a card, from its top. */
export const LINES = { only: 28, first: 20, second: 38 } as const;
/** The title of a collapsed group, from its top. */
export const COLLAPSED_TITLE = 24;

/** Outlines that are not straight at the right leave less room. */
export function rightInset(scene: Scene, node: number): number {
  const { kind } = scene.nodes[node]!;
  return CARD_PADDING + (kind === 'wait' || kind === 'workflow' || kind === 'merge' ? 6 : 0);
}

export function hasSecondLine(scene: Scene, node: number): boolean {
  const state = scene.states[node];
  return scene.nodes[node]!.detail !== undefined || (state !== undefined && hasTime(state));
}

/** Seen from afar, glyphs are larger, and at the left. */
export const FAR_GLYPH = 1.5;

export function farInset(scene: Scene, node: number): number {
  const { kind } = scene.nodes[node]!;
  return kind === 'branch' || kind === 'wait' ? 6 : 0;
}

export function statusPlace(scene: Scene, node: number, isFar: boolean): Point {
  const [x, y, width] = [scene.x[node]!, scene.y[node]!, scene.width[node]!];
  if (isFar && scene.isOpen[node] !== 1) {
    const lift = scene.nodes[node]!.isGroup === true && scene.strips[node] !== undefined ? 10 : 0;
    return { x: x + 22 + farInset(scene, node), y: y + scene.height[node]! / 2 - lift };
  }
  if (scene.isOpen[node] === 1) return { x: x + GROUP_PADDING + 24, y: y + TITLE_ROW };
  if (scene.nodes[node]!.isGroup === true) return { x: x + width - GROUP_PADDING - 8, y: y + COLLAPSED_TITLE };
  const line = hasSecondLine(scene, node) ? LINES.first : LINES.only;
  return { x: x + width - rightInset(scene, node) - 8, y: y + line };
}
