/** What the word under the pointer means: a key, an action, a reference with its type and its value in the last run. */
import {
  compileCondition,
  compileValue,
  type DocumentPath,
  isJsonObject,
  type Json,
  type Located,
  readSource,
  type Scope,
} from '@nebula/core';
import { findAction } from './catalog.ts';
import type { LanguageFacts } from './completion.ts';
import { type ExpressionSite, sitesOfGraph } from './edits/expression-sites.ts';
import { bodiesIn } from './edits/graph-places.ts';
import { valueAt } from './edits/source-tree.ts';
import { followChain } from './expression-completion.ts';
import { expectedAt, typeWords } from './language-types.ts';
import { type Evaluation, evaluated, type LoopValues, type RunValues, scopeOf } from './run-values.ts';
import { firstItem, graphName, loopAround, type Place, placeIn } from './scope-types.ts';
import { previewText, typeText } from './value-types.ts';

export interface Hover {
  readonly from: number;
  readonly to: number;
  readonly title: string;
  readonly detail?: string;
  readonly doc?: string;
  readonly value?: string;
}

/** The path of the key or value at an offset, and which of the two it is. */
export function pathAt(
  text: string,
  offset: number,
): { readonly path: DocumentPath; readonly part: 'key' | 'value'; readonly at: Located } | undefined {
  const { source } = readSource(text);
  let at = source.locate([]);
  if (at === undefined) return undefined;
  const path: (string | number)[] = [];
  for (;;) {
    let next: [string | number, Located] | undefined;
    for (const entry of at.members()) {
      const [, member] = entry;
      if (member.keyEnd > member.keyStart && offset >= member.keyStart && offset <= member.keyEnd) {
        return { path: [...path, entry[0]], part: 'key', at: member };
      }
      if (offset >= member.start && offset <= member.end) next = entry;
    }
    if (next === undefined) return { path, part: 'value', at };
    path.push(next[0]);
    at = next[1];
  }
}

export function hoverAt(text: string, offset: number, facts: LanguageFacts): Hover | undefined {
  const found = pathAt(text, offset);
  if (found === undefined) return undefined;
  const { path, part, at } = found;
  if (part === 'key') return hoverKey(path, at, facts);
  if (at.style === undefined) return undefined;
  const value = valueAt(readSource(text).value ?? null, path);
  if (path.at(-1) === 'action' && typeof value === 'string') return hoverAction(value, at, facts);
  return typeof value === 'string' ? hoverReference(text, path, value, offset, facts) : undefined;
}

function hoverKey(path: DocumentPath, { keyStart, keyEnd }: Located, facts: LanguageFacts): Hover | undefined {
  const expected = expectedAt(path, facts.data, facts.actions);
  const range = { from: keyStart, to: keyEnd, title: String(path.at(-1)) };
  if (expected === undefined) return undefined;
  if (expected.from === 'language') {
    if (expected.key === undefined) return undefined;
    return { ...range, detail: typeWords(expected.type), doc: expected.key.doc };
  }
  if (!isJsonObject(expected.schema)) return undefined;
  const { description, title } = expected.schema;
  const doc = description ?? title;
  return { ...range, detail: typeText({ schema: expected.schema }), ...(typeof doc === 'string' && { doc }) };
}

function hoverAction(reference: string, { start, end }: Located, { actions }: LanguageFacts): Hover | undefined {
  const action = findAction(actions, reference);
  if (action === undefined) return undefined;
  return {
    from: start,
    to: end,
    title: action.title ?? reference,
    detail: `${action.id}@${action.version} · ${action.effect}`,
    ...(action.description !== null && { doc: action.description }),
  };
}

const NAME = /\$\w+(?:\??\.\w+|\??\[\s*(?:\d+|'[^']*'|"[^"]*")\s*\])*/g;

function hoverReference(
  text: string,
  path: DocumentPath,
  value: string,
  offset: number,
  facts: LanguageFacts,
): Hover | undefined {
  const { source } = readSource(text);
  for (const match of value.matchAll(NAME)) {
    const range = source.rangeInside(path, match.index, match[0].length);
    if (range === undefined || offset < range.offset || offset > range.offset + range.length) continue;
    const [root = '', ...steps] = [...match[0].matchAll(/(\w+)|\['([^']*)'\]|\["([^"]*)"\]/g)].map(
      ([, name, single, double]) => name ?? single ?? double ?? '',
    );
    const keys = steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step));
    const known = followChain(root, keys, { ...facts, place: placeIn(path) });
    const shown = previewText(known.value);
    return {
      from: range.offset,
      to: range.offset + range.length,
      title: match[0],
      detail: typeText(known),
      ...(shown !== undefined && { value: shown }),
    };
  }
  return undefined;
}

export interface ExpressionPreview {
  readonly path: DocumentPath;
  /** The end of the string in the text: the preview stands behind it. */
  readonly at: number;
  readonly result: Evaluation;
}

/** The values of all expressions of a text in the last run. Those of nodes that did not run are left out. */
export function previewsOf(text: string, run: RunValues): ExpressionPreview[] {
  const { value: data, source } = readSource(text);
  if (!isJsonObject(data)) return [];
  return bodiesIn(data, [])
    .flatMap((graph) => sitesOfGraph(valueAt(data, graph) as Json, graph))
    .flatMap((site) => {
      const part = source.locate(site.path);
      const result = evaluateSite(site, data, run);
      return part === undefined || result === undefined ? [] : [{ path: site.path, at: part.end, result }];
    });
}

/** Undefined: the text is no expression, or it has an error that the compiler reports. */
export function evaluateSite(
  site: ExpressionSite,
  data: Json,
  run: RunValues,
  place: Place = placeIn(site.path),
): Evaluation | undefined {
  let isBroken = false;
  const compile = site.kind === 'bare' ? compileCondition : compileValue;
  const compiled = compile(site.text, {
    report: () => {
      isBroken = true;
    },
  });
  if (isBroken || compiled.constant) return undefined;
  return evaluated((scope, budget) => compiled.evaluate(scope, budget), scopeAt(data, run, place));
}

function scopeAt(data: Json, run: RunValues, { graph }: Place): Scope {
  const loop = loopAround(graph);
  return scopeOf(run, graphName(graph), loop === undefined ? undefined : loopValues(data, run, loop));
}

function loopValues(data: Json, run: RunValues, loop: DocumentPath): LoopValues | undefined {
  const list = valueAt(data, [...loop.slice(0, -1), 'forEach', 'in']);
  if (list === undefined) return undefined;
  const compiled = compileCondition(list, { report: () => undefined });
  const around = placeIn(loop.slice(0, -1)).graph;
  const items = evaluated(
    (scope, budget) => compiled.evaluate(scope, budget),
    scopeAt(data, run, { graph: around, node: undefined }),
  );
  return 'value' in items ? firstItem(items.value) : undefined;
}

/** The part of the text that is a node, as the canvas names it: `items/pack`. */
export function rangeOfNode(text: string, node: string): { readonly from: number; readonly to: number } | undefined {
  const { source } = readSource(text);
  let at = source.locate([]);
  for (const [index, id] of node.split('/').entries()) {
    const body = index === 0 ? at : (at?.members().get('do') ?? at?.members().get('group'));
    at = body?.members().get('nodes')?.members().get(id);
  }
  return at === undefined ? undefined : { from: at.keyStart, to: Math.max(at.end, at.keyEnd) };
}
