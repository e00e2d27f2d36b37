/** Nodes that a verification reports as never running, as paths of ids, and nodes that ran by a journal. */
import {
  type Action,
  compilePlan,
  createCatalog,
  type Entry,
  type Problem,
  type WorkflowDefinition,
} from '../../src/index.ts';

export function verified(
  definition: WorkflowDefinition,
  actions: readonly Action[],
  workflows: (id: string) => WorkflowDefinition | undefined = () => undefined,
): readonly Problem[] {
  return compilePlan(definition, createCatalog(actions), { verify: true, workflows }).problems;
}

export function neverRuns(problems: readonly Problem[]): Set<string> {
  const never = new Set<string>();
  for (const { code, path, message } of problems) {
    if (!['NEVER_RUNS', 'NEVER_TAKEN', 'JOIN_NEVER_FIRES'].includes(code)) continue;
    const around = bodyOf(path.map(String));
    for (const id of idsIn(message)) never.add([...around, id].join('/'));
  }
  return never;
}

/** The number of joins that are reported to never fire. */
export function joinsIn(problems: readonly Problem[]): number {
  return problems.filter(({ code }) => code === 'JOIN_NEVER_FIRES').length;
}

/** Nodes that are reported to never run after a failure of another one. */
export function neverAfter(problems: readonly Problem[]): { node: string; after: string }[] {
  return problems.flatMap(({ message }) => {
    const [, node, after] = /^'([^']+)' never runs after a failure of '([^']+)'/.exec(message) ?? [];
    return node === undefined || after === undefined ? [] : [{ node, after }];
  });
}

/** `'a' can never run: …; so 'b', 'c' can never run either`. */
function idsIn(message: string): string[] {
  const [own = '', lost = ''] = message.split('; so ');
  const first = /^'([^']+)' can never run/.exec(own)?.[1];
  return [
    ...(first === undefined ? [] : [first]),
    ...Array.from(lost.matchAll(/'([^']+)'/g), (match) => match[1] ?? ''),
  ];
}

/** The nodes whose bodies the path goes through. */
function bodyOf(path: readonly string[]): string[] {
  const ids: string[] = [];
  for (let at = 0; path[at] === 'nodes' && path[at + 2] === 'do'; at += 3) ids.push(path[at + 1] as string);
  return ids;
}

const RUNNING = ['node.started', 'node.opened', 'node.completed', 'node.waiting'];

/** Paths of ids, without the numbers of iterations. Compensations are not runs of their node. */
export function ran(entries: readonly Entry[]): Set<string> {
  const found = new Set<string>();
  let isOver = false;
  for (const entry of entries) {
    if (entry.type === 'run.stopping') isOver = true;
    // A reopened run that had ended itself continues past its end.
    if (entry.type === 'run.reopened' && isOver) break;
    if (!RUNNING.includes(entry.type) || !('node' in entry) || String(entry.node).includes('~undo')) continue;
    found.add(
      String(entry.node)
        .split('/')
        .filter((part) => !/^\d+$/.test(part))
        .join('/'),
    );
  }
  return found;
}
