/** A very small terminal: enough of the control codes to see what a screen would look like. */

export class Terminal {
  readonly rows: string[] = [''];
  columns: number;
  isCursorShown = true;
  #x = 0;
  #y = 0;

  constructor(columns: number) {
    this.columns = columns;
  }

  write(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control codes are what it reads
    for (const piece of text.match(/\x1b\[[?0-9;]*[A-Za-z]|[\s\S]/gu) ?? []) {
      if (piece.length > 1 && piece.startsWith('\x1b')) this.#control(piece);
      else this.#put(piece);
    }
  }

  screen(): string[] {
    return this.rows.map((row) => row.trimEnd());
  }

  #control(code: string): void {
    const count = Number(/\d+/.exec(code)?.[0] ?? 1);
    if (code === '\x1b[?25l') this.isCursorShown = false;
    else if (code === '\x1b[?25h') this.isCursorShown = true;
    else if (code.endsWith('A')) this.#y = Math.max(0, this.#y - count);
    else if (code === '\x1b[K') this.rows[this.#y] = (this.rows[this.#y] ?? '').slice(0, this.#x);
    else if (code === '\x1b[J') {
      this.rows[this.#y] = (this.rows[this.#y] ?? '').slice(0, this.#x);
      this.rows.length = this.#y + 1;
    }
  }

  #put(character: string): void {
    if (character === '\r') this.#x = 0;
    else if (character === '\n') {
      this.#x = 0;
      this.#y++;
      if (this.rows.length <= this.#y) this.rows.push('');
    } else {
      if (this.#x >= this.columns) this.#put('\n');
      const row = (this.rows[this.#y] ?? '').padEnd(this.#x);
      this.rows[this.#y] = row.slice(0, this.#x) + character + row.slice(this.#x + 1);
      this.#x++;
    }
  }
}
