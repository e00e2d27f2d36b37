/** Reopens a run that has ended: by a retry of the failed nodes, or by a replay from a named node. */

import type { Ceiling } from '../../capability/narrow.ts';
import type { NodePath } from '../../ids.ts';
import type { Json } from '../../value.ts';
import { continueNode } from '../composite/composite.ts';
import { ceilingAgain } from '../state/authority.ts';
import { bodyOf, isFinal, isInside, nodeAt, pathOf, stateIn, survivorOf } from '../state/selectors.ts';
import type { NodeState, RunState, ScopeState } from '../state/state.ts';
import { beginAgain } from './advance.ts';
import { refuseReplay } from './preconditions.ts';
import { emit, type Turn } from './turn.ts';

/** The nodes that begin again, and the composite nodes that continue with their failed iterations. */
interface Repetition {
  readonly again: Set<NodeState>;
  readonly open: Set<NodeState>;
  /** The subset of `again` that begins as something new. */
  readonly renewed: Set<NodeState>;
}

/**
 * Retry from failed: nodes that failed, were cut off, were not reached because of that, or were undone begin again. An
 * unknown outcome stays unknown: only `verify` or a person can settle it. Returns false if nothing is left to do.
 */
export function retry(turn: Turn, { ceiling }: { readonly ceiling?: Ceiling } = {}): boolean {
  const repetition = retryOf(turn.state);
  if (repetition !== undefined) reopen(turn, repetition, { ceiling });
  return repetition !== undefined;
}

function retryOf(state: RunState): Repetition | undefined {
  if (state.phase.status === 'completed' && isTerminated(state)) return undefined;
  const repetition = failedIn([state.root]);
  for (const node of [...repetition.again, ...repetition.open]) renewFinally(repetition, node);
  const { failureNode } = state.plan;
  const last = failureNode && state.root.nodes[failureNode.index];
  if (last !== undefined && last.attempts > 0) renewFrom(repetition, last);
  // In the order of completion: nodes that depend on an earlier one are renewed with it and need no second look.
  for (const path of state.undone.toReversed()) {
    const node = survivorOf(state, path);
    if (!isRenewed(repetition, node)) renewFrom(repetition, node);
  }
  const isNothingLeft = repetition.again.size === 0 && repetition.open.size === 0 && state.unknown.size === 0;
  // The version to which the run was moved may not have the nodes that failed.
  const isPointless = isNothingLeft && (state.phase.status === 'completed' || state.migrated === null);
  return isPointless ? undefined : repetition;
}

/** A terminate node ended the run: nothing is left to do. */
function isTerminated({ scopes }: RunState): boolean {
  for (const { nodes } of scopes.values()) {
    if (nodes.some(({ phase, plan }) => phase.status === 'completed' && plan.work.kind === 'terminate')) return true;
  }
  return false;
}

/** Begins the node and all nodes that depend on it as something new. */
export function replay(
  turn: Turn,
  { node: path, input, ceiling }: { readonly node: NodePath; readonly input?: Json; readonly ceiling?: Ceiling },
): boolean {
  const repetition = replayOf(turn.state, path, input);
  if (repetition !== undefined) reopen(turn, repetition, { input, ceiling });
  return repetition !== undefined;
}

function replayOf(state: RunState, path: NodePath, input: Json | undefined): Repetition | undefined {
  const node = nodeAt(state, path);
  if (node === undefined || refuseReplay(state, path, input) !== undefined) return undefined;
  const around: NodeState[] = [];
  for (let at = node.scope.parent; at !== null; at = at.scope.parent) around.push(at);
  // The composite nodes around it continue, including their other iterations that failed or were cut off.
  const outermost = around.at(-1);
  const failed = failedIn(outermost === undefined ? [] : (bodyOf(outermost)?.scopes.values() ?? []));
  const repetition: Repetition = { again: new Set([node, ...failed.again]), open: failed.open, renewed: new Set() };
  renewFrom(repetition, node);
  for (const composite of around) {
    repetition.open.add(composite);
    descend(repetition, composite);
  }
  return repetition;
}

/** What a retry, or a replay from a node, would do: paths of nodes that begin again, continue, and keep their results. */
export interface ReopenPreview {
  readonly again: readonly NodePath[];
  /** Composite nodes that continue with their failed iterations. */
  readonly continues: readonly NodePath[];
  readonly kept: readonly NodePath[];
}

/** Undefined if nothing would happen. */
export function reopenPreview(
  state: RunState,
  replayed?: { readonly node: NodePath; readonly input?: Json | undefined },
): ReopenPreview | undefined {
  const repetition = replayed === undefined ? retryOf(state) : replayOf(state, replayed.node, replayed.input);
  if (repetition === undefined) return undefined;
  const { again, open } = repetition;
  const kept: NodePath[] = [];
  for (const { nodes } of state.scopes.values()) {
    for (const node of nodes) {
      if (node.phase.status === 'completed' && !open.has(node) && !isWithin(again, node)) kept.push(pathOf(node));
    }
  }
  return { again: Array.from(again, pathOf), continues: Array.from(open, pathOf), kept };
}

