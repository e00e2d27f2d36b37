/** Text with the colours of a terminal, as parts with class names. Other control sequences are dropped. */
export interface AnsiSpan {
  readonly text: string;
  /** Class names: `ansi-31 ansi-bold`. */
  readonly style: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with a control character.
const SEQUENCE = /\u001b\[([0-9;]*)([A-Za-z])/g;

export function ansiSpans(text: string): AnsiSpan[] {
  if (!text.includes('\u001b')) return [{ text, style: '' }];
  const spans: AnsiSpan[] = [];
  let styles: readonly string[] = [];
  let from = 0;
  const add = (to: number): void => {
    if (to > from) spans.push({ text: text.slice(from, to), style: styles.join(' ') });
  };
  for (const match of text.matchAll(SEQUENCE)) {
    add(match.index);
    from = match.index + match[0].length;
    if (match[2] === 'm') styles = restyled(styles, match[1] ?? '');
  }
  add(text.length);
  return spans;
}

function restyled(before: readonly string[], codes: string): readonly string[] {
  let styles = before;
  for (const code of (codes === '' ? '0' : codes).split(';').map(Number)) {
    if (code === 0) styles = [];
    else if (code === 1) styles = [...styles, 'ansi-bold'];
    else if (code === 2) styles = [...styles, 'ansi-dim'];
    else if (code === 39) styles = styles.filter((style) => !/^ansi-\d/.test(style));
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
      styles = [...styles.filter((style) => !/^ansi-\d/.test(style)), `ansi-${code >= 90 ? code - 60 : code}`];
    }
  }
  return styles;
}
