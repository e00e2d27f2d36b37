/** Text cut to a width. Measuring is slow, so what was cut is remembered. */

const MAX_KNOWN = 20_000;
const STEP = 4;

export class TextFit {
  readonly #ink: CanvasRenderingContext2D;
  readonly #known = new Map<string, string>();
  readonly #widths = new Map<string, number>();

  constructor(ink: CanvasRenderingContext2D) {
    this.#ink = ink;
  }

  /** Sets the font, too. */
  fit(text: string, font: string, width: number): string {
    this.#ink.font = font;
    // Widths that differ by a few pixels share an entry: what changes with every frame would not be found again.
    const room = Math.floor(width / STEP) * STEP;
    const key = `${font}\n${room}\n${text}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    const cut = this.#cut(text, room);
    this.#known.set(key, cut);
    return cut;
  }

  /** The width of a short text. */
  width(text: string, font: string): number {
    const key = `${font}\n${text}`;
    const known = this.#widths.get(key);
    if (known !== undefined) return known;
    this.#ink.font = font;
    const { width } = this.#ink.measureText(text);
    if (this.#widths.size >= MAX_KNOWN) this.#widths.clear();
    this.#widths.set(key, width);
    return width;
  }

  /** Widths change when a font is loaded. */
  forget(): void {
    this.#known.clear();
    this.#widths.clear();
  }

  #cut(text: string, width: number): string {
    // A name of many thousand characters is never shown whole.
    const start = text.slice(0, 400);
    if (start.length === text.length && this.#ink.measureText(text).width <= width) return text;
    let [least, most] = [0, start.length];
    while (least < most) {
      const middle = Math.ceil((least + most) / 2);
      if (this.#ink.measureText(`${start.slice(0, middle)}…`).width <= width) least = middle;
      else most = middle - 1;
    }
    return `${start.slice(0, least)}…`;
  }
}
