/** The chain of nodes that the end of the run waited for: making one of them faster makes the run faster. */
export interface TimedNode {
  readonly path: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** `before`: the nodes that lead to a node. Returns paths, the first one first. */
export function criticalPath(
  nodes: Iterable<TimedNode>,
  before: (path: string) => readonly string[],
): readonly string[] {
  const byPath = new Map([...nodes].map((node) => [node.path, node]));
  const found: string[] = [];
  let next = lastEnded(byPath.values());
  while (next !== undefined && !found.includes(next.path)) {
    found.unshift(next.path);
    next = lastEnded(before(next.path).flatMap((path) => byPath.get(path) ?? []));
  }
  return found;
}

function lastEnded(nodes: Iterable<TimedNode>): TimedNode | undefined {
  let last: TimedNode | undefined;
  for (const node of nodes) if (last === undefined || node.endedAt > last.endedAt) last = node;
  return last;
}
