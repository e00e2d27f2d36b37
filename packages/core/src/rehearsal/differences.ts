/** Compares two decisions on the same frame: the recorded one and that of a new version. */
import type { Plan } from '../plan/plan.ts';
import type { Entry } from '../run/journal/entry.ts';
import { digest, hexOf, utf8 } from '../sha.ts';
import { canonicalJson, isJsonObject, type Json, jsonEquals } from '../value.ts';
import { waitWords } from '../view/cause-words.ts';

export type DivergenceKind =
  /** The journal mentions a node that the new version does not have. */
  | 'node-missing'
  /** A node would get another input, or iterate over other items. */
  | 'other-input'
  | 'would-run'
  | 'would-not-run'
  /** Other edges out of a node would be taken. */
  | 'other-edges'
  | 'other-output'
  /** An attempt would be retried at another time, or not at all. */
  | 'other-retry'
  | 'other-wait'
  | 'other-end'
  | 'other';

export interface Difference {
  readonly kind: DivergenceKind;
  /** Path of the node; undefined for the run. */
  readonly node: string | undefined;
  /** The recorded value, and the new one. */
  readonly recorded: Json;
  readonly now: Json;
  /** A description for people. */
  readonly text: string;
}

/** Entries of a frame by subject: `outcome charge`, `ready ship`, `run.finished`. */
type Facts = Map<string, { readonly entry: Entry; readonly about: string | undefined }>;

const OUTCOMES = ['node.completed', 'node.failed', 'node.retrying', 'node.cancelled', 'node.unknown', 'node.returned'];

export function compareFrames(recorded: readonly Entry[], now: readonly Entry[], plan: Plan): Difference | undefined {
  const [before, after] = [factsOf(recorded), factsOf(now)];
  for (const [key, { entry, about }] of before) {
    const found = after.get(key)?.entry;
    if (found === undefined) return gone(entry, about, after);
    const other = JSON.stringify(entry).includes('"blob"')
      ? (aligned(plain(entry), plain(found)) as unknown as Entry)
      : found;
    const difference = compare(entry, other, about, plan);
    if (difference !== undefined) return difference;
  }
  for (const [key, { entry, about }] of after) if (!before.has(key)) return added(entry, about);
  return undefined;
}

/** Large values are recorded as blobs, by their hash. The same value, which is decided on inline, becomes that blob. */
function aligned(recorded: Json, now: Json): Json {
  if (!isJsonObject(recorded) || !isJsonObject(now)) return now;
  if (isJsonObject(recorded.blob ?? null) && Object.hasOwn(now, 'value')) {
    const { sha256 } = recorded.blob as { readonly sha256?: Json };
    return sha256 === hexOf(digest('sha256', utf8(JSON.stringify(now.value)))) ? recorded : now;
  }
  const members = Object.entries(now).map(([name, value]) => [name, aligned(recorded[name] ?? null, value as Json)]);
  return Object.fromEntries(members) as Json;
}

function factsOf(entries: readonly Entry[]): Facts {
  const facts: Facts = new Map();
  const add = (key: string, entry: Entry, about?: string): void => {
    // The start of an attempt includes its input, which is more specific than that the node was ready.
    if (!facts.has(key) || entry.type === 'node.started') facts.set(key, { entry, about });
  };
  for (const entry of entries) {
    if (entry.type === 'node.scheduled') for (const node of entry.nodes) add(`ready ${node}`, entry, node);
    else if (entry.type === 'node.started') add(`ready ${entry.node}`, entry, entry.node);
    else if (entry.type === 'node.skipped') for (const node of entry.nodes) add(`skipped ${node}`, entry, node);
    else if (OUTCOMES.includes(entry.type) && 'node' in entry) add(`outcome ${entry.node}`, entry, entry.node);
    else if ('node' in entry) add(`${entry.type} ${entry.node}`, entry, entry.node);
    else if ('scope' in entry) add(`${entry.type} ${entry.scope}`, entry, entry.scope === '' ? undefined : entry.scope);
    else add(entry.type, entry);
  }
  return facts;
}

function gone(entry: Entry, about: string | undefined, after: Facts): Difference {
  const base = { node: about, recorded: dataOf(entry), now: null };
  if (entry.type === 'node.scheduled' || entry.type === 'node.started') {
    const skipped = after.has(`skipped ${about}`) ? ': it would be skipped' : '';
    return { ...base, kind: 'would-not-run', text: `'${about}' ran here, but would not run${skipped}` };
  }
  if (entry.type === 'node.skipped') {
    const runs = after.has(`ready ${about}`);
    const text = runs
      ? `'${about}' was skipped here, but would run`
      : `'${about}' was skipped here, but would not be skipped yet`;
    return { ...base, kind: runs ? 'would-run' : 'other', text };
  }
  if (entry.type === 'run.finished')
    return { ...base, kind: 'other-end', text: `the run ended here as ${entry.status}, but would continue` };
  return {
    ...base,
    kind: 'other',
    text: `${entry.type}${about === undefined ? '' : ` of '${about}'`} would be missing`,
  };
}

