/** A capability ceiling in one line: `network api.example.com · shell git`. */
import type { AnswerOf } from '@nebula/client';

type Ceiling = AnswerOf<'listProjects'>['items'][number]['ceiling'];

/** Null: everything is allowed. Empty: nothing is. */
export function ceilingText(ceiling: Ceiling): string | null {
  if (ceiling === 'all') return null;
  const { network = [], files = {}, shell = [], env = [] } = ceiling;
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ['network', network],
    ['read', files.read ?? []],
    ['write', files.write ?? []],
    ['shell', shell],
    ['env', env],
  ];
  return parts
    .flatMap(([name, patterns]) => (patterns.length === 0 ? [] : [`${name} ${patterns.join(', ')}`]))
    .join(' · ');
}
