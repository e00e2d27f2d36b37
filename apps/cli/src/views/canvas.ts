/** A grid of cells on which lines meet properly: every cell knows in which directions its lines leave it. */
import { visibleWidth } from '../terminal/width.ts';
import type { Paint } from './theme.ts';

export const UP = 1;
export const DOWN = 2;
const LEFT = 4;
const RIGHT = 8;

/** Characters by the sum of the directions. */
const LINES = [' ', '│', '│', '│', '─', '╯', '╮', '┤', '─', '╰', '╭', '├', '─', '┴', '┬', '┼'] as const;

interface Cell {
  text: string;
  lines: number;
  paint: Paint | undefined;
}

export class Canvas {
  readonly #rows: Cell[][] = [];

  /** Adds lines to a cell. A cell shared by differently painted lines loses its paint. */
  line(x: number, y: number, directions: number, paint: Paint | undefined): void {
    const cell = this.#cell(x, y);
    cell.paint = cell.lines === 0 || cell.paint === paint ? paint : undefined;
    cell.lines |= directions;
  }

  vertical(x: number, fromY: number, toY: number, paint: Paint | undefined): void {
    for (let y = fromY; y <= toY; y++) this.line(x, y, UP | DOWN, paint);
  }

  horizontal(y: number, fromX: number, toX: number, paint: Paint | undefined): void {
    const [left, right] = [Math.min(fromX, toX), Math.max(fromX, toX)];
    this.line(left, y, RIGHT, paint);
    for (let x = left + 1; x < right; x++) this.line(x, y, LEFT | RIGHT, paint);
    this.line(right, y, LEFT, paint);
  }

  text(x: number, y: number, text: string, paint?: Paint): void {
    let at = x;
    for (const character of text) {
      const cell = this.#cell(at, y);
      cell.text = character;
      cell.paint = paint;
      const width = visibleWidth(character);
      // A wide character covers the next cell, too; one without width joins the cell before it.
      if (width === 2) this.#cell(at + 1, y).text = '\u0000';
      at += width;
    }
  }

  get width(): number {
    return Math.max(0, ...this.#rows.map((row) => row.length));
  }

  get height(): number {
    return this.#rows.length;
  }

  /** Copies another canvas here, with its paint; its empty cells change nothing. */
  paste(other: Canvas, x: number, y: number): void {
    other.#rows.forEach((row, atY) => {
      row.forEach((cell, atX) => {
        if (cell.lines !== 0 || cell.text !== '') Object.assign(this.#cell(x + atX, y + atY), cell);
      });
    });
  }

  isFree(fromX: number, toX: number, y: number): boolean {
    for (let x = fromX; x <= toX; x++) {
      const cell = this.#rows[y]?.[x];
      if (cell !== undefined && (cell.lines !== 0 || cell.text !== '')) return false;
    }
    return true;
  }

  toLines(): string[] {
    return this.#rows.map((row) => {
      let line = '';
      let run = '';
      let paint: Paint | undefined;
      const flush = (): void => {
        line += paint === undefined || run.trim() === '' ? run : paint(run);
        run = '';
      };
      for (const cell of row) {
        if (cell.text === '\u0000') continue;
        const sign = cell.text === '' ? (LINES[cell.lines] as string) : cell.text;
        if (sign !== ' ' && cell.paint !== paint) {
          flush();
          paint = cell.paint;
        }
        run += sign;
      }
      flush();
      return line.trimEnd();
    });
  }

  #cell(x: number, y: number): Cell {
    while (this.#rows.length <= y) this.#rows.push([]);
    const row = this.#rows[y] as Cell[];
    while (row.length <= x) row.push({ text: '', lines: 0, paint: undefined });
    return row[x] as Cell;
  }
}