function added(entry: Entry, about: string | undefined): Difference {
  const base = { node: about, recorded: null, now: dataOf(entry) };
  if (
    entry.type === 'node.scheduled' ||
    entry.type === 'node.started' ||
    entry.type === 'node.gated' ||
    entry.type === 'node.opened' ||
    entry.type === 'node.waiting'
  ) {
    return { ...base, kind: 'would-run', text: `'${about}' did not run here, but would run` };
  }
  if (entry.type === 'run.finished')
    return { ...base, kind: 'other-end', text: `the run continued here, but would end as ${entry.status}` };
  if (entry.type === 'node.skipped') return { ...base, kind: 'other', text: `'${about}' would be skipped here` };
  return {
    ...base,
    kind: 'other',
    text: `there would be an additional ${entry.type}${about === undefined ? '' : ` of '${about}'`}`,
  };
}

function compare(recorded: Entry, now: Entry, about: string | undefined, plan: Plan): Difference | undefined {
  if (recorded.type === 'node.scheduled' || recorded.type === 'node.skipped') return undefined;
  if (recorded.type === 'node.started') {
    // The start time depends on slots; the input depends on the workflow.
    if (now.type !== 'node.started' || recorded.input === undefined) return undefined;
    return unlike(about, 'other-input', recorded.input.value, now.input?.value, `'${about}' would get another input`);
  }
  if (recorded.type !== now.type) {
    const isRetry = recorded.type === 'node.retrying' || now.type === 'node.retrying';
    const text = `'${about}' would end its attempt differently`;
    return unlike(about, isRetry ? 'other-retry' : 'other', wordOf(recorded), wordOf(now), text);
  }
  switch (recorded.type) {
    case 'run.started':
    case 'run.reopened':
      return unlike(about, 'other-input', inputOf(recorded), inputOf(now), 'the run would start with another input');
    case 'child.requested':
    case 'node.opened':
      return unlike(about, 'other-input', inputOf(recorded), inputOf(now), `'${about}' would start with another input`);
    case 'node.retrying': {
      const { until } = now as typeof recorded;
      if (isJittered(plan, about) && recorded.until <= until) return undefined;
      return unlike(about, 'other-retry', recorded.until, until, `'${about}' would be retried at another time`);
    }
    case 'node.completed':
    case 'node.failed':
      return compareEnds(recorded, now as typeof recorded, about, plan);
    case 'node.waiting':
      return compareWaits(recorded, now as typeof recorded, about);
    case 'run.finished':
      return unlike(
        about,
        'other-end',
        endOf(recorded),
        endOf(now as typeof recorded),
        'the run would end differently',
      );
    case 'items.added':
    case 'node.answered':
    case 'node.cancelled':
    case 'node.compensating':
    case 'node.configured':
    case 'node.gated':
    case 'node.granted':
    case 'node.returned':
    case 'node.settled':
    case 'node.stopping':
    case 'node.unhandled':
    case 'node.unknown':
    case 'round.delayed':
    case 'run.begun':
    case 'run.checkpointed':
    case 'run.held':
    case 'run.migrated':
    case 'run.paused':
    case 'run.resumed':
    case 'run.stopping':
    case 'scope.closed':
    case 'scope.compensated':
    case 'scope.compensating':
    case 'scope.stopping':
    case 'scopes.opened':
    case 'signal.kept':
    case 'signal.refused':
    case 'signal.taken':
      return unlike(about, 'other', recorded, now, `${recorded.type} would differ`);
  }
}

type NodeEnd = Extract<Entry, { type: 'node.completed' | 'node.failed' }>;

function compareEnds(recorded: NodeEnd, now: NodeEnd, about: string | undefined, plan: Plan): Difference | undefined {
  const edges = compareEdges(recorded, now, about, plan);
  if (edges !== undefined) return edges;
  if (recorded.type === 'node.failed') {
    const { handling } = now as typeof recorded;
    return unlike(
      about,
      'other',
      recorded.handling,
      handling,
      `the failure of '${about}' would be handled differently`,
    );
  }
  const { output, vars = {}, undo = null } = now as typeof recorded;
  const left = { vars: recorded.vars ?? {}, undo: recorded.undo ?? null };
  return (
    unlike(about, 'other-output', recorded.output?.value, output?.value, `'${about}' would have another output`) ??
    unlike(about, 'other', left, { vars, undo }, `'${about}' would set other variables or another compensation`)
  );
}

