/** Glyphs of statuses, 16 pixels wide, around a centre. They differ in shape, so they are told apart without colour. */
import type { DrawnStatus } from '../model/run-state.ts';

type Ink = CanvasRenderingContext2D;

const TURN = 2 * Math.PI;

export function drawGlyph(ink: Ink, status: DrawnStatus, x: number, y: number, colour: string): void {
  ink.strokeStyle = colour;
  ink.fillStyle = colour;
  ink.lineWidth = 1.75;
  ink.setLineDash([]);
  ink.beginPath();
  const { globalAlpha } = ink;
  GLYPHS[status](ink, x, y);
  ink.stroke();
  ink.setLineDash([]);
  ink.globalAlpha = globalAlpha;
}

/** The arc of a running node in its ring; `turned` is a share of a turn. */
export function drawRunning(ink: Ink, x: number, y: number, colour: string, turned: number, scale: number): void {
  ink.strokeStyle = colour;
  ink.lineWidth = 2 * scale;
  ink.setLineDash([]);
  ink.beginPath();
  ink.arc(x, y, 6.5 * scale, turned * TURN, (turned + 0.7) * TURN);
  ink.stroke();
}

const GLYPHS: Readonly<Record<DrawnStatus, (ink: Ink, x: number, y: number) => void>> = {
  pending: (ink, x, y) => ink.arc(x, y, 5.5, 0, TURN),
  queued: (ink, x, y) => {
    ink.setLineDash([2, 2.3]);
    ink.arc(x, y, 5.5, 0, TURN);
  },
  // A pale ring, in which the arc of the overlay turns.
  running: (ink, x, y) => {
    ink.globalAlpha *= 0.3;
    ink.arc(x, y, 6.5, 0, TURN);
  },
  waiting: (ink, x, y) => {
    ink.arc(x, y, 6.5, 0, TURN);
    ink.moveTo(x, y - 3.5);
    ink.lineTo(x, y);
    ink.lineTo(x + 2.8, y + 1.8);
  },
  completed: (ink, x, y) => {
    ink.moveTo(x - 5, y + 0.5);
    ink.lineTo(x - 1.5, y + 4);
    ink.lineTo(x + 5, y - 4);
  },
  failed: (ink, x, y) => {
    ink.moveTo(x - 4.5, y - 4.5);
    ink.lineTo(x + 4.5, y + 4.5);
    ink.moveTo(x + 4.5, y - 4.5);
    ink.lineTo(x - 4.5, y + 4.5);
  },
  skipped: (ink, x, y) => {
    ink.moveTo(x - 5, y);
    ink.lineTo(x + 5, y);
  },
  cancelled: (ink, x, y) => {
    ink.arc(x, y, 5.5, 0, TURN);
    ink.moveTo(x - 3.9, y + 3.9);
    ink.lineTo(x + 3.9, y - 3.9);
  },
  unknown: (ink, x, y) => {
    ink.moveTo(x, y - 7);
    ink.lineTo(x + 7, y);
    ink.lineTo(x, y + 7);
    ink.lineTo(x - 7, y);
    ink.closePath();
    ink.moveTo(x - 1.8, y - 1.6);
    ink.quadraticCurveTo(x - 1.6, y - 3.2, x, y - 3.2);
    ink.quadraticCurveTo(x + 2, y - 3, x + 1.6, y - 1);
    ink.lineTo(x, y + 0.6);
    ink.moveTo(x, y + 2.4);
    ink.lineTo(x, y + 3.2);
  },
};
