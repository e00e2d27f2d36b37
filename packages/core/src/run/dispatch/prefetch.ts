/**
 * Selects the spilled values that must be in memory before the core decides. Expressions are evaluated synchronously,
 * so the engine fetches blobs first. Runs without spilled values, nearly all, skip this.
 * The selection may have a few values too many. It may miss some where one end leads far: the lookup then asks for the
 * missing value, the engine fetches it, and the turn is decided again. A complete search made a chain of 10,000 nodes
 * take 10 s.
 */
import type { NodePath } from '../../ids.ts';
import type { NodeRead } from '../../plan/plan.ts';
import type { Stimulus } from '../decide/stimulus.ts';
import type { BlobRef, StoredValue } from '../journal/stored-value.ts';
import { batchOf, bodyOf, isFinal, nodeAt, stateIn } from '../state/selectors.ts';
import type { NodeState, RunState, ScopeState } from '../state/state.ts';

/** The limit on nodes that are searched per turn. */
const MAX_FORESEEN = 64;

export function blobsToDecide(state: RunState, stimuli: readonly Stimulus[]): BlobRef[] {
  const blobs = new Map<string, BlobRef>();
  const seen = new Set<NodeState>();
  for (const stimulus of stimuli) {
    if (stimulus.type === 'ended' && stimulus.outcome.status === 'completed') want(blobs, stimulus.outcome.output);
    // 10,000 wake-ups and signals count as one: the first one has searched enough.
    if (seen.size >= MAX_FORESEEN) continue;
    for (const node of touchedBy(state, stimulus)) walk(node, seen, blobs);
  }
  wantAround(blobs, state.root);
  if (mayEnd(state, seen)) wantOutput(blobs, state.root);
  return [...blobs.values()];
}

/** All open nodes may end in this turn. */
function mayEnd(state: RunState, seen: ReadonlySet<NodeState>): boolean {
  let open = 0;
  for (const scope of state.scopes.values()) open += scope.open;
  for (const node of seen) if (!isFinal(node.phase.status)) open--;
  return open <= 0;
}

/** The blobs that starting the node reads. */
export function blobsToStart(state: RunState, path: NodePath): BlobRef[] {
  const blobs = new Map<string, BlobRef>();
  const node = nodeAt(state, path);
  if (node !== undefined) {
    wantAround(blobs, node.scope);
    want(blobs, node.input);
    wantReads(blobs, node.scope, node.plan.reads);
  }
  return [...blobs.values()];
}

/** Adds the blobs that the output of a scope reads. */
function wantOutput(blobs: Map<string, BlobRef>, scope: ScopeState): void {
  const { output, outputReads, ends } = scope.graph;
  if (output !== undefined) return wantReads(blobs, scope, outputReads);
  for (const end of ends) want(blobs, scope.nodes[end.index]?.output);
}

/** Adds the values that any expression of the scope may read besides nodes: inputs, variables, the items of loops. */
function wantAround(blobs: Map<string, BlobRef>, inner: ScopeState): void {
  for (let scope: ScopeState | undefined = inner; scope !== undefined; scope = scope.parent?.scope) {
    want(blobs, scope.realm.input);
    for (const stored of scope.realm.vars.values()) want(blobs, stored);
    const { parent, iteration } = scope;
    const body = parent === null ? undefined : bodyOf(parent);
    if (body !== undefined) want(blobs, batchOf(body, iteration)?.items);
  }
}

/** Adds the results of the loops around a node: their iterations may end with it, and so may the loops. */
function wantLoops(blobs: Map<string, BlobRef>, node: NodeState): void {
  for (let scope = node.scope; scope.parent !== null; scope = scope.parent.scope) {
    const body = bodyOf(scope.parent);
    wantOutput(blobs, scope);
    if (body === undefined || body.next < body.total || body.open > MAX_FORESEEN) continue;
    for (const stored of body.results) want(blobs, stored);
  }
}

function touchedBy(state: RunState, stimulus: Stimulus): readonly NodeState[] {
  if ('node' in stimulus && stimulus.node !== undefined && stimulus.type !== 'replay') {
    const node = nodeAt(state, stimulus.node);
    return node === undefined ? [] : [node];
  }
  if (stimulus.type === 'start') return state.root.graph.entries.map((plan) => stateIn(state.root, plan));
  // Timers and lost workers may end any open node; a retry reopens any.
  return [...state.scopes.values()].flatMap((scope) =>
    scope.nodes.filter((node) => stimulus.type === 'retry' || !isFinal(node.phase.status)),
  );
}

/** Searches from a node that may end through all nodes that could be skipped in the same turn. */
function walk(from: NodeState, seen: Set<NodeState>, blobs: Map<string, BlobRef>): void {
  const stack = [from];
  for (let node = stack.pop(); node !== undefined && seen.size < MAX_FORESEEN; node = stack.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    wantAround(blobs, node.scope);
    wantLoops(blobs, node);
    want(blobs, node.output);
    wantReads(blobs, node.scope, node.plan.reads);
    for (const edge of node.plan.outgoing) {
      wantReads(blobs, node.scope, edge.reads);
      const target = stateIn(node.scope, edge.to);
      if (!isFinal(target.phase.status)) stack.push(target);
    }
  }
}

function wantReads(blobs: Map<string, BlobRef>, reader: ScopeState, reads: readonly NodeRead[]): void {
  for (const { up, index } of reads) {
    let scope: ScopeState | undefined = reader;
    for (let step = 0; step < up; step++) scope = scope?.parent?.scope;
    const node = scope?.nodes[index];
    want(blobs, node?.output);
    want(blobs, node?.input);
  }
}

function want(blobs: Map<string, BlobRef>, stored: StoredValue | undefined): void {
  if (stored?.blob !== undefined) blobs.set(stored.blob.sha256, stored.blob);
}
