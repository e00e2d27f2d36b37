/**
 * Edges, joins and failures by LANGUAGE.md, as functions of the outcomes of nodes. Nothing here knows the core:
 * conditions and matchers are the few forms that random definitions use.
 */
import type { Json } from '@nebula/core';
import { type Edge, type Keys, listOf } from './graph.ts';

/** Why an edge is dead, or a node skipped. */
export type Cause = 'choice' | 'failure';
/** `broken`: its condition could not be evaluated, and its target fails. */
export type Decision = 'open' | 'taken' | 'broken' | Cause;
export type Join = 'open' | 'satisfied' | 'broken' | Cause;

export interface ErrorFact {
  readonly code: string;
  readonly kind?: string;
  readonly message?: string;
  readonly details?: Json;
  /** The node in which the error occurred. */
  readonly node?: string;
}

/** The outcome of a node. */
export interface Fact {
  /** `active`: any outcome is possible; `disabled`: skipped by `enabled: false`, with its join satisfied. */
  readonly status: 'pending' | 'active' | 'completed' | 'failed' | 'disabled' | 'skipped' | 'cancelled';
  /** The node ran: its attempt, body, wait or child began. */
  readonly started: boolean;
  /**
   * For a node that has begun or was skipped: whether a taken `always` edge, or an edge from a cleanup, led to it by
   * then.
   */
  readonly isFollower?: boolean | undefined;
  /** The cause of a skip. */
  readonly cause?: Cause | undefined;
  readonly error?: ErrorFact | undefined;
  /** The node failed unhandled, with `onError: ignore`. */
  readonly isIgnored?: boolean;
  /** The node failed unhandled, with `finish-running`, and its scope has not begun to end: joins wait with its edges. */
  readonly isDeferred?: boolean;
  readonly output?: Json | undefined;
  /** The targets that a branch took. */
  readonly taken?: readonly string[] | undefined;
  readonly keys: Keys;
}

/** Evaluates a bare expression. */
export type Evaluate = (expression: string) => Json | 'broken';

export function decisionOf(edge: Edge, source: Fact, evaluate: Evaluate): Decision {
  const said = onOf(edge, source);
  if (said !== 'taken' || edge.when === undefined) return said;
  const holds = evaluate(edge.when);
  if (holds === 'broken') return 'broken';
  return holds === true ? 'taken' : 'choice';
}

/** The decision by `on` and `match`. */
function onOf({ on, to, match }: Edge, source: Fact): Decision {
  switch (source.status) {
    case 'pending':
    case 'active':
      return 'open';
    case 'completed':
      if (on === 'success' || on === 'always') return 'taken';
      if (on === 'result') return taken(fits(match, source.output ?? null));
      return taken(on === 'case' && (source.taken ?? []).includes(to));
    case 'disabled':
      return taken(on === 'success' || on === 'always' || (on === 'case' && isDefault(source, to)));
    case 'failed':
      if (on === 'always') return 'taken';
      if (on === 'error') return taken(matchesError(match, source.error));
      if (source.isIgnored !== true) return 'failure';
      if (on === 'result') return taken(fits(match, null));
      return taken(on === 'success' || isDefault(source, to));
    case 'cancelled':
      if (on === 'always') return taken(source.started);
      return on === 'error' ? 'choice' : 'failure';
    case 'skipped':
      return on === 'error' || on === 'always' ? 'choice' : (source.cause ?? 'choice');
  }
}

function taken(holds: boolean): Decision {
  return holds ? 'taken' : 'choice';
}

function isDefault({ keys }: Fact, to: string): boolean {
  return listOf((keys.branch as Keys).default ?? []).includes(to);
}

/** Several edges from one source count as one: taken if any of them is, dead by failure if any of them is. */
export function sourceOf(decisions: readonly Decision[]): Decision {
  for (const one of ['broken', 'taken', 'open', 'failure'] as const) if (decisions.includes(one)) return one;
  return 'choice';
}

