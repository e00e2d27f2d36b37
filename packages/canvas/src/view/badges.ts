/** Badges at the corners of a node: findings of the verifier, a pin, and how the node differs from another version. */
import type { Mark } from '../model/marks.ts';
import type { TextFit } from './text-fit.ts';
import { FONTS, type Theme } from './theme.ts';

type Ink = CanvasRenderingContext2D;

const HEIGHT = 16;
const CHANGE_SIGN = { added: '+', removed: '−', changed: '~' } as const;

/** `right`, `top`: the corner of the node that the badges hang on. */
export function drawBadges(ink: Ink, text: TextFit, theme: Theme, mark: Mark, right: number, top: number): void {
  let at = right + 6;
  const { errors = 0, warnings = 0, pin, change } = mark;
  if (errors > 0) at = counter(ink, text, theme, at, top, errors, 'error');
  if (warnings > 0) at = counter(ink, text, theme, at, top, warnings, 'warning');
  if (pin !== undefined) at = pinned(ink, theme, at, top, pin === 'stale');
  if (change !== undefined) sign(ink, text, theme, at, top, change);
}

function pill(ink: Ink, theme: Theme, left: number, top: number, width: number, fill: string): void {
  ink.fillStyle = fill;
  ink.strokeStyle = theme.background;
  ink.lineWidth = 2;
  ink.setLineDash([]);
  ink.beginPath();
  ink.roundRect(left, top - HEIGHT / 2, width, HEIGHT, HEIGHT / 2);
  ink.stroke();
  ink.fill();
}

/** An error is a cross, a warning a triangle: told apart without colour. */
function counter(
  ink: Ink,
  text: TextFit,
  theme: Theme,
  right: number,
  top: number,
  count: number,
  kind: 'error' | 'warning',
): number {
  const words = count > 99 ? '99+' : String(count);
  const width = 20 + text.width(words, FONTS.badge);
  const left = right - width;
  pill(ink, theme, left, top, width, theme[kind]);
  ink.strokeStyle = theme.badgeText;
  ink.lineWidth = 1.5;
  ink.beginPath();
  const x = left + 8;
  if (kind === 'error') {
    ink.moveTo(x - 2.5, top - 2.5);
    ink.lineTo(x + 2.5, top + 2.5);
    ink.moveTo(x + 2.5, top - 2.5);
    ink.lineTo(x - 2.5, top + 2.5);
  } else {
    ink.moveTo(x, top - 3.5);
    ink.lineTo(x + 3.5, top + 3);
    ink.lineTo(x - 3.5, top + 3);
    ink.closePath();
  }
  ink.stroke();
  ink.fillStyle = theme.badgeText;
  ink.font = FONTS.badge;
  ink.textAlign = 'left';
  ink.textBaseline = 'middle';
  ink.fillText(words, left + 14, top + 0.5);
  return left - 3;
}

/** A stale pin is hollow. */
function pinned(ink: Ink, theme: Theme, right: number, top: number, isStale: boolean): number {
  const left = right - HEIGHT;
  pill(ink, theme, left, top, HEIGHT, isStale ? theme.surface : theme.icon);
  const x = left + HEIGHT / 2;
  ink.strokeStyle = isStale ? theme.icon : theme.surface;
  ink.lineWidth = 1.4;
  if (isStale) ink.stroke();
  ink.beginPath();
  ink.moveTo(x - 2.5, top - 4.5);
  ink.lineTo(x + 2.5, top - 4.5);
  ink.moveTo(x - 1.6, top - 4.5);
  ink.lineTo(x - 1.6, top - 1);
  ink.lineTo(x - 3.4, top + 1);
  ink.lineTo(x + 3.4, top + 1);
  ink.lineTo(x + 1.6, top - 1);
  ink.lineTo(x + 1.6, top - 4.5);
  ink.moveTo(x, top + 1);
  ink.lineTo(x, top + 5);
  ink.stroke();
  return left - 3;
}

function sign(
  ink: Ink,
  text: TextFit,
  theme: Theme,
  right: number,
  top: number,
  change: keyof typeof CHANGE_SIGN,
): void {
  const words = CHANGE_SIGN[change];
  const left = right - HEIGHT;
  pill(ink, theme, left, top, HEIGHT, theme.change[change]);
  ink.fillStyle = theme.badgeText;
  ink.textAlign = 'center';
  ink.textBaseline = 'middle';
  ink.fillText(text.fit(words, FONTS.letter, HEIGHT), left + HEIGHT / 2, top + 0.5);
}
