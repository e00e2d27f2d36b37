/**
 * Compares two versions of a workflow, node by node. A node is addressed by its path in the definition, without the
 * numbers of iterations: `items/pack`.
 */
import type { BodyDefinition, BranchDefinition, NodeDefinition } from '../../definition/model.ts';
import type { GraphPlan, NodePlan, Plan } from '../../plan/plan.ts';
import { canonicalJson, type Json, type JsonObject } from '../../value.ts';

/** A node as one version defines it. Texts are canonical JSON. */
interface NodeText {
  readonly plan: NodePlan;
  /** Keys that can change its result. */
  readonly result: ReadonlyMap<string, string>;
  /** Everything by which it is reached: its join and the edges to it. */
  readonly incoming: string;
  /** Conditions of the edges out of it. */
  readonly outgoing: string;
  /** The gates that it passes before it begins. */
  readonly gates: string;
}

export type DefinitionChange =
  | { readonly kind: 'added' }
  | { readonly kind: 'removed' }
  /**
   * `keys`: changed keys that can change the result of the node; `do` stands for the nodes inside. `isReachedAnew`: its
   * join or the edges to it have changed. `leadsElsewhere`: the conditions of the edges out of it have.
   */
  | {
      readonly kind: 'changed';
      readonly keys: readonly string[];
      readonly isReachedAnew: boolean;
      readonly leadsElsewhere: boolean;
      /** Its gates are others: a key, a rate, the cache. */
      readonly changesGates: boolean;
      /** The node is of another kind now. */
      readonly isOtherKind: boolean;
    };

/** Keys that change when, where or how often a node runs, or how people see it, but not its result. */
const WITHOUT_RESULT: ReadonlySet<string> = new Set<keyof NodeDefinition>([
  'name',
  'notes',
  'needs',
  'join',
  'when',
  'enabled',
  'retry',
  'timeout',
  'onError',
  'priority',
  'estimate',
  'labels',
  'concurrency',
  'rateLimit',
  'cache',
  'do',
  'group',
]);

/** Members of a kind that only limit it. */
const LIMITS: Readonly<Record<string, readonly string[]>> = {
  forEach: ['parallel', 'maxConcurrency', 'minSuccess'],
  while: ['maxIterations'],
  retryUntil: ['attempts', 'backoff'],
  merge: ['timeout'],
  // A compensation runs as the new version says, with the parameters that were resolved when its node completed. Another
  // action, or other parameters, may not fit these.
  compensate: ['retry', 'timeout'],
};

export function definitionChanges(from: Plan, to: Plan): ReadonlyMap<string, DefinitionChange> {
  const before = textsOf(from);
  const after = textsOf(to);
  const changes = new Map<string, DefinitionChange>();
  for (const [path, old] of before) {
    const now = after.get(path);
    const change = now === undefined ? ({ kind: 'removed' } as const) : changeOf(old, now);
    if (change !== undefined) changes.set(path, change);
  }
  for (const path of after.keys()) if (!before.has(path)) changes.set(path, { kind: 'added' });
  for (const path of [...changes.keys()]) addAround(changes, path, before, after);
  return changes;
}

/** The composite nodes around a changed node have changed inside. */
function addAround(
  changes: Map<string, DefinitionChange>,
  path: string,
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): void {
  const change = changes.get(path);
  if (change?.kind === 'changed' && change.keys.length === 0) return;
  for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1)) {
    const around = path.slice(0, cut);
    if (!before.has(around) || !after.has(around)) continue;
    const own = changes.get(around) ?? NOT_CHANGED;
    if (own.kind === 'changed' && !own.keys.includes('do')) changes.set(around, { ...own, keys: [...own.keys, 'do'] });
  }
}

const NOT_CHANGED: DefinitionChange = {
  kind: 'changed',
  keys: [],
  isReachedAnew: false,
  leadsElsewhere: false,
  changesGates: false,
  isOtherKind: false,
};