/** Returns undefined when the values are equal. */
function unlike(
  node: string | undefined,
  kind: DivergenceKind,
  recorded: unknown,
  now: unknown,
  text: string,
): Difference | undefined {
  const [before, after] = [plain(recorded), plain(now)];
  if (jsonEquals(before, after)) return undefined;
  return { kind, node, recorded: before, now: after, text: `${text}: ${short(after)} instead of ${short(before)}` };
}

/** The difference in words, where the events or the deadline differ. */
function compareWaits(recorded: Waiting, now: Waiting, about: string | undefined): Difference | undefined {
  const found = unlike(about, 'other-wait', recorded, now, `'${about}' would wait in another way`);
  const [before, after] = [waitText(recorded), waitText(now)];
  if (found === undefined || before === after) return found;
  return { ...found, text: `'${about}' would wait ${after} instead of ${before}` };
}

type Waiting = Extract<Entry, { type: 'node.waiting' }>;

function waitText({ waits, deadline }: Waiting): string {
  const moment = (at: number): string => new Date(at).toISOString();
  const until = deadline === undefined ? '' : `, at most until ${moment(deadline)}`;
  return `${waitWords(waits, moment)}${until}`;
}

function inputOf(entry: Entry): unknown {
  if (entry.type === 'node.opened' && entry.items !== undefined) return entry.items.value;
  return 'input' in entry ? entry.input?.value : undefined;
}

/** Compares the edges taken with those that would be taken. */
function compareEdges(recorded: NodeEnd, now: NodeEnd, about: string | undefined, plan: Plan): Difference | undefined {
  if (jsonEquals(plain(decidedIn(recorded)), plain(decidedIn(now)))) return undefined;
  const node = nodesOn(plan, about).at(-1);
  const [before, after] = [waysOf(recorded, node), waysOf(now, node)];
  return {
    kind: 'other-edges',
    node: about,
    recorded: plain({ ...decidedIn(recorded), taken: before }),
    now: plain({ ...decidedIn(now), taken: after }),
    text: `'${about}' would lead to ${listed(after)} instead of ${listed(before)}`,
  };
}

function decidedIn(entry: NodeEnd): { readonly dead: readonly string[]; readonly taken: readonly string[] } {
  const taken = entry.type === 'node.failed' ? (entry.taken ?? []) : [];
  return { dead: [...(entry.dead ?? [])].sort(), taken: [...taken].sort() };
}

/** The targets of a node. The journal has the dead edges; the others come from the current version. */
function waysOf(entry: NodeEnd, node: NodePlan | undefined): readonly string[] {
  const { dead, taken } = decidedIn(entry);
  if (entry.type === 'node.failed' && entry.handling !== 'ignored') return taken;
  const chosen = node?.work.kind === 'branch' && entry.type === 'node.completed' ? entry.output?.value : undefined;
  if (isJsonObject(chosen) && Array.isArray(chosen.taken)) return chosen.taken as readonly string[];
  const keys = node?.outgoing.filter(({ on }) => on !== 'error').map(({ key }) => key) ?? [];
  return keys.filter((key) => !dead.includes(key)).sort();
}

function listed(ids: readonly string[]): string {
  return ids.length === 0 ? 'nothing' : ids.map((id) => `'${id}'`).join(', ');
}

function endOf({ status, output, error }: Extract<Entry, { type: 'run.finished' }>): unknown {
  return { status, output: output?.value ?? null, error: error?.code ?? null };
}

function isJittered(plan: Plan, path: string | undefined): boolean {
  return nodesOn(plan, path).some(({ retry }) => retry.rules.some(({ policy }) => policy === 'exponential-jitter'));
}

/** The nodes on a path, outermost first, as far as the plan has them. */
function nodesOn(plan: Plan, path: string | undefined): NodePlan[] {
  const nodes: NodePlan[] = [];
  let graph = plan.root;
  for (const step of path?.split('/') ?? []) {
    const node = graph.nodes[graph.indexOf.get(step) ?? -1];
    if (node === undefined) continue;
    nodes.push(node);
    if ('body' in node.work) graph = node.work.body;
    else if (node.work.kind === 'inline') graph = node.work.workflow.root;
  }
  return nodes;
}

type NodePlan = Plan['root']['nodes'][number];

function wordOf(entry: Entry): string {
  return entry.type.replace(/^node\./, '');
}

function dataOf(entry: Entry): Json {
  return plain(entry);
}

function plain(value: unknown): Json {
  return (value === undefined ? null : JSON.parse(JSON.stringify(value))) as Json;
}

const MAX_SHOWN = 120;

function short(value: unknown): string {
  const text = canonicalJson(plain(value));
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
