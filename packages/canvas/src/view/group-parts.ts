/** Where the parts of a group are: they are drawn there, and the pointer finds them there. */
import { GROUP } from '../layout/layout.ts';
import type { Scene } from './scene.ts';
import { columnCount } from './strip.ts';

export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export const GROUP_PADDING = 16;
const STRIP = { open: { bottom: 27, height: 6 }, collapsed: { bottom: 20, height: 8 } } as const;
const PICKER = { width: 132, height: 24, button: 24 } as const;
/** The height of the header of an open group; below it is some space. */
export const HEADER = GROUP.header - 14;
/** The row of the title in an open group. */
export const TITLE_ROW = 21;

/** Undefined: nothing is known of the iterations. */
export function stripRect(scene: Scene, node: number): Rect | undefined {
  const hasCounts = scene.states[node]?.iterations !== undefined;
  if (!hasCounts && scene.strips[node] === undefined) return undefined;
  const isOpen = scene.isOpen[node] === 1;
  const { bottom, height } = isOpen ? STRIP.open : STRIP.collapsed;
  const end = scene.y[node]! + (isOpen ? GROUP.header : scene.height[node]!);
  return {
    x: scene.x[node]! + GROUP_PADDING,
    y: end - bottom,
    width: scene.width[node]! - 2 * GROUP_PADDING,
    height,
  };
}

/** The picker of an open loop: a button on each side of the number of the iteration. */
export function pickerRect(scene: Scene, node: number): Rect | undefined {
  const isPickable = scene.nodes[node]!.kind === 'loop' && scene.isOpen[node] === 1 && scene.stateCount > 0;
  if (!isPickable) return undefined;
  const { width, height } = PICKER;
  return {
    x: scene.x[node]! + scene.width[node]! - GROUP_PADDING - width,
    y: scene.y[node]! + TITLE_ROW - height / 2,
    width,
    height,
  };
}

export type GroupPart =
  | { readonly part: 'strip'; readonly share: number; readonly columns: number }
  | { readonly part: 'previous' | 'next' | 'chevron' | 'rest' };

/** The part of a group at a point. */
export function partAt(scene: Scene, node: number, x: number, y: number): GroupPart {
  const picker = pickerRect(scene, node);
  if (picker !== undefined && contains(picker, x, y)) {
    if (x < picker.x + PICKER.button) return { part: 'previous' };
    if (x > picker.x + picker.width - PICKER.button) return { part: 'next' };
    return { part: 'rest' };
  }
  const strip = stripRect(scene, node);
  if (strip !== undefined && contains(grown(strip, 4), x, y)) {
    const share = Math.min(1, Math.max(0, (x - strip.x) / strip.width));
    return { part: 'strip', share, columns: columnCount(strip.width) };
  }
  const isOnChevron = x < scene.x[node]! + 32 && y < scene.y[node]! + 2 * TITLE_ROW;
  return { part: isOnChevron && scene.nodes[node]!.isGroup === true ? 'chevron' : 'rest' };
}

export const PICKER_BUTTON = PICKER.button;

function contains({ x, y, width, height }: Rect, pointX: number, pointY: number): boolean {
  return pointX >= x && pointX <= x + width && pointY >= y && pointY <= y + height;
}

function grown({ x, y, width, height }: Rect, by: number): Rect {
  return { x: x - by, y: y - by, width: width + 2 * by, height: height + 2 * by };
}
