/**
 * A test run executes a part of a workflow, with given outputs instead of some of its nodes. The plan is that of the
 * whole definition, so that every part of it compiles as it will in earnest, and the graph can be shown whole; the test
 * says which nodes take part.
 *
 *  1 Paths are those of the definition: `items/pack`, without the number of an iteration.
 *  2 A graph with the target takes part with the target and all nodes that lead to it. Graphs inside these nodes take
 *    part as a whole. Other nodes are skipped (`why: test`); none of them leads to the target.
 *  3 A pinned node ends at once with its pin, where it would have become ready: its join and its `when` hold as ever. It
 *    has neither attempts nor gates, cache or compensation.
 */
import { clipped, didYouMean } from '../problem.ts';
import { isJsonObject, type Json, type JsonObject } from '../value.ts';
import type { Pin, TestOptions, TestPart, TestPlan } from './pin.ts';
import { type GraphPlan, innerGraph, type NodePlan, type Plan } from './plan.ts';

export interface TestProblem {
  readonly message: string;
  readonly hint?: string;
  /** A JSON pointer into the options. */
  readonly pointer: string;
}

/** Test runs are deleted a day after their end, or sooner if the workflow says so. */
export const TEST_RETENTION_MS = 24 * 3_600_000;

/** A test version has a negative number: no list shows it, and no start without a version uses it. */
export function isTestVersion(version: number): boolean {
  return version < 0;
}

/** The plan of a test. Starts of a test never wait for, join or replace those of other runs. */
export function withTest(plan: Plan, test: TestPlan): Plan {
  const retentionMs = Math.min(plan.retentionMs ?? TEST_RETENTION_MS, TEST_RETENTION_MS);
  return { ...plan, test, start: undefined, triggers: [], retentionMs };
}

/** Comparing a path with 10,000 others takes milliseconds. */
const MAX_GUESSES = 3;
const MAX_PROBLEMS = 20;