/** The node, or a composite node around it, is in the set. */
function isWithin(set: ReadonlySet<NodeState>, node: NodeState): boolean {
  for (let at: NodeState | null = node; at !== null; at = at.scope.parent) if (set.has(at)) return true;
  return false;
}

function reopen(
  turn: Turn,
  { again, open, renewed }: Repetition,
  { input, ceiling: now }: { readonly input?: Json | undefined; readonly ceiling: Ceiling | undefined },
): void {
  const ceiling = ceilingAgain(turn.state, now);
  emit(turn, {
    type: 'run.reopened',
    nodes: Array.from(again, pathOf),
    ...(open.size === 0 ? {} : { open: Array.from(open, pathOf) }),
    ...(renewed.size === 0 ? {} : { renewed: Array.from(renewed, pathOf) }),
    ...(input === undefined ? {} : { input: turn.store(input) }),
    ...(ceiling === undefined ? {} : { ceiling }),
  });
  beginAgain(turn, again);
  for (const node of open) continueNode(turn, node);
}

function failedIn(within: Iterable<ScopeState>): Repetition {
  const again = new Set<NodeState>();
  const open = new Set<NodeState>();
  const scopes = [...within];
  for (let scope = scopes.pop(); scope !== undefined; scope = scopes.pop()) {
    if (scope.isDone) continue;
    const stack: NodeState[] = [];
    const add = (node: NodeState): void => {
      const set = bodyOf(node) === undefined ? again : open;
      if (set.has(node)) return;
      set.add(node);
      stack.push(node);
      for (const inner of bodyOf(node)?.scopes.values() ?? []) scopes.push(inner);
    };
    for (const node of scope.nodes) {
      if (!mustRunAgain(node)) continue;
      add(node);
      const split = failedSplitOf(node);
      if (split !== undefined) add(split);
    }
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      for (const edge of node.plan.outgoing) {
        const target = stateIn(scope, edge.to);
        if (target.phase.status === 'skipped') add(target);
      }
    }
  }
  return { again, open, renewed: new Set() };
}

/** A merge fails because its split failed. */
function failedSplitOf({ plan: { work }, scope: { graph, nodes } }: NodeState): NodeState | undefined {
  const split = work.kind === 'merge' ? nodes[graph.indexOf.get(work.of) ?? -1] : undefined;
  return split?.phase.status === 'failed' ? split : undefined;
}

/** A terminate that ended the run ends it again, unless an earlier node takes another way. */
function mustRunAgain({ phase, plan }: NodeState): boolean {
  if (phase.status === 'completed') return plan.work.kind === 'terminate';
  if (phase.status === 'failed') return phase.handling !== 'handled' && phase.handling !== 'ignored';
  return phase.status === 'cancelled';
}

/**
 * Renews the nodes behind always edges of a node that begins again, and the nodes that depend on them. Nodes of unknown
 * outcome stay as they are.
 */
function renewFinally(repetition: Repetition, from: NodeState): void {
  const { scope } = from;
  const stack: NodeState[] = [];
  const add = (target: NodeState): void => {
    if (!isFinal(target.phase.status) || isRenewed(repetition, target)) return;
    replace(repetition, target);
    if (target.startedAt !== null) repetition.renewed.add(target);
    stack.push(target);
  };
  for (const { on, to } of from.plan.outgoing) {
    const target = stateIn(scope, to);
    if (on === 'always' && target.startedAt !== null) add(target);
  }
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    for (const { to } of node.plan.outgoing) add(stateIn(scope, to));
  }
}

/** These nodes and all nodes that depend on them, and the subset that begins as something new. */
export function renewalOf(nodes: Iterable<NodeState>): Omit<Repetition, 'open'> {
  const repetition: Repetition = { again: new Set(), open: new Set(), renewed: new Set() };
  for (const node of nodes) if (!isRenewed(repetition, node)) renewFrom(repetition, node);
  return repetition;
}

/** The node, or a composite node around it, is renewed already. */
function isRenewed({ renewed }: Repetition, node: NodeState | undefined): boolean {
  return node !== undefined && isWithin(renewed, node);
}

function renewFrom(repetition: Repetition, node: NodeState | undefined): void {
  if (node === undefined) return;
  replace(repetition, node);
  repetition.renewed.add(node);
  descend(repetition, node);
}

/** The whole composite node begins again, so the nodes inside it are not listed. */
function replace({ again, open, renewed }: Repetition, node: NodeState): void {
  if (bodyOf(node) !== undefined) {
    for (const set of [again, open, renewed]) for (const one of set) if (isInside(one.scope, node)) set.delete(one);
  }
  open.delete(node);
  again.add(node);
}

/** Renews all nodes that depend on `from`, but not `from` itself. */
function descend(repetition: Repetition, from: NodeState): void {
  const stack = [from];
  const seen = new Set(stack);
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    for (const edge of node.plan.outgoing) {
      const target = stateIn(from.scope, edge.to);
      if (seen.has(target)) continue;
      seen.add(target);
      stack.push(target);
      replace(repetition, target);
      const hasBegun = target.attempts > 0 || bodyOf(target) !== undefined || target.phase.status === 'completed';
      if (hasBegun) repetition.renewed.add(target);
    }
  }
}
