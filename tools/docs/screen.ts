/** A terminal's screen, as far as the program needs one: colours, moving up, erasing. */

export type Colour = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | 'grey';

export interface Style {
  readonly colour?: Colour;
  readonly bold?: boolean;
  readonly dim?: boolean;
}

/** Neighbouring characters of one style, and the column where they begin. */
export interface Run {
  readonly column: number;
  readonly text: string;
  readonly style: Style;
}

interface Cell {
  readonly character: string;
  readonly style: Style;
}

const PLAIN: Style = {};
const BLANK: Cell = { character: ' ', style: PLAIN };
const COLOURS: Readonly<Record<number, Colour>> = {
  31: 'red',
  32: 'green',
  33: 'yellow',
  34: 'blue',
  35: 'magenta',
  36: 'cyan',
  90: 'grey',
};
// biome-ignore lint/suspicious/noControlCharactersInRegex: control codes are what it reads
const PIECES = /\x1b\[[?0-9;]*[A-Za-z]|[\s\S]/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same
const UNFINISHED = /\x1b(\[[?0-9;]*)?$/;

export class Screen {
  readonly columns: number;
  readonly #rows: Cell[][] = [[]];
  #style: Style = PLAIN;
  /** A control code of which only the beginning has come. */
  #begun = '';
  #x = 0;
  #y = 0;

  constructor(columns: number) {
    this.columns = columns;
  }

  write(text: string): void {
    const all = this.#begun + text;
    this.#begun = UNFINISHED.exec(all)?.[0] ?? '';
    for (const piece of all.slice(0, all.length - this.#begun.length).match(PIECES) ?? []) {
      if (piece.length > 1 && piece.startsWith('\x1b')) this.#obey(piece);
      else this.#put(piece);
    }
  }

  /** The visible lines, without blanks at the ends. */
  lines(): Run[][] {
    const lines = this.#rows.map(runsOf);
    while (lines.length > 0 && lines.at(-1)!.length === 0) lines.pop();
    return lines;
  }

  #put(character: string): void {
    if (character === '\r') {
      this.#x = 0;
    } else if (character === '\n') {
      this.#down();
    } else {
      if (this.#x >= this.columns) this.#down();
      this.#row()[this.#x] = { character, style: this.#style };
      this.#x += 1;
    }
  }

  #down(): void {
    this.#x = 0;
    this.#y += 1;
    this.#row();
  }

  #row(): Cell[] {
    while (this.#rows.length <= this.#y) this.#rows.push([]);
    const row = this.#rows[this.#y]!;
    while (row.length < this.#x) row.push(BLANK);
    return row;
  }

  #obey(code: string): void {
    const numbers = code.slice(2, -1).split(';').map(Number);
    switch (code.at(-1)) {
      case 'm':
        this.#style = numbers.reduce(styled, this.#style);
        break;
      case 'A':
        this.#y = Math.max(0, this.#y - (numbers[0] || 1));
        break;
      case 'G':
        this.#x = Math.max(0, (numbers[0] || 1) - 1);
        break;
      case 'J':
        this.#rows.length = this.#y + 1;
        this.#row().length = this.#x;
        break;
      case 'K':
        this.#row().length = this.#x;
        break;
      default:
        // Hiding the cursor and the like leave no trace on a picture.
        break;
    }
  }
}

function styled(style: Style, code: number): Style {
  const { colour, bold, dim } = style;
  const kept = (changed: Style): Style => ({
    ...(colour !== undefined && { colour }),
    ...(bold && { bold }),
    ...(dim && { dim }),
    ...changed,
  });
  if (code === 0) return PLAIN;
  if (code === 1) return kept({ bold: true });
  if (code === 2) return kept({ dim: true });
  if (code === 22) return colour === undefined ? PLAIN : { colour };
  if (code === 39) return { ...(bold && { bold }), ...(dim && { dim }) };
  const named = COLOURS[code];
  return named === undefined ? style : kept({ colour: named });
}

function runsOf(cells: readonly Cell[]): Run[] {
  const runs: Run[] = [];
  for (const [column, { character, style }] of cells.entries()) {
    const last = runs.at(-1);
    const touches = last !== undefined && last.column + [...last.text].length === column;
    // A blank has no colour of its own, so that it never breaks a run in two.
    if (touches && (character === ' ' || sameStyle(last.style, style))) {
      runs[runs.length - 1] = { ...last, text: last.text + character };
    } else if (character !== ' ') {
      runs.push({ column, text: character, style });
    }
  }
  return runs.map((run) => ({ ...run, text: run.text.trimEnd() }));
}

function sameStyle(a: Style, b: Style): boolean {
  return a.colour === b.colour && a.bold === b.bold && a.dim === b.dim;
}
