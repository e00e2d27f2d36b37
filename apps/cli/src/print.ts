/** Prints the result of a command: text, or one JSON document. */
import type { Call } from './services.ts';
import { type Output, readingWidth } from './terminal/io.ts';
import { jsonDocument } from './views/json.ts';
import { type Heading, tableLines } from './views/table.ts';

export function writeLines(output: Output, lines: readonly string[]): void {
  if (lines.length > 0) output.write(`${lines.join('\n')}\n`);
}

/** Prints lines, or with `--json` the document. */
export function print({ io, options }: Call, document: unknown, lines: () => readonly string[]): number {
  if (options.json === true) io.out.write(jsonDocument(document));
  else writeLines(io.out, lines());
  return 0;
}

/** Prints the result of one change. */
export function printDone(call: Call, document: unknown, words: string): number {
  return print(call, document, () => [`${call.io.out.colors.green('✓')} ${words}`]);
}

/** Prints a list as a table. */
export function printList(
  call: Call,
  document: unknown,
  headings: readonly (string | Heading)[],
  rows: readonly (readonly string[])[],
  none: string,
): number {
  const { out } = call.io;
  const view = { colors: out.colors, width: readingWidth(out) };
  return print(call, document, () => (rows.length === 0 ? [none] : tableLines(headings, rows, view)));
}
