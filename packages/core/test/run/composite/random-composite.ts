/** Random workflows with every kind of node, and a random life for them. */
import { isFinished } from '../../../src/run.ts';
import { type Drive, drive, type Short } from '../drive.ts';

type Node = Record<string, unknown>;

export class Dice {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  below(limit: number): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}

const UNDO = { action: 'look@1', with: { of: '{{ $self.output }}' } };

export function randomFlow(dice: Dice): { flow: Short; workflows: Record<string, Short> } {
  const workflows = { inner: graph(dice, 3, false), other: graph(dice, 3, false) };
  const flow: Short = {
    config: {
      mode: dice.pick(['parallel', 'parallel', 'levels', 'sequential'] as const),
      onFailure: dice.pick(['fail-fast', 'fail-fast', 'finish-running', 'ignore'] as const),
      maxParallelism: dice.pick([1, 3, 25]),
      ...(dice.oneIn(5) ? { timeout: '1h' } : {}),
      ...(dice.oneIn(4) ? { failureNode: 'last' } : {}),
    },
    variables: { n: 0 },
    ...graph(dice, 0, false),
  };
  if (flow.config?.failureNode !== undefined) (flow.nodes as Record<string, Node>).last = {};
  return { flow, workflows };
}

/** Bodies of loops may have `break` and `emit`. */
function graph(dice: Dice, depth: number, isLoop: boolean, hasItems = false): Short {
  const nodes: Record<string, Node> = {};
  const edges: { from: string; to: string; on: 'error' | 'always' }[] = [];
  const count = 1 + dice.below(depth === 0 ? 5 : 3);
  for (let index = 0; index < count; index++) {
    const id = `n${index}`;
    const earlier = Array.from({ length: index }, (_, other) => `n${other}`);
    const needs = earlier.filter((other) => nodes[other]?.branch === undefined && dice.oneIn(2));
    nodes[id] = {
      ...kind(dice, depth),
      ...(needs.length > 0 ? { needs } : {}),
      ...(needs.length > 1 && dice.oneIn(4) ? { join: 'any' } : {}),
      ...(dice.oneIn(4) ? { onError: dice.pick(['ignore', 'halt']) } : {}),
      ...(dice.oneIn(6) ? { timeout: '30s' } : {}),
      ...(isLoop && dice.oneIn(10) ? { break: true } : {}),
    };
    const node = nodes[id] as Node;
    if (node.action !== undefined) {
      if (dice.oneIn(3)) node.retry = { attempts: 2, delay: '5s' };
      if (dice.oneIn(3)) node.compensate = UNDO;
      if (hasItems && dice.oneIn(8)) node.emit = "{{ $index > 3 ? [] : ['more'] }}";
    }
    if (index > 0 && dice.oneIn(5))
      edges.push({ from: dice.pick(earlier), to: id, on: dice.pick(['error', 'always']) });
  }
  const ends = Object.keys(nodes);
  if (ends.length > 1 && dice.oneIn(3)) {
    nodes.route = { branch: { on: '$vars.n ?? 0', cases: { 0: ends[0], 1: ends.at(-1) } } };
    delete (nodes[ends[0] as string] as Node).needs;
  }
  return { nodes, edges: edges.filter(({ from, to }) => from !== to) } as Short;
}

function kind(dice: Dice, depth: number): Node {
  const body = (hasItems = false): Short => graph(dice, depth + 1, true, hasItems);
  const simple: (() => Node)[] = [
    () => ({ action: 'do@1' }),
    () => ({ action: 'do@1' }),
    () => ({ action: 'pay@1' }),
    () => ({ set: { n: '{{ $vars.n + 1 }}' } }),
    () => ({
      wait: dice.pick([
        { for: '10s' },
        { signal: 's' },
        { approval: { title: 'ok?' } },
        { any: [{ signal: 's' }, { for: '1m' }] },
      ]),
    }),
  ];
  const composite: (() => Node)[] = [
    () => ({
      forEach: {
        in: dice.pick([[], [1], [1, 2, 3]]),
        parallel: dice.oneIn(2),
        ...(dice.oneIn(3) ? { minSuccess: 1 } : {}),
      },
      do: body(true),
    }),
    () => ({ while: { condition: '$index < 2', maxIterations: dice.pick([1, 5]) }, do: body() }),
    () => ({ retryUntil: { until: '$index > 1', attempts: 3, backoff: { delay: '1s' } }, do: body() }),
    () => ({ workflow: { id: 'inner', isolation: dice.pick(['shared', 'isolated', 'transactional']) } }),
    () => ({ workflow: { id: 'other', mode: 'child' } }),
    () => ({ dynamic: { action: 'do@1' } }),
    () => ({ terminate: dice.pick(['completed', 'failed']) }),
  ];
  return depth < 3 && dice.oneIn(2) ? dice.pick(composite)() : dice.pick(simple)();
}

