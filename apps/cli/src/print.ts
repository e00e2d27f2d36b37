/** How commands answer: a list or a line for people, or one JSON document. */
import { writeLines } from './report-runs.ts';
import type { CommandOptions, Context } from './services.ts';
import { readingWidth } from './terminal/io.ts';
import { jsonDocument } from './views/json.ts';
import { type Heading, tableLines } from './views/table.ts';

/** A list for people, or the whole of it as one document. */
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

/** One thing that was done: a line, or a document. */
export function printDone({ io }: Context, options: CommandOptions, document: unknown, words: string): number {
  if (options.json === true) io.out.write(jsonDocument(document));
  else writeLines(io.out, [`${io.out.colors.green('✓')} ${words}`]);
  return 0;
}
