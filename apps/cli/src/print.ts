/** Prints the result of a command: text, or one JSON document. */
import { writeLines } from './report-runs.ts';
import type { CommandOptions, Context } from './services.ts';
import { readingWidth } from './terminal/io.ts';
import { jsonDocument } from './views/json.ts';
import { type Heading, tableLines } from './views/table.ts';

/** Prints a list as a table or as one document. */
export function printList(
  { io }: Context,
  options: CommandOptions,
  list: {
    readonly document: unknown;
    readonly headings: readonly Heading[];
    readonly rows: readonly (readonly string[])[];
    readonly none: string;
  },
): number {
  if (options.json === true) io.out.write(jsonDocument(list.document));
  else if (list.rows.length === 0) writeLines(io.out, [list.none]);
  else writeLines(io.out, tableLines(list.headings, list.rows, { colors: io.out.colors, width: readingWidth(io.out) }));
  return 0;
}

/** Prints the result of one change as a line or a document. */
export function printDone({ io }: Context, options: CommandOptions, document: unknown, words: string): number {
  if (options.json === true) io.out.write(jsonDocument(document));
  else writeLines(io.out, [`${io.out.colors.green('✓')} ${words}`]);
  return 0;
}