/** Lives through a run; returns it when it has come to rest. */
export function liveThrough(seed: number): Drive {
  const dice = new Dice(seed);
  const { flow, workflows } = randomFlow(dice);
  const run = drive(flow, { workflows, slots: dice.pick([1, 4, 100]), foldEvery: 7 });
  for (let step = 0; step < 40; step++) happen(run, dice);
  if (run.status === 'paused') run.step({ type: 'resume' });
  for (let iteration = 0; iteration < 400 && !isOver(run); iteration++) mend(run);
  run.checkFold();
  return run;
}

const isOver = (run: Drive): boolean => isFinished(run.state.phase.status);

const GRAPH = {
  nodes: { x: { action: 'do@1', compensate: { action: 'look@1' } }, y: { action: 'do@1', needs: ['x'] } },
};

function happen(run: Drive, dice: Dice): void {
  const running = run.running();
  const node = running.length === 0 ? undefined : dice.pick(running);
  const open = run.children.filter(({ executionId }) => isOpenChild(run, executionId));
  switch (dice.below(16)) {
    case 0:
      return void (dice.oneIn(3) && run.loseWorker());
    case 1:
      return void run.advance(dice.pick([1, 1_000, 10_000, 60_000]));
    case 2:
      return void run.step({ type: 'signal', signal: 's', key: '', payload: 1 });
    case 3:
      return answerAll(run, dice.oneIn(4));
    case 4:
      return void (dice.oneIn(6) && run.step({ type: 'cancel', reason: 'enough', compensate: dice.oneIn(2) }));
    case 5:
      return void run.step({ type: dice.pick(['pause', 'resume']) });
    case 6:
      return void (isOver(run) && dice.oneIn(2) && run.retry());
    case 7: {
      const all = Object.keys(run.document.nodes).filter((path) => !path.includes('~undo'));
      return void (isOver(run) && dice.oneIn(3) && run.step({ type: 'replay', node: dice.pick(all) }));
    }
    case 8:
      return settleAll(run);
    case 9:
    case 10: {
      const child = open.length === 0 ? undefined : dice.pick(open);
      if (child !== undefined) endChild(run, child, dice.oneIn(3) ? 'failed' : 'completed');
      return;
    }
    default:
  }
  if (node === undefined) return;
  const fate = dice.below(8);
  if (fate === 0) run.fail(node);
  else if (fate === 1) run.breakOff(node);
  else if (fate === 2) run.handBack(node);
  else run.complete(node, dice.oneIn(12) ? { nodes: 7 } : GRAPH);
}

/** Everything goes well from here on. */
function mend(run: Drive): void {
  for (const node of run.running()) run.complete(node, GRAPH);
  settleAll(run);
  answerAll(run, false);
  for (const child of run.children) if (isOpenChild(run, child.executionId)) endChild(run, child, 'completed');
  run.step({ type: 'signal', signal: 's', key: '', payload: 1 });
  run.advance(20_000);
}

function isOpenChild(run: Drive, executionId: string): boolean {
  return [...run.state.children].some(({ phase }) => phase.status === 'child' && phase.executionId === executionId);
}

function endChild(run: Drive, { node, executionId }: Drive['children'][number], status: 'completed' | 'failed'): void {
  const error = status === 'failed' ? ({ code: 'CHILD', kind: 'USER', message: 'no' } as const) : null;
  run.step({ type: 'child', node, executionId, result: { status, output: 1, error }, jitter: 0.5 });
}

function answerAll(run: Drive, rejects: boolean): void {
  for (const [node, { status }] of Object.entries(run.document.nodes)) {
    if (status === 'waiting') run.step({ type: 'answer', node, approved: !rejects, by: 'ann' });
  }
}

function settleAll(run: Drive): void {
  for (const [node, { status }] of Object.entries(run.document.nodes)) {
    if (status === 'unknown') run.settle(node, { happened: true, output: GRAPH });
  }
}
