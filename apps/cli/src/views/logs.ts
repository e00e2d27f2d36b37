/** Log lines with their time, level and node. */
import type { Json } from '@nebula/core';
import { STACK_FIELD, type StoredLogLine } from '@nebula/ports';
import type { Colors } from '../terminal/io.ts';
import { printable, printableLine } from '../terminal/width.ts';
import { levelPaint } from './event-line.ts';
import { clockText } from './words.ts';

export function storedLogLine(line: StoredLogLine, colors: Colors): string {
  const where = line.node === null ? '' : `${colors.bold(line.node)} `;
  const attempt = (line.attempt ?? 1) > 1 ? `${colors.yellow(`#${line.attempt}`)} ` : '';
  const fields = Object.entries(line.fields ?? {})
    .filter(([name, value]) => name !== STACK_FIELD || value !== true)
    .map(([name, value]) => ` ${colors.dim(`${name}=`)}${fieldText(value)}`)
    .join('');
  const level = levelPaint(line.level, colors)(line.level.padEnd(5));
  // Further lines of one message are aligned below its first one.
  const message = printable(line.message.trimEnd()).replaceAll('\n', `\n${' '.repeat(19)}`);
  return `${colors.dim(clockText(line.at))} ${level} ${where}${attempt}${message}${fields}`;
}

function fieldText(value: Json): string {
  const isPlain = typeof value === 'string' && /^[\w.@:/-]+$/.test(value);
  return isPlain ? value : printableLine(JSON.stringify(value));
}