export function testPlanOf(
  plan: Plan,
  options: TestOptions,
): { readonly test: TestPlan } | { readonly problems: readonly TestProblem[] } {
  const { until, only, pins = {} } = options;
  const problems: TestProblem[] = [];
  if (until !== undefined && only !== undefined) {
    problems.push({ message: "'until' and 'only' do not go together", hint: 'Leave one out.', pointer: '/only' });
  }
  for (const [path, pin] of Object.entries(pins)) {
    const pointer = `/pins/${path.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const found = find(plan, path, problems.length < MAX_GUESSES);
    const problem = 'node' in found ? pinProblem(found.node, pin) : found;
    if (problem !== undefined) problems.push({ ...problem, pointer });
    if (problems.length >= MAX_PROBLEMS) break;
  }
  const given = new Map(Object.entries(pins));
  const pointer = only === undefined ? '/until' : '/only';
  const target = only ?? until;
  const found = target === undefined ? undefined : find(plan, target);
  if (found !== undefined && !('node' in found)) problems.push({ ...found, pointer });
  if (found !== undefined && 'node' in found && found.node === plan.failureNode) {
    const hint = 'Pin the error of another node, and run all of it.';
    problems.push({ message: `'${target}' runs only after a failure`, hint, pointer });
  }
  const parts = found !== undefined && 'node' in found ? partsOf(found.steps) : new Map<string, TestPart>();
  if (only !== undefined && found !== undefined && 'node' in found) {
    const missing = [...upstreamOf(found.steps)].filter(([path, node]) => needsPin(node) && !given.has(path));
    if (given.has(only)) problems.push({ message: `'${only}' is to run, but it is pinned`, pointer });
    if (missing.length > 0) problems.push({ ...missingPins(only, missing), pointer });
  }
  return problems.length > 0 ? { problems } : { test: { options, parts, pins: given } };
}

/** The paths of the nodes that lead to a node, also those around and before the bodies that it is in. */
export function pathsBefore(plan: Plan, path: string): ReadonlySet<string> {
  const found = find(plan, path);
  return new Set('node' in found ? upstreamOf(found.steps).keys() : []);
}

/** A node on the way from the graph of the workflow to the target. */
interface Step {
  readonly graph: GraphPlan;
  /** The path of the node around the graph. */
  readonly around: string;
  readonly node: NodePlan;
}

type Found = { readonly node: NodePlan; readonly steps: readonly Step[] } | Omit<TestProblem, 'pointer'>;

/** `mayGuess`: a suggestion compares the path with all paths. */
function find(plan: Plan, path: string, mayGuess = true): Found {
  const { node, steps } = walk(plan, path);
  return node === undefined ? unknown(plan, path, steps, mayGuess) : { node, steps };
}

/** The steps as far as there are nodes; `node` is there if the path leads to one. */
function walk(plan: Plan, path: string): { readonly node: NodePlan | undefined; readonly steps: readonly Step[] } {
  const steps: Step[] = [];
  let graph: GraphPlan | undefined = plan.root;
  let around = '';
  let node: NodePlan | undefined;
  for (const id of path.split('/')) {
    node = graph?.nodes[graph.indexOf.get(id) ?? -1];
    if (graph === undefined || node === undefined) return { node: undefined, steps };
    steps.push({ graph, around, node });
    around = around === '' ? id : `${around}/${id}`;
    graph = innerGraph(node.work);
  }
  return { node, steps };
}

function unknown(plan: Plan, path: string, steps: readonly Step[], mayGuess: boolean): Omit<TestProblem, 'pointer'> {
  const message = `there is no node '${clipped(path, 200)}'`;
  const last = steps.at(-1);
  const kind = last?.node.work.kind;
  if (kind === 'child' || kind === 'dynamic') {
    const whole = pathOfStep(last as Step);
    const what = kind === 'child' ? 'runs as an execution of its own' : 'runs a graph that is known only once it runs';
    return { message, hint: `'${whole}' ${what}: name '${whole}' itself.` };
  }
  const plain = path
    .split('/')
    .filter((step) => !/^\d+$/.test(step))
    .join('/');
  if (plain !== path && walk(plan, plain).node !== undefined) {
    return { message, hint: `Write it without the number of the iteration: '${plain}'.` };
  }
  const near = mayGuess ? didYouMean(path, pathsOf(plan.root)) : undefined;
  return near === undefined ? { message } : { message, hint: `Did you mean '${near}'?` };
}

function* pathsOf(graph: GraphPlan, prefix = ''): Generator<string> {
  for (const node of graph.nodes) {
    yield `${prefix}${node.id}`;
    const inner = innerGraph(node.work);
    if (inner !== undefined) yield* pathsOf(inner, `${prefix}${node.id}/`);
  }
}

function pathOfStep({ around, node }: Step): string {
  return around === '' ? node.id : `${around}/${node.id}`;
}

function partsOf(steps: readonly Step[]): ReadonlyMap<string, TestPart> {
  return new Map(
    steps.map(({ around, node }) => {
      const ids = new Set([node, ...ancestorsOf(node)].map(({ id }) => id));
      return [around, { ids, target: node.id }];
    }),
  );
}

function upstreamOf(steps: readonly Step[]): ReadonlyMap<string, NodePlan> {
  const nodes = new Map<string, NodePlan>();
  for (const { around, node } of steps) {
    for (const before of ancestorsOf(node)) nodes.set(around === '' ? before.id : `${around}/${before.id}`, before);
  }
  return nodes;
}

function ancestorsOf(node: NodePlan): ReadonlySet<NodePlan> {
  const found = new Set<NodePlan>();
  const left = [node];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    for (const { from } of next.incoming) {
      if (found.has(from)) continue;
      found.add(from);
      left.push(from);
    }
  }
  return found;
}

/** These compute their result from the results before them, without an effect. */
function needsPin({ enabled, work: { kind } }: NodePlan): boolean {
  return enabled && kind !== 'branch' && kind !== 'set' && kind !== 'merge';
}

const LISTED = 5;

function missingPins(only: string, missing: readonly (readonly [string, NodePlan])[]): Omit<TestProblem, 'pointer'> {
  const names = missing.slice(0, LISTED).map(([path]) => `'${path}'`);
  const more = missing.length > LISTED ? ` and ${missing.length - LISTED} more` : '';
  return {
    message: `'${only}' alone needs the outputs of ${names.join(', ')}${more}`,
    hint: 'Pin them, or take them `from` a finished run.',
  };
}

function pinProblem({ id, work, outgoing }: NodePlan, pin: Pin): Omit<TestProblem, 'pointer'> | undefined {
  if (work.kind === 'terminate') return { message: `'${id}' ends the run and cannot be pinned` };
  if (!('output' in pin) || work.kind !== 'branch') return undefined;
  const taken = takenIn(pin.output);
  const hint = 'Pin { "taken": [ids of the nodes that it leads to] }.';
  if (taken === undefined) return { message: `'${id}' is a branch, and this is not its output`, hint };
  const targets = outgoing.map(({ to }) => to.id);
  const strange = taken.find((target) => !targets.includes(target));
  if (strange === undefined) return undefined;
  const near = didYouMean(strange, targets);
  return {
    message: `the branch '${id}' does not lead to '${strange}'`,
    hint: near === undefined ? hint : `Did you mean '${near}'?`,
  };
}

/** The ids of the nodes to which a branch leads, according to its output. */
export function takenIn(output: Json): readonly string[] | undefined {
  const taken = isJsonObject(output) ? (output as JsonObject).taken : undefined;
  return Array.isArray(taken) && taken.every((one) => typeof one === 'string') ? (taken as string[]) : undefined;
}

/** The path in the definition of a node of a run: `items/3/pack` is `items/pack`. Undefined if the plan has no such node. */
export function definitionPathOf(plan: Plan, path: string): string | undefined {
  const ids: string[] = [];
  let graph: GraphPlan | undefined = plan.root;
  let isIteration = false;
  for (const step of path.split('/')) {
    if (isIteration) {
      isIteration = false;
      continue;
    }
    const node: NodePlan | undefined = graph?.nodes[graph.indexOf.get(step) ?? -1];
    if (node === undefined) return undefined;
    ids.push(node.id);
    const { work } = node;
    graph = innerGraph(work);
    isIteration = work.kind === 'forEach' || work.kind === 'while' || work.kind === 'retryUntil';
  }
  return ids.join('/');
}

/** Paths of all nodes that can be pinned or tested, outer ones first. */
export function definitionPaths(plan: Plan): readonly string[] {
  return [...pathsOf(plan.root)];
}
