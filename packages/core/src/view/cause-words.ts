/** Words for what a node waits for, and for why it was skipped, in explanations and in every other view. */
import type { AwaitedEvent, SkipReason } from '../run/journal/entry.ts';
import type { AwaitedDocument, GateDocument } from './document.ts';

/** The words for a time. `isFixed`: a pause does not move it. */
type MomentWords = (at: number, isFixed: boolean) => string;

/** `for signal go (key k) or for an approval by ann`. */
export function waitWords(events: readonly (AwaitedEvent | AwaitedDocument)[], moment: MomentWords): string {
  return events.map((wait) => awaitedText(wait, moment)).join(' or ');
}

function awaitedText(wait: AwaitedEvent | AwaitedDocument, moment: MomentWords): string {
  switch (wait.kind) {
    case 'time':
      return `until ${moment(typeof wait.at === 'number' ? wait.at : Date.parse(wait.at), wait.fixed === true)}`;
    case 'signal':
      return `for signal ${wait.signal}${wait.key === '' ? '' : ` (key ${wait.key})`}`;
    case 'approval': {
      const title = wait.title === undefined ? '' : ` “${wait.title}”`;
      return `for an approval${title}${wait.who === undefined ? '' : ` by ${wait.who.join(' or ')}`}`;
    }
    case 'callback':
      return 'for a call';
  }
}

/** `for a permit of bank (limit 2)`. */
export function gateWords(gate: GateDocument): string {
  switch (gate.kind) {
    case 'concurrency':
      return `for a permit of ${gate.key} (limit ${gate.limit})`;
    case 'rate':
      return `for its turn under the rate limit of ${gate.key}`;
    case 'reserve':
      return 'for a run that computes the same output';
    case 'cache':
      return 'for the cache';
  }
}

export const SKIP_WORDS = {
  when: 'its condition is false',
  disabled: 'it is disabled',
  failure: 'a step before it failed',
  test: 'it takes no part in this test run',
  dead: 'none of its incoming edges was taken, or too few for its join',
} as const satisfies Record<SkipReason, string>;
