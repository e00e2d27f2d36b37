/**
 * The width of text on a terminal, and cutting it to fit. Colour codes are kept and take no room.
 *
 * Widths are counted by code point, as terminals do; decision 012 compares this with libraries that segment text.
 */
import { stripVTControlCharacters } from 'node:util';
import { eastAsianWidth } from 'get-east-asian-width';

// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes, kept when text is split by them
const COLOUR_KEPT = /(\x1b\[[0-9;]*m)/;
const PLAIN_ASCII = /^[\x20-\x7e]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: what must not reach a terminal
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

export function stripColours(text: string): string {
  return stripVTControlCharacters(text);
}

/** Cells that `text` takes on the screen. */
export function visibleWidth(text: string): number {
  const plain = text.includes('\x1b') ? stripColours(text) : text;
  if (PLAIN_ASCII.test(plain)) return plain.length;
  let width = 0;
  for (const character of plain) width += characterWidth(character);
  return width;
}

function characterWidth(character: string): number {
  const code = character.codePointAt(0) as number;
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return 0;
  if (code < 0x300) return 1;
  if (ZERO_WIDTH.test(character)) return 0;
  return eastAsianWidth(code);
}

/** Cuts to at most `width` cells, with `…` as the last one when something was cut. */
export function fit(text: string, width: number): string {
  if (width <= 0) return '';
  if (visibleWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  let coloured = false;
  for (const piece of text.split(COLOUR_KEPT)) {
    if (piece.startsWith('\x1b[')) {
      kept += piece;
      coloured = true;
      continue;
    }
    for (const character of piece) {
      const cells = characterWidth(character);
      if (used + cells > width - 1) return `${kept}…${coloured ? '\x1b[0m' : ''}`;
      kept += character;
      used += cells;
    }
  }
  return kept;
}

/** Pads with spaces on the right, or cuts, to exactly `width` cells. */
export function column(text: string, width: number): string {
  const fitted = fit(text, width);
  return fitted + ' '.repeat(Math.max(0, width - visibleWidth(fitted)));
}

/** The same, with the text at the right. */
export function columnRight(text: string, width: number): string {
  const fitted = fit(text, width);
  return ' '.repeat(Math.max(0, width - visibleWidth(fitted))) + fitted;
}

/** Foreign text (logs, errors, outputs) for a terminal: characters that move the cursor or hide text become visible. */
export function printable(text: string): string {
  return text.replace(CONTROL, (character) => {
    const code = character.codePointAt(0) as number;
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** The same, on one line. */
export function printableLine(text: string): string {
  return printable(
    text
      .trim()
      .replace(/\s*\r?\n\s*/g, ' ⏎ ')
      .replace(/\t/g, '  '),
  );
}

/** Breaks at spaces into lines of at most `width` cells; a longer word is left whole. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line !== '' && visibleWidth(line) + 1 + visibleWidth(word) > width) {
        lines.push(line);
        line = word;
      } else {
        line = line === '' ? word : `${line} ${word}`;
      }
    }
    lines.push(line);
  }
  return lines;
}

/** Puts parts side by side, two spaces apart, on as few lines as possible. */
export function packed(parts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && visibleWidth(last) + 2 + visibleWidth(part) <= width)
      lines[lines.length - 1] = `${last}  ${part}`;
    else lines.push(part);
  }
  return lines;
}
