/**
 * Compares what a command printed with what the documentation says it prints. Times, ids and the width of columns are
 * different in every run and do not count; a line of `…` stands for any lines, `…` at the end of a line for its rest.
 */

export interface Command {
  readonly line: number;
  readonly text: string;
  readonly expected: readonly string[];
}

/** The commands of a `console` block and what is printed below each. */
export function commandsIn(text: string, firstLine: number): Command[] {
  const commands: { line: number; text: string; expected: string[] }[] = [];
  for (const [index, content] of text.split('\n').entries()) {
    const command = /^\$ (.*)$/.exec(content)?.[1];
    const last = commands.at(-1);
    if (command !== undefined) commands.push({ line: firstLine + index, text: command, expected: [] });
    else if (last === undefined) throw new Error('a console block begins with a command: $ …');
    else if (/\\$/.test(last.text) && last.expected.length === 0) last.text += `\n${content}`;
    else last.expected.push(content);
  }
  return commands;
}

/** Null when they agree, else the first expected line that was not found. */
export function firstDifference(expected: readonly string[], actual: readonly string[]): string | null {
  const wanted = trimmed(expected);
  const found = trimmed(actual);
  let at = 0;
  let isGap = false;
  for (const line of wanted) {
    if (line === '…') {
      isGap = true;
      continue;
    }
    const index = found.findIndex((candidate, index) => index >= at && fits(line, candidate));
    if (index < 0 || (!isGap && index !== at)) return line === '' ? '(an empty line)' : line;
    at = index + 1;
    isGap = false;
  }
  return isGap || at === found.length ? null : `(nothing more, but there is: ${found[at]})`;
}

function fits(wanted: string, found: string): boolean {
  return wanted.endsWith('…') ? found.startsWith(wanted.slice(0, -1).trimEnd()) : wanted === found;
}

function trimmed(lines: readonly string[]): string[] {
  const plain = lines.map(withoutChance);
  while (plain.length > 0 && plain.at(-1) === '') plain.pop();
  while (plain.length > 0 && plain[0] === '') plain.shift();
  return plain;
}

const TIME = '⏱';

/** The text without the parts that differ in every run. */
function withoutChance(line: string): string {
  return line
    .replace(/\b(exe|wrk)_(?=[0-9a-z]*\d)[0-9a-z]+…?|\bexe_…/g, 'ID')
    .replace(/\d{4}-\d{2}-\d{2}T[\d:.]+Z|\b\d{2}:\d{2}:\d{2}\.\d{3}(Z|[+-]\d\d:\d\d)/g, TIME)
    .replace(/(?<![\w.-])\d+(\.\d+)?(ms|s|m|h|d)( \d+(ms|s|m|h))?(?![\w-])/g, TIME)
    .replace(/[█▉▊▋▌▍▎▏▐░╳┄╷]+/g, ' ')
    .replace(/ {2,}/g, ' ')
    .trim();
}
