/** Random graphs of what excludes each other: cases, errors, joins of a number, conditions that are always the same. */

import type { Dice } from '../run/composite/random-composite.ts';
import type { Drive, Short } from '../run/drive.ts';

type Node = Record<string, unknown>;

const CONDITIONS = ['true', 'false', '$input.a', '$input.b', '$input.a && $input.b', '!$input.a', '$input.gone.here'];

export function randomGraph(dice: Dice): Short {
  const nodes: Record<string, Node> = {};
  const edges: Node[] = [];
  const count = 3 + dice.below(8);
  const ids = Array.from({ length: count }, (_, index) => `n${index}`);
  for (const [index, id] of ids.entries()) nodes[id] = { ...kind(dice, ids.slice(index + 1)), ...manner(dice) };
  for (const [index, to] of ids.entries()) {
    for (const from of ids.slice(0, index)) {
      if (!dice.oneIn(3)) continue;
      const on = dice.pick(['success', 'success', 'error', 'always']);
      edges.push({ from, to, on, ...(dice.oneIn(5) ? { when: dice.pick(CONDITIONS) } : {}) });
    }
  }
  for (const [index, id] of ids.entries()) {
    const incoming = sourcesOf(ids.slice(0, index), nodes, edges, id);
    const join = dice.pick(['all', 'any', 'ended', 2, 2, 3]);
    if (typeof join !== 'number' || join <= incoming) (nodes[id] as Node).join = join;
  }
  const onFailure = dice.pick(['fail-fast', 'finish-running', 'ignore'] as const);
  return { config: { onFailure }, nodes, edges } as unknown as Short;
}

function manner(dice: Dice): Node {
  return {
    ...(dice.oneIn(8) ? { when: dice.pick(CONDITIONS) } : {}),
    ...(dice.oneIn(5) ? { onError: 'ignore' } : {}),
    ...(dice.oneIn(12) ? { enabled: false } : {}),
  };
}

function kind(dice: Dice, later: readonly string[]): Node {
  if (dice.oneIn(15)) return { terminate: dice.pick(['completed', 'failed']) };
  if (later.length < 2 || dice.oneIn(2)) return { action: 'do@1' };
  const to = (): string | string[] => (dice.oneIn(3) ? [dice.pick(later), dice.pick(later)] : dice.pick(later));
  const otherwise = dice.oneIn(2) ? { default: dice.pick(later) } : {};
  if (dice.oneIn(3)) {
    const on = dice.pick(['$input.n', '$input.a == true', "'x'"]);
    return { branch: { on, cases: { 1: to(), true: to(), x: to() }, ...otherwise } };
  }
  const cases = Array.from({ length: 1 + dice.below(3) }, () => ({ when: dice.pick(CONDITIONS), to: to() }));
  return { branch: { cases, many: dice.oneIn(3), ...otherwise } };
}

/** A join of so many can be met, as far as edges go: each of these has one of its own. */
function sourcesOf(before: readonly string[], nodes: Record<string, Node>, edges: readonly Node[], id: string): number {
  return before.filter((one) => {
    const isCase = JSON.stringify(nodes[one]?.branch ?? null).includes(`"${id}"`);
    return isCase || edges.some(({ from, to }) => from === one && to === id);
  }).length;
}

export function randomInput(dice: Dice): { a: boolean; b: boolean; n: number | boolean } {
  return { a: dice.oneIn(2), b: dice.oneIn(2), n: dice.pick([1, 2, true]) };
}

/** Everything that runs ends somehow, until nothing is left. */
export function live(run: Drive, dice: Dice): void {
  for (let [node] = run.running(); node !== undefined; node = dice.pick(run.running())) {
    if (dice.oneIn(3)) run.fail(node);
    else run.complete(node, { v: 1 });
  }
}
