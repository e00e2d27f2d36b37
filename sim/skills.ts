/** The skills of remote workers, and the nodes that need them. */
import type { Chance } from './chance.ts';
import type { Skills } from './worker.ts';

/** An action that only workers have. */
export const FAR = 'far';

const ACTIONS = ['look', 'work', 'plan', 'pay', 'sure', FAR].map((id) => `${id}@1`);

export const SKILLS = {
  all: { actions: ACTIONS, labels: ['gpu', 'near'] },
  some: { actions: ACTIONS.slice(0, 2), labels: ['gpu'] },
} as const satisfies Record<string, Skills>;

interface Definition {
  readonly nodes?: Record<string, Record<string, unknown>>;
}

/** Lets remote workers run some of the nodes. */
export function sendRemote(chance: Chance, { nodes = {} }: Definition): void {
  for (const node of Object.values(nodes)) {
    sendRemote(chance, (node.do ?? node.group ?? {}) as Definition);
    if (node.action === 'work@1' && chance.oneIn(3)) node.action = `${FAR}@1`;
    else if ((node.action ?? node.dynamic) !== undefined && !chance.oneIn(3))
      node.labels = chance.pick([['gpu'], ['gpu'], ['near', 'gpu']]);
  }
}