function changeOf(old: NodeText, now: NodeText): DefinitionChange | undefined {
  const names = new Set([...old.result.keys(), ...now.result.keys()]);
  const keys = [...names].filter((name) => old.result.get(name) !== now.result.get(name));
  const isReachedAnew = old.incoming !== now.incoming;
  const leadsElsewhere = old.outgoing !== now.outgoing;
  const changesGates = old.gates !== now.gates;
  const isOtherKind = old.plan.work.kind !== now.plan.work.kind;
  if (keys.length === 0 && !isReachedAnew && !leadsElsewhere && !changesGates) return undefined;
  return { kind: 'changed', keys, isReachedAnew, leadsElsewhere, changesGates, isOtherKind };
}

function textsOf({ root, definition }: Plan): Map<string, NodeText> {
  const texts = new Map<string, NodeText>();
  describe(root, definition, '', texts);
  return texts;
}

function describe(graph: GraphPlan, body: BodyDefinition, prefix: string, texts: Map<string, NodeText>): void {
  for (const plan of graph.nodes) {
    const definition = body.nodes?.[plan.id] ?? {};
    const path = `${prefix}${plan.id}`;
    texts.set(path, {
      plan,
      result: resultOf(definition),
      incoming: incomingOf(plan, definition, body),
      outgoing: outgoingOf(plan, body),
      gates: canonicalJson([
        definition.concurrency ?? null,
        definition.rateLimit ?? null,
        definition.cache ?? null,
      ] as never),
    });
    const { work } = plan;
    // The nodes between a split and its merge are in the same definition.
    if (work.kind === 'inline') describe(work.workflow.root, work.workflow.definition, `${path}/`, texts);
    else if (work.kind === 'forEach' && work.isSplit) describe(work.body, body, `${path}/`, texts);
    else if ('body' in work) describe(work.body, bodyOf(definition) ?? {}, `${path}/`, texts);
  }
}

/** The body of a loop or a group. */
function bodyOf({ do: body, group }: NodeDefinition): BodyDefinition | undefined {
  return body ?? group;
}

function resultOf(definition: NodeDefinition): Map<string, string> {
  const result = new Map<string, string>();
  for (const [key, value] of Object.entries(definition as unknown as JsonObject)) {
    if (!WITHOUT_RESULT.has(key)) result.set(key, canonicalJson(withoutLimits(key, value)));
  }
  const output = bodyOf(definition)?.output;
  if (output !== undefined) result.set('do.output', canonicalJson(output));
  return result;
}

function withoutLimits(key: string, value: Json): Json {
  // The version of an inlined workflow shows in its nodes; that of a child is the newest one unless it is given.
  const limits = key === 'workflow' && isInline(value) ? ['version'] : LIMITS[key];
  if (limits === undefined) return value;
  return Object.fromEntries(Object.entries(value as JsonObject).filter(([name]) => !limits.includes(name)));
}

function isInline(workflow: Json): boolean {
  const { mode, plan } = workflow as JsonObject;
  return mode !== 'child' && plan === undefined;
}

function incomingOf({ id, incoming }: NodePlan, { join, when, enabled }: NodeDefinition, body: BodyDefinition): string {
  const edges = (body.edges ?? []).filter(({ to }) => to === id);
  // A branch leads to its cases without an edge of the definition.
  const sources = incoming.map(({ from: { id: from, work }, on }) =>
    work.kind === 'branch' ? [from, on, casesTo(id, body.nodes?.[from]?.branch)] : [from, on],
  );
  return canonicalJson([join ?? null, when ?? null, enabled ?? true, edges, sources] as unknown as Json);
}

/** The cases of a branch that lead to the node. */
function casesTo(id: string, branch: BranchDefinition | undefined): Json {
  if (branch === undefined) return null;
  const { on = null, many = false, cases, default: otherwise = [] } = branch;
  const leads = (to: string | readonly string[]): boolean => [to].flat().includes(id);
  const own = Array.isArray(cases)
    ? cases.filter(({ to }) => leads(to))
    : Object.entries(cases).filter(([, to]) => leads(to));
  return [on, many, own, leads(otherwise)] as unknown as Json;
}

function outgoingOf({ id, outgoing }: NodePlan, body: BodyDefinition): string {
  const edges = (body.edges ?? []).filter(({ from, when, match }) => from === id && (when ?? match) !== undefined);
  const keys = outgoing.filter(({ when, match, matchError }) => (when ?? match ?? matchError) !== undefined);
  return canonicalJson([edges, keys.map(({ key, on }) => [key, on])] as unknown as Json);
}
