/** The common parts of the generated pages. */

export interface Page {
  /** Path from the root of the repository. */
  readonly path: string;
  readonly text: string;
}

export function page(name: string, title: string, source: string, body: string): Page {
  const note = `<!-- Made by \`npm run docs\` from ${source}. Changes belong there. -->`;
  return { path: `docs/reference/${name}.md`, text: `${note}\n\n# ${title}\n\n${body.trim()}\n` };
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

/** Text in a table: no line breaks, no bars, no accidental HTML. */
export function cell(text: string): string {
  return text
    .replaceAll('|', '\\|')
    .replace(/\s*\n\s*/g, ' ')
    .replace(/`[^`]*`|</g, (found) => (found === '<' ? '&lt;' : found));
}

/** Code in a table; a bar inside would end the cell. */
export function code(text: string): string {
  const fence = text.includes('`') ? '``' : '`';
  return `${fence}${text.replaceAll('|', '\\|')}${fence}`;
}
