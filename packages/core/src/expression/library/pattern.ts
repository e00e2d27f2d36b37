/** Functions on text with regular expressions (RE2 syntax; a leading `(?i)` ignores case). */
import type { Frame } from '../frame.ts';
import type { Pattern } from '../regex.ts';
import { type FunctionDefinition, functionsOn } from './definition.ts';

const ofText = functionsOn<string>(['string']);

export const patternFunctions: readonly FunctionDefinition[] = [
  ofText(
    'matches(pattern: pattern)',
    'Whether the text contains a match; `^` and `$` anchor the pattern.',
    [`'INV-2024'.matches('^INV-\\\\d+$')`, true],
    (frame, text, pattern: Pattern) => pattern.test(frame.budget, text),
  ),
  ofText(
    'extract(pattern: pattern)',
    'The first match, or its first group if the pattern has groups; null when there is none.',
    [`'Order #4711 shipped'.extract('#(\\\\d+)')`, '4711'],
    (frame, text, pattern: Pattern) => {
      for (const match of pattern.matches(frame.budget, text)) {
        return (match.groups.length > 0 ? match.groups[0] : text.slice(match.start, match.end)) ?? null;
      }
      return null;
    },
  ),
  ofText(
    'extractAll(pattern: pattern)',
    'All matches; with groups, the first group of each.',
    [`'a1 b22'.extractAll('\\\\d+')`, ['1', '22']],
    (frame, text, pattern: Pattern) => {
      const found: (string | null)[] = [];
      for (const match of pattern.matches(frame.budget, text)) {
        found.push((match.groups.length > 0 ? match.groups[0] : text.slice(match.start, match.end)) ?? null);
        if (found.length > frame.budget.limits.maxArrayLength) frame.budget.allowList(found.length);
      }
      return found;
    },
  ),
  ofText(
    'replacePattern(pattern: pattern, by: string)',
    'Replaces every match; `$1` to `$9` are groups, `$&` the match, `$$` a dollar sign.',
    [`'2024-05-01'.replacePattern('(\\\\d+)-(\\\\d+)-(\\\\d+)', '$3.$2.$1')`, '01.05.2024'],
    replacePattern,
  ),
  ofText(
    'splitPattern(pattern: pattern)',
    'The parts between matches.',
    [`'a, b;c'.splitPattern('[,;] *')`, ['a', 'b', 'c']],
    (frame, text, pattern: Pattern) => {
      const parts: string[] = [];
      let from = 0;
      for (const match of pattern.matches(frame.budget, text)) {
        if (match.end === match.start) continue;
        parts.push(text.slice(from, match.start));
        from = match.end;
        if (parts.length > frame.budget.limits.maxArrayLength) frame.budget.allowList(parts.length);
      }
      parts.push(text.slice(from));
      return parts;
    },
  ),
];

function replacePattern(frame: Frame, text: string, pattern: Pattern, by: string): string {
  const pieces: string[] = [];
  let length = 0;
  let from = 0;
  for (const match of pattern.matches(frame.budget, text)) {
    const matched = text.slice(match.start, match.end);
    const replacement = by.replace(/\$([$&1-9])/g, (whole, what: string) => {
      if (what === '$') return '$';
      if (what === '&') return matched;
      return Number(what) <= pattern.groupCount ? (match.groups[Number(what) - 1] ?? '') : whole;
    });
    frame.budget.spendForCharacters(by.length + replacement.length);
    const before = text.slice(from, match.start);
    length += before.length + replacement.length;
    if (length > frame.budget.limits.maxStringBytes) frame.budget.allowText(length);
    pieces.push(before, replacement);
    from = match.end;
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}
