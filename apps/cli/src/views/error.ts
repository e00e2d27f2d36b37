/** Formats errors for people, the same in all commands. */
import type { Colors } from '../terminal/io.ts';
import { printable } from '../terminal/width.ts';

export interface ErrorReport {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly stack?: string | undefined;
}

/** `error CODE: message`, `hint: …`; the stack only with `--debug`. */
export function errorLines(report: ErrorReport, colors: Colors): string[] {
  const lines = [`${colors.red(`error ${colors.bold(report.code)}:`)} ${printable(report.message)}`];
  if (report.hint !== undefined) {
    const [first = '', ...rest] = printable(report.hint).split('\n');
    lines.push(`${colors.cyan('hint:')} ${first}`, ...rest.map((line) => `      ${line}`));
  }
  if (report.stack !== undefined) lines.push(...report.stack.split('\n').map((line) => colors.dim(printable(line))));
  return lines;
}