export function joinOf(join: unknown, sources: readonly Decision[]): Join {
  if (sources.includes('broken')) return 'broken';
  const count = sources.filter((one) => one === 'taken').length;
  const isOpen = sources.includes('open');
  const cause = sources.includes('failure') ? 'failure' : 'choice';
  if (sources.length === 0) return 'satisfied';
  if (join === 'ended') return isOpen ? 'open' : 'satisfied';
  if (join === 'any' || typeof join === 'number') {
    if (count >= (join === 'any' ? 1 : join)) return 'satisfied';
    return isOpen ? 'open' : cause;
  }
  // One edge that is dead by failure is enough: the join can never be satisfied.
  if (cause === 'failure') return 'failure';
  if (isOpen) return 'open';
  return count > 0 ? 'satisfied' : 'choice';
}

/** The targets of a branch; `broken` if an expression failed and there is no default. */
export function takenBy(keys: Keys, evaluate: Evaluate): readonly string[] | 'broken' {
  const { on, cases, default: otherwise, many } = keys.branch as Keys;
  const rest = listOf(otherwise ?? []);
  const broken = otherwise === undefined ? 'broken' : rest;
  if (!Array.isArray(cases)) {
    const value = evaluate(on as string);
    if (value === 'broken') return broken;
    const hit = (cases as Keys)[String(value)];
    return hit === undefined ? rest : listOf(hit);
  }
  const hits: string[] = [];
  for (const { when, to } of cases as Keys[]) {
    const holds = evaluate(when as string);
    if (holds === 'broken') return broken;
    if (holds !== true) continue;
    hits.push(...listOf(to));
    if (many !== true) break;
  }
  return hits.length === 0 ? rest : [...new Set(hits)];
}

function matchesError(match: Json | undefined, error: ErrorFact | undefined): boolean {
  if (match === undefined || match === null) return true;
  return Object.entries(match as Record<string, Json>).every(([key, wanted]) => {
    const value = String((error as Record<string, unknown> | undefined)?.[key]);
    return [wanted].flat().some((one) => matchesText(one as string, value));
  });
}

export function matchesText(wanted: string, value: string): boolean {
  const pattern = /^\/(.*)\/$/.exec(wanted)?.[1];
  return pattern === undefined ? wanted === value : new RegExp(pattern).test(value);
}

/** Supports equality, nested objects and `gt`. */
function fits(match: Json | undefined, value: Json): boolean {
  if (match === undefined) return true;
  if (match === null || typeof match !== 'object' || Array.isArray(match))
    return JSON.stringify(match) === JSON.stringify(value);
  const { gt } = match as { gt?: number };
  if (gt !== undefined) return typeof value === 'number' && value > gt;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
  const members = value as Readonly<Record<string, Json>>;
  return Object.entries(match).every(([key, one]) => key in members && fits(one, members[key] ?? null));
}

/** The expressions of random definitions. */
export function evaluatorOf(names: {
  readonly input: Json;
  readonly index?: number | undefined;
  readonly status?: (id: string) => string;
}): Evaluate {
  const { input, index = 0, status } = names;
  const yes = (input as { yes?: Json } | null)?.yes;
  return (expression) => {
    const text = expression.replace(/^\{\{\s*(.*?)\s*\}\}$/, '$1');
    if (text === 'true' || text === 'false') return text === 'true';
    if (text === '$input.yes') return yes ?? 'broken';
    if (text === '!$input.yes') return yes !== true;
    if (text.startsWith('$input.')) return 'broken';
    const [, sign, number] = /^\$index ([<>]) (\d+)$/.exec(text) ?? [];
    if (number !== undefined) return sign === '<' ? index < Number(number) : index > Number(number);
    const [, id, word] = /^\$nodes\.(\w+)\.status == '(\w+)'$/.exec(text) ?? [];
    if (id !== undefined && status !== undefined) return status(id) === word;
    throw new Error(`the model does not know the expression ${expression}`);
  };
}
