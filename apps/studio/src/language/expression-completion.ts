/** Completion in expressions: names, members of values, functions; with their types and the values of the last run. */
import { type FunctionListing, type Json, listFunctions } from '@nebula/core';
import type { CompletionItem } from './completion-item.ts';
import { referenceText } from './edits/expression-sites.ts';
import { valueAt } from './edits/source-tree.ts';
import {
  inputKnown,
  loopAround,
  outputKnown,
  type Place,
  readableNodes,
  type ScopeFacts,
  variablesKnown,
} from './scope-types.ts';
import { type Known, kindOf, memberOf, membersOf, previewText, typeText } from './value-types.ts';

export interface ExpressionFacts extends ScopeFacts {
  readonly place: Place;
}

/** `typed`: the part before the cursor that an item replaces. */
export interface ExpressionItems {
  readonly typed: string;
  readonly items: readonly CompletionItem[];
}

const CHAIN = /\$(\w*)((?:\??\.\w+|\??\[\s*(?:\d+|'[^']*'|"[^"]*")\s*\])*)(\??\.)?(\w*)$/;
const STEP = /\??\.(\w+)|\??\[\s*(?:(\d+)|'([^']*)'|"([^"]*)")\s*\]/g;

/** `before`: the expression up to the cursor. Undefined: nothing can be offered here. */
export function completeExpression(before: string, facts: ExpressionFacts): ExpressionItems | undefined {
  const chain = CHAIN.exec(before);
  if (chain !== null) {
    const [, root = '', steps = '', dot, partial = ''] = chain;
    if (steps === '' && dot === undefined) return { typed: `$${root}${partial}`, items: rootItems(facts) };
    const known = followChain(root, stepsOf(steps), facts);
    // Without a dot at the end, the last member is still being typed.
    if (dot === undefined) {
      const last = /\??\.(\w+)$/.exec(steps);
      if (last === null) return undefined;
      const around = followChain(root, stepsOf(steps).slice(0, -1), facts);
      return { typed: last[1] ?? '', items: memberItems(around, root, stepsOf(steps).length - 1) };
    }
    return { typed: partial, items: memberItems(known, root, stepsOf(steps).length) };
  }
  const method = /[\w)\]'"]\??\.(\w*)$/.exec(before);
  if (method !== null && !/\d\.\d*$/.test(before)) return { typed: method[1] ?? '', items: functionItems({}) };
  const word = /(?:^|[\s(,[!&|?:+\-*/<>=])(\w*)$/.exec(before);
  if (word === null) return undefined;
  return { typed: word[1] ?? '', items: [...rootItems(facts), ...plainItems()] };
}

function stepsOf(text: string): (string | number)[] {
  return [...text.matchAll(STEP)].map(([, name, index, single, double]) =>
    index === undefined ? (name ?? single ?? double ?? '') : Number(index),
  );
}

/** What is known of the value at the end of a chain of members. */
export function followChain(
  root: string,
  steps: readonly (string | number)[],
  facts: ExpressionFacts,
): Known & { isNode?: true } {
  const [first, ...rest] = steps;
  if (root === 'nodes') {
    if (first === undefined) return {};
    const node = readable(facts, String(first));
    if (rest.length === 0) return { isNode: true };
    const member = rest[0];
    const isOutput = member === 'output' || member === 'result';
    return followMembers(isOutput ? node : (NODE_MEMBERS[String(member)] ?? {}), rest.slice(1));
  }
  return followMembers(rootKnown(root, facts), steps);
}

function followMembers(known: Known, steps: readonly (string | number)[]): Known {
  return steps.reduce<Known>((at, key) => memberOf(at, key), known);
}

const NODE_MEMBERS: Readonly<Record<string, Known>> = {
  status: { schema: { type: 'string' } },
  success: { schema: { type: 'boolean' } },
  attempts: { schema: { type: 'integer' } },
  error: {
    schema: {
      type: 'object',
      properties: { code: { type: 'string' }, message: { type: 'string' }, kind: { type: 'string' } },
    },
  },
  input: {},
};

function readable(facts: ExpressionFacts, id: string): Known {
  const node = readableNodes(facts.data, facts.place).find((one) => one.id === id);
  return node === undefined ? {} : outputKnown(facts, node.graph, id);
}

function rootKnown(root: string, facts: ExpressionFacts): Known {
  switch (root) {
    case 'input':
      return inputKnown(facts);
    case 'vars':
      return variablesKnown(facts);
    case 'item':
      return itemKnown(facts);
    case 'index':
      return { schema: { type: 'integer' } };
    case 'items':
      return { schema: { type: 'array' } };
    case 'execution':
      return { schema: EXECUTION };
    case 'workflow':
      return { schema: { type: 'object', properties: { id: { type: 'string' }, version: { type: 'integer' } } } };
    case 'trigger':
      return { value: facts.run?.trigger };
    default:
      return readable(facts, root);
  }
}

const EXECUTION = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    startedAt: { type: 'string' },
    attempt: { type: 'integer' },
    error: { type: 'object' },
  },
} as const;

/** The items of the loop around, where its list is a chain of members. */
function itemKnown(facts: ExpressionFacts): Known {
  const loop = loopAround(facts.place.graph);
  if (loop === undefined) return {};
  const node = loop.slice(0, -1);
  const list: Json | undefined = valueAt(facts.data, [...node, 'forEach', 'in']);
  if (Array.isArray(list)) return { value: list[0] };
  const chain = typeof list === 'string' ? /^\s*(?:\{\{)?\s*\$(\w+)((?:\??\.\w+)*)\s*(?:\}\})?\s*$/.exec(list) : null;
  if (chain === null) return {};
  const outer = { ...facts, place: { graph: loop.slice(0, -3), node: String(loop.at(-2)) } };
  return memberOf(followChain(chain[1] ?? '', stepsOf(chain[2] ?? ''), outer), 0);
}

function item(label: string, kind: CompletionItem['kind'], known: Known, doc?: string, apply?: string): CompletionItem {
  const value = previewText(known.value);
  return {
    label,
    kind,
    detail: typeText(known),
    ...(value !== undefined && { value }),
    ...(doc !== undefined && { doc }),
    ...(apply !== undefined && { apply }),
  };
}

function rootItems(facts: ExpressionFacts): CompletionItem[] {
  const nodes = readableNodes(facts.data, facts.place).map(({ id, graph }) =>
    item(referenceText(id, true), 'node', outputKnown(facts, graph, id), `The output of the node ${id}.`),
  );
  const isInLoop = loopAround(facts.place.graph) !== undefined;
  const loop = isInLoop
    ? [
        item('$item', 'variable', itemKnown(facts), 'The item of the loop around this node.'),
        item('$index', 'variable', { schema: { type: 'integer' } }, 'The number of the iteration, from 0.'),
        item('$items', 'variable', { schema: { type: 'array' } }, 'All items of the loop.'),
      ]
    : [];
  return [
    item('$input', 'variable', inputKnown(facts), 'The input of the run.'),
    ...nodes,
    ...loop,
    item('$vars', 'variable', variablesKnown(facts), 'The variables of the run.'),
    item('$nodes', 'variable', {}, 'Nodes by id: their output, status, error and attempts.'),
    item('$trigger', 'variable', { value: facts.run?.trigger }, 'How the run was started.'),
    item('$execution', 'variable', { schema: EXECUTION }, 'Facts of the run: id, startedAt, attempt.'),
    item('$workflow', 'variable', rootKnown('workflow', facts), 'The workflow: id and version.'),
    item('$self', 'variable', {}, 'The node itself, in compensate, emit and the condition of a loop.'),
  ];
}

function memberItems(known: Known & { isNode?: true }, root: string, depth: number): CompletionItem[] {
  if (known.isNode === true) {
    return ['output', 'status', 'success', 'error', 'attempts', 'input'].map((name) =>
      item(name, 'property', NODE_MEMBERS[name] ?? {}),
    );
  }
  if (root === 'nodes' && depth === 0) return [];
  return [
    ...membersOf(known).map(({ key, known: member, doc }) => item(key, 'property', member, doc)),
    ...functionItems(known),
  ];
}

function functionItems(known: Known): CompletionItem[] {
  const kind = kindOf(known);
  return listFunctions()
    .filter(({ on }) => on.length > 0 && (kind === 'any' || (on as readonly string[]).includes(kind)))
    .map(functionItem);
}

function plainItems(): CompletionItem[] {
  return listFunctions()
    .filter(({ on }) => on.length === 0)
    .map(functionItem);
}

function functionItem({ name, signature, doc, example, result }: FunctionListing): CompletionItem {
  const hasArguments = !/\(\s*\)/.test(signature);
  return {
    label: name,
    kind: 'function',
    apply: `${name}(${hasArguments ? '' : ')'}`,
    detail: signature.slice(name.length),
    doc: `${doc}\n\n${example} → ${JSON.stringify(result)}`,
  };
}
