/** The stack of an error below its message. */
import type { Colors } from '../terminal/io.ts';
import { printable } from '../terminal/width.ts';
import { plural } from './words.ts';

/** The most frames shown unless everything is asked for: the error is thrown in the first ones. */
const MAX_FRAMES = 5;

/** The frames without the first message, which the error above repeats. */
export function stackLines(stack: string, colors: Colors, isFull = false): string[] {
  const lines = printable(stack).split('\n');
  const first = lines.findIndex((line) => line.startsWith(' '));
  const frames = first < 0 ? [] : lines.slice(first);
  const shown = isFull ? frames : frames.slice(0, MAX_FRAMES);
  const left = frames.length - shown.length;
  return [...shown, ...(left > 0 ? [`    … ${plural(left, 'more line')}`] : [])].map((line) => colors.dim(line));
}
