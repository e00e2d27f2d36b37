/**
 * A block of lines at the bottom of a terminal that is repainted in place.
 *
 *  1 The cursor is hidden from the first paint until `close`, and shown again on every way out of the process.
 *  2 One paint is one write, inside a synchronised update, so a terminal never shows half of it.
 *  3 Lines are cut to the width. After a resize the terminal has re-wrapped the old lines, so the way up is counted
 *    in the new width.
 */
import type { Output } from './io.ts';
import { fit, visibleWidth } from './width.ts';

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const BEGIN_UPDATE = '\x1b[?2026h';
const END_UPDATE = '\x1b[?2026l';
const CLEAR_LINE_END = '\x1b[K';
const CLEAR_BELOW = '\x1b[J';

export class Screen {
  readonly #output: Output;
  #paintedWidths: number[] = [];
  #open = false;
  readonly #restore = (): void => {
    if (this.#open) this.#output.write(END_UPDATE + SHOW_CURSOR);
  };

  constructor(output: Output) {
    this.#output = output;
  }

  paint(lines: readonly string[]): void {
    this.#begin();
    const columns = this.#output.columns();
    const fitted = lines.map((line) => fit(line, columns));
    const body = fitted.map((line) => `${line}${CLEAR_LINE_END}\n`).join('');
    this.#output.write(BEGIN_UPDATE + this.#wayUp(columns) + body + CLEAR_BELOW + END_UPDATE);
    this.#paintedWidths = fitted.map(visibleWidth);
  }

  /** Lines that stay, above the block. */
  print(lines: readonly string[]): void {
    const up = this.#wayUp(this.#output.columns());
    this.#output.write(up + CLEAR_BELOW + lines.map((line) => `${line}\n`).join(''));
    this.#paintedWidths = [];
  }

  /** Leaves the last block on the screen and shows the cursor again. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    process.off('exit', this.#restore);
    this.#output.write(SHOW_CURSOR);
    this.#paintedWidths = [];
  }

  #begin(): void {
    if (this.#open) return;
    this.#open = true;
    process.on('exit', this.#restore);
    this.#output.write(HIDE_CURSOR);
  }

  #wayUp(columns: number): string {
    const rows = this.#paintedWidths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    return rows === 0 ? '' : `\x1b[${rows}A\r`;
  }
}
